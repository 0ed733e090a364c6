// semel::next() of this program. The table is core/dispatch.cc itself, compiled once more under
// the name next_by_the_law; what it says passes here on its way to the driver.
#include "tests/sim/hooks.h"

namespace semel {

std::optional<Step> next_by_the_law(Policy policy, Stage stage, Event event);

namespace sim {
namespace {

const Hooks* hooks_now = nullptr;
const Bailiff* bailiff_now = nullptr;

}  // namespace

void install_law(const Hooks* hooks, const Bailiff* bailiff) {
  hooks_now = hooks;
  bailiff_now = bailiff;
}

std::optional<Step> table_says(Policy policy, Stage stage, Event event) {
  return next_by_the_law(policy, stage, event);
}

}  // namespace sim

std::optional<Step> next(Policy policy, Stage stage, Event event) {
  std::optional<Step> step = next_by_the_law(policy, stage, event);
  if (sim::hooks_now != nullptr && sim::hooks_now->law) {
    step = sim::hooks_now->law(policy, stage, event, step);
  }
  if (step && sim::bailiff_now != nullptr) {
    (*sim::bailiff_now)(sim::Ruling{policy, stage, event, *step});
  }
  return step;
}

}  // namespace semel
