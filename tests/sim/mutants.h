#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tests/sim/runner.h"

namespace semel::sim {

/// The number of a named mutant; absent: there is none of that name.
[[nodiscard]] std::optional<std::size_t> mutant_number(std::string_view name);

/// How the mutants are hunted.
struct Hunt {
  std::uint64_t seeds = 1'500;  ///< Worlds for each, at most.
  unsigned jobs = 1;
  std::string only;  ///< One name; empty: all.
  std::string
      survivors_file;  ///< `NAME: WHY` a line: those that no world can tell from the product.
};

/// Hunts the named mutants with worlds and prints a line for each: what caught it, and where.
/// @return Whether exactly those survived that the file says.
[[nodiscard]] bool hunt_named_mutants(const Hunt& hunt);

/// Tries every cell of the dispatch table with every other act, with every other next stage and
/// without its row: first against the laws, then, what none objects to, with worlds.
/// @return Whether all were caught.
[[nodiscard]] bool hunt_cell_mutants(const Hunt& hunt);

/// Each cell that worlds reach, with every other act, with worlds alone: how much they would notice
/// if there were no laws. Prints the figures and what was not noticed.
void hunt_cells_without_laws(const Hunt& hunt);

/// `semel_sim --mutants WORDS`. @return The exit code.
[[nodiscard]] int hunt_mutants(std::span<char* const> words);

}  // namespace semel::sim
