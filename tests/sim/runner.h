#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/coverage.h"
#include "tests/sim/hooks.h"

namespace semel::sim {

/// Which worlds to run, and what to show of them.
struct Order {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  unsigned jobs = 1;                  ///< Processes at a time.
  bool stop_early = false;            ///< At the first world that is judged to be wrong.
  bool print = false;                 ///< Every history, not only that of the first failure.
  unsigned seconds_for_one = 30;      ///< A world that takes longer does not end.
  std::optional<std::size_t> mutant;  ///< Of mutant_switch.h.
  Hooks hooks;
  std::string replay;  ///< The command without its seeds.
};

/// What came of them.
struct Outcome {
  std::uint64_t worlds = 0;
  std::vector<std::uint64_t> failed;  ///< Seeds that broke a rule, crashed or did not end.
  std::uint64_t digest = 0;  ///< Over the histories of all seeds, in whatever order they ran.
  Coverage coverage;
  std::string caught_by;  ///< Of the first failure: the rule, `crash` or `does not end`.
  std::string said;       ///< What each failure has to tell, and the histories that were asked for.
};

/// Runs the worlds in processes of their own, a batch of seeds in each: what a killed proxy leaves
/// in memory goes with its batch.
[[nodiscard]] Outcome run_worlds(const Order& order);

}  // namespace semel::sim
