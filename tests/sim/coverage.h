#pragma once

#include <array>
#include <cstdint>
#include <ostream>

#include "tests/sim/hooks.h"
#include "tests/sim/process.h"

namespace semel::sim {

/// Which cells of the dispatch table the worlds of many seeds came through, and where processes
/// were stopped. Plain numbers, so that it passes through a pipe as it is.
struct Coverage {
  static constexpr std::size_t kPolicyCount = 4;
  static constexpr std::size_t kActCount = static_cast<std::size_t>(Act::Finish) + 1;

  std::array<std::array<std::array<std::uint64_t, kEventCount>, kStageCount>, kPolicyCount> cells{};
  std::array<std::uint64_t, kActCount> kills{};   ///< Before this act was performed.
  std::array<std::uint64_t, kActCount> pauses{};  ///< The same.
  std::uint64_t kills_elsewhere = 0;
  std::uint64_t pauses_elsewhere = 0;
  std::uint64_t calls = 0;
  std::uint64_t effects = 0;

  void saw(const Ruling& ruling);
  void stopped(const Ruling& ruling, Fate::What what);
  void add(const Coverage& other);
  /// One line for each cell of the table and each act: `cell E forwarding answered 1234`.
  void report(std::ostream& out) const;
};

}  // namespace semel::sim
