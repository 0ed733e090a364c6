#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"
#include "stores/event.h"

namespace semel {

/// Which numbers the events of one log have: they rise with each, and are never given twice. A
/// position is the log's name, a dash, and the number in decimal.
struct EventSpan {
  static constexpr std::size_t kPageMax = 1'000;

  std::string log;            ///< Its name: letters and digits. No other log has it.
  std::uint64_t trimmed = 0;  ///< Up to this one the log keeps none.
  std::uint64_t last = 0;     ///< The highest that was given.

  [[nodiscard]] std::string position(std::uint64_t number) const;

  /// The number behind which to read on, or what is missing there.
  /// @param after  A position; empty: from the oldest that is kept.
  /// @faults RecordCorrupt: this log has never given that position.
  [[nodiscard]] Result<std::variant<std::uint64_t, EventGap>> find(std::string_view after) const;

  [[nodiscard]] static std::size_t page_limit(const EventFilter& filter) {
    return std::clamp<std::size_t>(filter.limit, 1, kPageMax);
  }
};

}  // namespace semel
