#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace semel::sim {

/// A mistake that somebody could make in production code. Its code stands beside the right one in
/// the sources that semel_mutate writes for the simulator, and nowhere else.
struct MutantRow {
  std::string_view name;
  std::string_view sentence;  ///< What goes wrong.
  std::string_view file;
};
/// All of them; a mutant's number is its place.
[[nodiscard]] std::span<const MutantRow> mutant_rows();

inline std::size_t mutant_now = static_cast<std::size_t>(-1);

/// @thread One world at a time, on one thread: the switch is set before a world is made.
[[nodiscard]] inline bool is_mutated(std::size_t number) { return mutant_now == number; }

/// Absent: the product as it is.
inline void switch_mutant(std::optional<std::size_t> number) {
  mutant_now = number.value_or(static_cast<std::size_t>(-1));
}

}  // namespace semel::sim
