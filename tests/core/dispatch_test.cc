// The laws of the decision core, walked over every reachable cell and every path of the table.
#include "core/dispatch.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/sim/laws.h"

namespace semel {
namespace {

constexpr Policy kPolicies[] = {Policy::None, Policy::ReadOnly, Policy::Idempotent,
                                Policy::Effectful};

/// The law whose name is that of the running test holds for the table.
void expect_this_law() {
  const std::string_view wanted = testing::UnitTest::GetInstance()->current_test_info()->name();
  for (const sim::Law& law : sim::laws()) {
    if (law.name != wanted) continue;
    const sim::Complaint complaint = law.complaint(sim::DispatchTable::lawful());
    EXPECT_FALSE(complaint) << *complaint;
    return;
  }
  ADD_FAILURE() << "there is no such law";
}

TEST(DispatchLaw, OnlyAGrantOrAnOperatorsWordReachesForwardOnAKeyedRoute) { expect_this_law(); }
TEST(DispatchLaw, AStoreThatIsDownIsNeverPermission) { expect_this_law(); }
TEST(DispatchLaw, ARouteThatAnotherReplicaChangedTakesNoCall) { expect_this_law(); }
TEST(DispatchLaw, AnUnansweredEffectfulCallIsNeverForwardedOrFreedAgain) { expect_this_law(); }
TEST(DispatchLaw, AnOverdueCallIsOnlyHeardAndOnlyItsOwnRefusalFreesIt) { expect_this_law(); }
TEST(DispatchLaw, NoClientIsAnsweredAfterItsExchangeHandedOver) { expect_this_law(); }
TEST(DispatchLaw, OnlyAnEffectfulCallIsOverdue) { expect_this_law(); }
TEST(DispatchLaw, AnAnswerIsRelayedOnlyAfterTheStoreWasAskedToKeepIt) { expect_this_law(); }
TEST(DispatchLaw, AFailedRecordIsNeverReleased) { expect_this_law(); }
TEST(DispatchLaw, AnUnknownOutcomeIsNeverForwarded) { expect_this_law(); }
TEST(DispatchLaw, OnlyIdempotentClaimsAreSuperseded) { expect_this_law(); }
TEST(DispatchLaw, OnlyReadOnlyAndIdempotentCallsAreRetried) { expect_this_law(); }
TEST(DispatchLaw, AnIdempotentCallThatBecameEffectfulInItsPauseIsNotSentAgain) {
  expect_this_law();
}
TEST(DispatchLaw, NothingIsClaimedOrRecordedWithoutAKeyedPolicy) { expect_this_law(); }
TEST(DispatchLaw, AFollowerIsNeverPromotedWithoutAskingTheStore) { expect_this_law(); }
TEST(DispatchLaw, EveryReachableStageReachesDone) { expect_this_law(); }
TEST(DispatchLaw, EveryStoreWriteHasARowForEachWayItCanEnd) { expect_this_law(); }
TEST(DispatchLaw, EachActIsWaitedForAtTheStageWhereItIsDone) { expect_this_law(); }
TEST(DispatchLaw, EveryEventThatAnActCanBringHasARow) { expect_this_law(); }
TEST(DispatchLaw, AClientIsToldOnlyWhatIsKnown) { expect_this_law(); }
TEST(DispatchLaw, AStoreIsToldOnlyWhatIsKnown) { expect_this_law(); }
TEST(DispatchLaw, NothingIsSentWithoutTheRightToSendIt) { expect_this_law(); }
TEST(DispatchLaw, NoStepIsTakenOutOfTurn) { expect_this_law(); }
TEST(DispatchLaw, NothingIsOwedAtTheEnd) { expect_this_law(); }

TEST(Dispatch, EveryLawIsATestOfItsOwn) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::set<std::string_view> tested;
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const testing::TestSuite& each = *all.GetTestSuite(suite);
    if (each.name() != std::string_view("DispatchLaw")) continue;
    for (int test = 0; test < each.total_test_count(); ++test) {
      tested.insert(each.GetTestInfo(test)->name());
    }
  }
  std::set<std::string_view> stated;
  for (const sim::Law& law : sim::laws()) stated.insert(law.name);
  EXPECT_EQ(tested, stated);
}

TEST(Dispatch, AnIllegalEventChangesNothing) {
  EXPECT_FALSE(next(Policy::Effectful, Stage::Routed, Event::Granted));
  EXPECT_FALSE(next(Policy::ReadOnly, Stage::Forwarding, Event::Granted));
  for (const Policy policy : kPolicies) {
    for (std::size_t e = 0; e < kEventCount; ++e) {
      EXPECT_FALSE(next(policy, Stage::Done, static_cast<Event>(e)));
    }
  }
}

TEST(Dispatch, EveryWordIsItsOwn) {
  std::set<std::string_view> words;
  for (std::size_t e = 0; e < kEventCount; ++e) words.insert(name(static_cast<Event>(e)));
  EXPECT_EQ(words.size(), kEventCount);
  words.clear();
  for (std::size_t s = 0; s < kStageCount; ++s) words.insert(name(static_cast<Stage>(s)));
  EXPECT_EQ(words.size(), kStageCount);
}

}  // namespace
}  // namespace semel
