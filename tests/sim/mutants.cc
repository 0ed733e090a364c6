#include "tests/sim/mutants.h"

namespace semel::sim {
namespace {

/// An EFFECTFUL call that was not answered is given back, as if it had not been sent.
Hooks release_on_silence() {
  Hooks hooks;
  hooks.law = [](Policy policy, Stage stage, Event event, std::optional<Step> lawful) {
    const bool unanswered = policy == Policy::Effectful && stage == Stage::Forwarding &&
                            (event == Event::Unanswered || event == Event::Overdue);
    return unanswered ? std::optional(Step{Stage::Releasing, Act::Release}) : lawful;
  };
  return hooks;
}

constexpr Mutant kMutants[] = {
    {"release-on-silence", "a call that was not answered is given back", &release_on_silence},
};

}  // namespace

std::span<const Mutant> all_mutants() { return kMutants; }

}  // namespace semel::sim
