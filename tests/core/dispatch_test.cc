// The laws of the decision core, walked over every reachable cell of the table.
#include "core/dispatch.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace semel {
namespace {

constexpr Policy kPolicies[] = {Policy::None, Policy::ReadOnly, Policy::Idempotent,
                                Policy::Effectful};
constexpr Policy kKeyed[] = {Policy::Idempotent, Policy::Effectful};

using Visit = std::function<void(Stage, Event, Step)>;

/// Calls `visit` for every legal step that can follow from `from`, each cell once.
void walk(Policy policy, Stage from, const Visit& visit) {
  std::set<Stage> seen;
  std::function<void(Stage)> from_stage = [&](Stage stage) {
    if (!seen.insert(stage).second) return;
    for (std::size_t e = 0; e < kEventCount; ++e) {
      const auto event = static_cast<Event>(e);
      const auto step = next(policy, stage, event);
      if (!step) continue;
      visit(stage, event, *step);
      from_stage(step->stage);
    }
  };
  from_stage(from);
}

std::set<Act> acts_after(Policy policy, Stage stage) {
  std::set<Act> acts;
  walk(policy, stage, [&](Stage, Event, Step step) { acts.insert(step.act); });
  return acts;
}

TEST(DispatchLaw, OnlyAGrantOrAnOperatorsWordReachesForwardOnAKeyedRoute) {
  for (const Policy policy : kKeyed) {
    walk(policy, Stage::Routed, [&](Stage stage, Event event, Step step) {
      if (step.act != Act::Forward) return;
      const bool granted = stage == Stage::Claiming && event == Event::Granted;
      const bool retried = stage == Stage::Backing && event == Event::RetryReady;
      const bool bypassed = stage == Stage::Claiming && event == Event::StoreBypassed;
      EXPECT_TRUE(granted || retried || bypassed) << name(stage) << " " << name(event);
      if (policy == Policy::Effectful) {
        EXPECT_TRUE(granted) << name(stage) << " " << name(event);
      }
    });
  }
}

TEST(DispatchLaw, AStoreThatIsDownIsNeverPermission) {
  for (const Policy policy : kKeyed) {
    for (const Event event : {Event::StoreFailed, Event::ClaimUnknown}) {
      const auto step = next(policy, Stage::Claiming, event);
      ASSERT_TRUE(step);
      EXPECT_FALSE(acts_after(policy, step->stage).contains(Act::Forward));
    }
  }
  EXPECT_FALSE(next(Policy::Effectful, Stage::Claiming, Event::StoreBypassed));
}

TEST(DispatchLaw, AnUnansweredEffectfulCallIsNeverForwardedOrFreedAgain) {
  for (const Stage where : {Stage::Forwarding, Stage::Streaming, Stage::Backing}) {
    for (const Event event : {Event::Unanswered, Event::AnsweredFailure}) {
      const auto after = next(Policy::Effectful, where, event);
      ASSERT_TRUE(after);
      EXPECT_EQ(after->act, Act::Mark);
      walk(Policy::Effectful, after->stage, [](Stage, Event, Step step) {
        EXPECT_NE(step.act, Act::Forward);
        EXPECT_NE(step.act, Act::Release);
        EXPECT_NE(step.act, Act::Claim);
      });
    }
  }
}

TEST(DispatchLaw, AnOverdueCallIsOnlyHeardAndOnlyItsOwnRefusalFreesIt) {
  for (const Stage where : {Stage::Forwarding, Stage::Streaming}) {
    const auto after = next(Policy::Effectful, where, Event::Overdue);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->act, Act::Mark);
    bool heard = false;
    walk(Policy::Effectful, after->stage, [&](Stage stage, Event event, Step step) {
      EXPECT_NE(step.act, Act::Forward);
      EXPECT_NE(step.act, Act::Claim);
      heard |= step.act == Act::AwaitLate;
      if (step.act != Act::Release) return;
      EXPECT_EQ(stage, Stage::Listening);
      EXPECT_EQ(event, Event::AnsweredRefusal);
    });
    EXPECT_TRUE(heard);
  }
}

TEST(DispatchLaw, NoClientIsAnsweredAfterItsExchangeHandedOver) {
  const auto acts = acts_after(Policy::Effectful, Stage::Listening);
  const std::set<Act> settling = {Act::Record, Act::RecordBare, Act::Mark, Act::Release,
                                  Act::Finish};
  EXPECT_EQ(acts, settling);
}

TEST(DispatchLaw, OnlyAnEffectfulCallIsOverdue) {
  for (const Policy policy : {Policy::None, Policy::ReadOnly, Policy::Idempotent}) {
    EXPECT_FALSE(next(policy, Stage::Forwarding, Event::Overdue));
    EXPECT_FALSE(next(policy, Stage::Streaming, Event::Overdue));
  }
}

