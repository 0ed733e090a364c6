// The laws are strong enough: no cell of the table can say anything else.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/laws.h"

namespace semel {
namespace {

/// Changes one cell at a time and notes what no law objects to.
class Mutants {
 public:
  template <class Change>
  void of_every_cell(Change change) {
    for (const Policy policy :
         {Policy::None, Policy::ReadOnly, Policy::Idempotent, Policy::Effectful}) {
      for (std::size_t s = 0; s < kStageCount; ++s) {
        for (std::size_t e = 0; e < kEventCount; ++e) {
          const auto stage = static_cast<Stage>(s);
          const auto event = static_cast<Event>(e);
          const std::optional<Step> lawful = table_.at(policy, stage, event);
          if (!lawful) continue;
          change(*lawful, [&](std::optional<Step> step) {
            ++tried;
            table_.put(policy, stage, event, step);
            if (sim::broken_law(table_) == nullptr) note(policy, stage, event, step);
          });
          table_.put(policy, stage, event, lawful);
        }
      }
    }
  }
  std::size_t tried = 0;
  std::string survivors;

 private:
  void note(Policy policy, Stage stage, Event event, const std::optional<Step>& step) {
    for (const std::string_view word : {name(policy), name(stage), name(event)}) {
      (survivors += word) += ' ';
    }
    survivors +=
        step ? std::string(name(step->stage)) + ' ' + std::string(name(step->act)) : "gone";
    survivors += '\n';
  }
  sim::DispatchTable table_ = sim::DispatchTable::lawful();
};

TEST(DispatchMutants, EveryCellWithEveryOtherActBreaksALaw) {
  Mutants mutants;
  mutants.of_every_cell([](Step lawful, const auto& attempt) {
    for (std::size_t act = 0; act <= static_cast<std::size_t>(Act::Finish); ++act) {
      if (static_cast<Act>(act) != lawful.act) attempt(Step{lawful.stage, static_cast<Act>(act)});
    }
  });
  EXPECT_EQ(mutants.survivors, "");
  EXPECT_GT(mutants.tried, 5'000U);
}

TEST(DispatchMutants, EveryCellWithEveryOtherNextStageBreaksALaw) {
  Mutants mutants;
  mutants.of_every_cell([](Step lawful, const auto& attempt) {
    for (std::size_t stage = 0; stage < kStageCount; ++stage) {
      if (static_cast<Stage>(stage) == lawful.stage) continue;
      attempt(Step{static_cast<Stage>(stage), lawful.act});
    }
  });
  EXPECT_EQ(mutants.survivors, "");
  EXPECT_GT(mutants.tried, 4'000U);
}

TEST(DispatchMutants, EveryCellWithoutItsRowBreaksALaw) {
  Mutants mutants;
  mutants.of_every_cell([](Step, const auto& attempt) { attempt(std::nullopt); });
  EXPECT_EQ(mutants.survivors, "");
  EXPECT_GT(mutants.tried, 100U);
}

}  // namespace
}  // namespace semel
