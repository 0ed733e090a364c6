#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/dispatch.h"

namespace semel::sim {

/// The decision core's table, or one that differs from it.
class DispatchTable {
 public:
  /// What semel::next() says.
  [[nodiscard]] static DispatchTable lawful();
  [[nodiscard]] const std::optional<Step>& at(Policy policy, Stage stage, Event event) const {
    return cells_[place(policy, stage, event)];
  }
  void put(Policy policy, Stage stage, Event event, std::optional<Step> step) {
    cells_[place(policy, stage, event)] = step;
  }

 private:
  static constexpr std::size_t place(Policy policy, Stage stage, Event event) {
    return (static_cast<std::size_t>(policy) * kStageCount + static_cast<std::size_t>(stage)) *
               kEventCount +
           static_cast<std::size_t>(event);
  }
  std::array<std::optional<Step>, 4 * kStageCount * kEventCount> cells_{};
};

/// What is wrong with a table, in words; absent: nothing.
using Complaint = std::optional<std::string>;

/// A sentence that every table has to keep, whatever its rows are. The name is that of its test.
struct Law {
  std::string_view name;
  Complaint (*complaint)(const DispatchTable& table);
};

/// Those that look at cells and at the stages that follow; then those of path_laws.h.
[[nodiscard]] std::span<const Law> laws();

/// The first law that `table` breaks; null: none.
[[nodiscard]] const Law* broken_law(const DispatchTable& table);

}  // namespace semel::sim
