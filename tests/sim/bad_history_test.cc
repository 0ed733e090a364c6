// The judge is judged: each rule has a history that breaks it, and is named for it.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/sim/bad_histories.h"

namespace semel::sim {
namespace {

class AHistory : public testing::TestWithParam<BadHistory> {};

TEST_P(AHistory, IsFlaggedWithTheRuleThatItBreaks) {
  Story story;
  GetParam().tell(story);
  const auto verdicts = judge(story.history(), Ending::Settled);
  bool flagged = false;
  std::string all;
  for (const Verdict& verdict : verdicts) {
    all += report(story.history(), verdict);
    if (verdict.rule != GetParam().rule) continue;
    flagged = true;
    ASSERT_FALSE(verdict.events.empty());
    EXPECT_LT(verdict.events.back(), story.history().all().size());
  }
  EXPECT_TRUE(flagged) << "wanted " << name(GetParam().rule) << ", got\n" << all;
}

constexpr auto kName = [](const auto& tested) { return std::string(tested.param.name); };
INSTANTIATE_TEST_SUITE_P(Store, AHistory, testing::ValuesIn(bad_stores()), kName);
INSTANTIATE_TEST_SUITE_P(Wire, AHistory, testing::ValuesIn(bad_wires()), kName);
INSTANTIATE_TEST_SUITE_P(Client, AHistory, testing::ValuesIn(bad_answers()), kName);

TEST(Checker, EveryRuleIsBrokenByOneOfTheBadHistories) {
  std::set<Rule> broken;
  for (const BadHistory& each : bad_stores()) broken.insert(each.rule);
  for (const BadHistory& each : bad_wires()) broken.insert(each.rule);
  for (const BadHistory& each : bad_answers()) broken.insert(each.rule);
  for (std::size_t rule = 0; rule < kRuleCount; ++rule) {
    EXPECT_TRUE(broken.contains(static_cast<Rule>(rule))) << name(static_cast<Rule>(rule));
  }
}

TEST(Checker, AVerdictSaysRuleKeyLawAndTheEventsThatProveIt) {
  Story story;
  began(story);
  story.tool(kBooking, Kind::Effect, 1);
  const auto verdicts = judge(story.history(), Ending::Sudden);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(report(story.history(), verdicts[0]),
            "second-effect key 0 record 0: at most one effect per key within the window\n"
            "  [6] 0.007000000s k0 r0 effect f1\n"
            "  [7] 0.008000000s k0 r0 effect f1\n");
}

}  // namespace
}  // namespace semel::sim