TEST(DispatchLaw, AnAnswerIsRelayedOnlyAfterTheStoreWasAskedToKeepIt) {
  for (const Policy policy : kKeyed) {
    for (const Stage where : {Stage::Forwarding, Stage::Streaming}) {
      const auto after = next(policy, where, Event::Answered);
      ASSERT_TRUE(after);
      EXPECT_EQ(after->act, Act::Record);
    }
    EXPECT_FALSE(next(policy, Stage::Forwarding, Event::Sent));
    EXPECT_FALSE(next(policy, Stage::Streaming, Event::Sent));
  }
}

TEST(DispatchLaw, AFailedRecordIsNeverReleased) {
  for (const Policy policy : kKeyed) {
    const auto acts = acts_after(policy, Stage::Recording);
    EXPECT_FALSE(acts.contains(Act::Release));
    EXPECT_FALSE(acts.contains(Act::Forward));
  }
}

TEST(DispatchLaw, AnUnknownOutcomeIsNeverForwarded) {
  for (const Policy policy : kKeyed) {
    const auto step = next(policy, Stage::Claiming, Event::Unknown);
    ASSERT_TRUE(step);
    EXPECT_EQ(*step, (Step{Stage::Replying, Act::RefuseIndeterminate}));
  }
}

TEST(DispatchLaw, OnlyIdempotentClaimsAreSuperseded) {
  EXPECT_EQ(next(Policy::Idempotent, Stage::Claiming, Event::Abandoned)->act, Act::Supersede);
  EXPECT_FALSE(next(Policy::Effectful, Stage::Claiming, Event::Abandoned));
  for (const Policy policy : kKeyed) {
    EXPECT_EQ(next(policy, Stage::Claiming, Event::OwnerLost)->act, Act::MarkAbandoned);
  }
  EXPECT_FALSE(acts_after(Policy::Effectful, Stage::Routed).contains(Act::Supersede));
}

TEST(DispatchLaw, OnlyReadOnlyAndIdempotentCallsAreRetried) {
  EXPECT_FALSE(acts_after(Policy::Effectful, Stage::Routed).contains(Act::Backoff));
  EXPECT_FALSE(acts_after(Policy::None, Stage::Routed).contains(Act::Backoff));
  EXPECT_TRUE(acts_after(Policy::ReadOnly, Stage::Routed).contains(Act::Backoff));
  EXPECT_TRUE(acts_after(Policy::Idempotent, Stage::Routed).contains(Act::Backoff));
}

TEST(DispatchLaw, AnIdempotentCallThatBecameEffectfulInItsPauseIsNotSentAgain) {
  EXPECT_TRUE(next(Policy::Idempotent, Stage::Backing, Event::RetryReady));
  EXPECT_FALSE(acts_after(Policy::Effectful, Stage::Backing).contains(Act::Forward));
  const auto never_sent = next(Policy::Effectful, Stage::Backing, Event::NeverSent);
  ASSERT_TRUE(never_sent);
  EXPECT_EQ(never_sent->act, Act::Release);
}

TEST(DispatchLaw, NothingIsClaimedOrRecordedWithoutAKeyedPolicy) {
  for (const Policy policy : {Policy::None, Policy::ReadOnly}) {
    for (const Act act : acts_after(policy, Stage::Routed)) {
      EXPECT_NE(act, Act::Claim);
      EXPECT_NE(act, Act::Record);
      EXPECT_NE(act, Act::Release);
      EXPECT_NE(act, Act::Mark);
    }
  }
}

TEST(DispatchLaw, AFollowerIsNeverPromotedWithoutAskingTheStore) {
  for (const Policy policy : kKeyed) {
    for (std::size_t e = 0; e < kEventCount; ++e) {
      const auto step = next(policy, Stage::Following, static_cast<Event>(e));
      if (step) EXPECT_NE(step->act, Act::Forward);
    }
  }
}

TEST(DispatchLaw, EveryReachableStageReachesDone) {
  for (const Policy policy : kPolicies) {
    walk(policy, Stage::Routed, [&](Stage, Event, Step step) {
      if (step.stage == Stage::Done) return;
      bool done = false;
      walk(policy, step.stage,
           [&](Stage, Event, Step later) { done |= later.stage == Stage::Done; });
      EXPECT_TRUE(done) << name(policy) << " " << name(step.stage);
    });
  }
}

TEST(DispatchLaw, EveryStoreWriteHasARowForEachWayItCanEnd) {
  for (const Policy policy : kKeyed) {
    std::set<Stage> writing;
    walk(policy, Stage::Routed, [&](Stage, Event, Step step) {
      if (step.act == Act::Record || step.act == Act::RecordBare || step.act == Act::Mark ||
          step.act == Act::Release) {
        writing.insert(step.stage);
      }
    });
    EXPECT_FALSE(writing.empty());
    for (const Stage stage : writing) {
      for (const Event event :
           {Event::Written, Event::WriteStale, Event::WriteFailed, Event::NoRoom}) {
        EXPECT_TRUE(next(policy, stage, event)) << name(stage) << " " << name(event);
      }
    }
  }
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
