// The judge is judged: each rule has a history that breaks it, and is named for it.
#include <gtest/gtest.h>

#include <set>

#include "tests/sim/checker.h"
#include "tests/sim/story.h"

namespace semel::sim {
namespace {

using std::chrono::seconds;

constexpr Story::Subject kBooking{0, 0, Story::kEffectful};
constexpr Story::Subject kPut{0, 0, Story::kIdempotent};
constexpr Story::Subject kPlain{0, Happening::kNone, Story::kPlain};

struct Case {
  const char* name;
  Rule rule;
  void (*tell)(Story&);
};
std::ostream& operator<<(std::ostream& out, const Case& shown) { return out << shown.name; }

/// Claimed and sent; the tool took effect and has not answered.
void began(Story& story, const Story::Subject& of = kBooking) {
  story.sends(of, 0);
  story.claims(of, 0, 1);
  story.takes_effect(of, 1);
}

/// The same, and its time has passed.
void unanswered(Story& story) {
  began(story);
  story.pass(seconds(3));
  story.marks(kBooking, 0, Because::Open);
  story.retry(Retry::No);
  story.is_told(kBooking, 0, Word::Indeterminate, 409, 0);
  story.retry(Retry::Silent);
}

const Case kStoreCases[] = {
    {"AFenceThatFell", Rule::FenceNotRising,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 5);
       story.runs({1, 1}, 1, 1, 5);
     }},
    {"AGrantThatNobodyAskedFor", Rule::GrantUnasked,
     [](Story& story) { story.note(kBooking, Kind::Granted, 0, 1); }},
    {"AGrantToTwo", Rule::GrantWhileHeld,
     [](Story& story) {
       began(story);
       story.claims(kBooking, 1, 2, 2);
     }},
    {"ASecondClaimOfTheSameToken", Rule::GrantWhileHeld,
     [](Story& story) {
       began(story);
       story.claims(kBooking, 0, 2);
     }},
    {"AGrantAgainToAnotherToken", Rule::GrantWhileHeld,
     [](Story& story) {
       began(story);
       story.note(kBooking, Kind::ClaimAsked, 1, 0, 2);
       story.note(kBooking, Kind::GrantedAgain, 1, 1, 2);
     }},
    {"AnIdempotentLeaseThatStillRuns", Rule::GrantWhileHeld,
     [](Story& story) {
       began(story, kPut);
       story.note(kPut, Kind::ClaimAsked, 1, 0, 2);
       story.note(kPut, Kind::Superseded, 1, 2, 2);
     }},
    {"ADisownedClaimThatHadAnEffect", Rule::GrantWhileHeld,
     [](Story& story) {
       began(story);
       story.claims(kBooking, 1, 2, 1);
     }},
    {"AnEffectfulLeaseThatIsReclaimed", Rule::EffectfulReclaimed,
     [](Story& story) {
       began(story);
       story.happens(Kind::Killed, 1);
       story.pass(seconds(10));
       story.note(kBooking, Kind::ClaimAsked, 1, 0, 2);
       story.note(kBooking, Kind::Superseded, 1, 2, 2);
     }},
    {"AnUnknownOutcomeThatIsGranted", Rule::IndeterminateRunAgain,
     [](Story& story) {
       unanswered(story);
       story.pass(seconds(5'000));
       story.claims(kBooking, 1, 2, 2);
     }},
    {"AWindowThatCountsFromTheClaim", Rule::WindowCutShort,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.pass(seconds(1));
       story.claims({1, 1}, 2, 2);
       story.takes_effect(kBooking, 1);
       story.pass(seconds(2));
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
       story.pass(seconds(98));
       story.claims(kBooking, 1, 3, 2);
     }},
    {"ARecordThatIsSweptEarly", Rule::WindowCutShort,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.pass(seconds(99));
       story.note(kBooking, Kind::Expired, 0);
     }},
    {"AClaimThatExpires", Rule::ClaimExpired,
     [](Story& story) {
       began(story);
       story.happens(Kind::Killed, 1);
       story.pass(seconds(101));
       story.note(kBooking, Kind::Expired, 0);
     }},
    {"AWriteOfAnOldToken", Rule::StaleWriteTaken,
     [](Story& story) {
       began(story, kPut);
       story.answers(kPut, 1);
       story.happens(Kind::Paused, 1);
       story.pass(seconds(10));
       story.note(kPut, Kind::ClaimAsked, 1, 0, 2);
       story.note(kPut, Kind::Superseded, 1, 2, 2);
       story.records(kPut, 0);
     }},
    {"AReleaseOfAnothersClaim", Rule::StaleWriteTaken,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.note(kBooking, Kind::Released, 9);
     }},
    {"AReleaseOnTimeout", Rule::ReleasedAfterDispatch,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.dispatches(kBooking, 1);
       story.pass(seconds(3));
       story.note(kBooking, Kind::Released, 0);
     }},
    {"AReleaseAfterAServerError", Rule::ReleasedAfterDispatch,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.dispatches(kBooking, 1);
       story.tool(kBooking, Kind::ToolReceived, 1);
       story.answers(kBooking, 1, 503);
       story.note(kBooking, Kind::Released, 0);
     }},
    {"ACutAnswerThatIsRecorded", Rule::RecordedUntold,
     [](Story& story) {
       began(story);
       story.cut(true);
       story.answers(kBooking, 1);
       story.cut(false);
       story.records(kBooking, 0);
     }},
    {"AnAnswerToAnotherCallThatIsRecorded", Rule::RecordedUntold,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.digest(78);
       story.records(kBooking, 0);
     }},
    {"AServerErrorThatIsRecorded", Rule::RecordedFailure,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1, 500);
       story.records(kBooking, 0, 500);
     }},
    {"ARecordThatIsOverwritten", Rule::RecordOverwritten,
     [](Story& story) {
       story.runs(kPut, 0, 0, 1);
       story.digest(78);
       story.answers(kPut, 1);
       story.records(kPut, 0);
     }},
    {"AHolderThatIsLostTooEarly", Rule::MarkedEarly,
     [](Story& story) {
       began(story);
       story.happens(Kind::Killed, 1);
       story.marks(kBooking, 0, Because::OwnerLost);
     }},
    {"AnIdempotentCallThatIsMarked", Rule::MarkedHarmless,
     [](Story& story) {
       began(story, kPut);
       story.pass(seconds(3));
       story.marks(kPut, 0, Because::Open);
     }},
    {"AnotherAttemptThatIsResolved", Rule::ResolvedOther,
     [](Story& story) {
       unanswered(story);
       story.pass(seconds(10));
       story.note(kBooking, Kind::ResolvedNotHappened, 7);
     }},
    {"AKnownOutcomeThatIsResolved", Rule::ResolvedKnown,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.note(kBooking, Kind::ResolvedHappened, 0);
     }},
    {"AnAttemptThatIsAliveAndSetFree", Rule::ResolvedAlive,
     [](Story& story) {
       unanswered(story);
       story.note(kBooking, Kind::ResolvedNotHappened, 0);
     }},
    {"AClaimThatItsOwnerForgets", Rule::LeftOpen,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.happens(Kind::StoreFault, 2);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
       story.pass(seconds(10));
       story.happens(Kind::ClockMoved);
     }},
    {"AnAnswerInTimeThatIsCalledUnknown", Rule::FalseUnknown,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.marks(kBooking, 0, Because::Open);
     }},
    {"ALateAnswerThatIsNotTaken", Rule::LateIgnored,
     [](Story& story) {
       unanswered(story);
       story.answers(kBooking, 1);
       story.pass(seconds(5));
       story.happens(Kind::ClockMoved);
     }},
};

const Case kWireCases[] = {
    {"ASecondEffect", Rule::SecondEffect,
     [](Story& story) {
       began(story);
       story.tool(kBooking, Kind::Effect, 1);
     }},
    {"ASecondEffectUnderAnotherKey", Rule::SecondEffect,
     [](Story& story) {
       story.runs({0, 0}, 0, 0, 1);
       story.runs({0, 1}, 1, 1, 2);
     }},
    {"AnEffectAfterTheRelease", Rule::EffectAfterRelease,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.note(kBooking, Kind::Released, 0);
       story.tool(kBooking, Kind::Effect, 1);
     }},
    {"TwoCallsUnderOneKey", Rule::KeysMixed,
     [](Story& story) {
       story.runs({0, 0}, 0, 0, 1);
       story.sends({1, 0}, 1);
       story.tool({1, 0}, Kind::ToolReceived, 1);
     }},
    {"APlainCallThatIsSentTwice", Rule::ForwardedTwice,
     [](Story& story) {
       story.sends(kPlain, 0);
       story.tool(kPlain, Kind::ToolReceived, 0);
       story.tool(kPlain, Kind::ToolReceived, 0);
     }},
    {"ADispatchWithoutAGrant", Rule::DispatchWithoutGrant,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.note(kBooking, Kind::ClaimAsked, 0);
       story.dispatches(kBooking, 0);
     }},
    {"ADispatchWhoseGrantWasNeverHeardOf", Rule::DispatchUntold,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.note(kBooking, Kind::ClaimAsked, 0);
       story.note(kBooking, Kind::Granted, 0, 1);
       story.dispatches(kBooking, 1);
     }},
    {"ARequestThatIsSentAgain", Rule::DispatchTwice,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.dispatches(kBooking, 1);
       story.dispatches(kBooking, 1);
     }},
    {"AByteAfterDispatchBy", Rule::DispatchLate,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.pass(seconds(1));
       story.dispatches(kBooking, 1);
     }},
    {"AByteAfterTheClaimWasGivenBack", Rule::DispatchWithoutClaim,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.note(kBooking, Kind::Released, 0);
       story.dispatches(kBooking, 1);
     }},
};

const Case kClientCases[] = {
    {"AnAnswerThatTheToolNeverGave", Rule::AnswerUntold,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.digest(78);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
     }},
    {"AnAnswerOfAnotherCall", Rule::ReplayDiffers,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.digest(78);
       story.runs({1, 1}, 1, 1, 2);
       story.sends(kBooking, 2);
       story.is_told(kBooking, 2, Word::Replayed, 200, 0);
     }},
    {"AReplayForAnotherCaller", Rule::ReplayToAnother,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.caller(1);
       story.sends(kBooking, 1);
       story.is_told(kBooking, 1, Word::Replayed, 200, 0);
     }},
    {"AReplayForAnotherPayload", Rule::ReplayToAnother,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.payload(1);
       story.sends(kBooking, 1);
       story.is_told(kBooking, 1, Word::Replayed, 200, 0);
     }},
    {"ALastByteBeforeTheRecord", Rule::NotDurable,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
       story.records(kBooking, 0);
     }},
    {"AServerErrorThatIsToldAsExecuted", Rule::WordUntrue,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1, 500);
       story.marks(kBooking, 0, Because::Ended);
       story.is_told(kBooking, 0, Word::Executed, 500, 0);
     }},
    {"AnAnswerWithoutAWord", Rule::WordUntrue,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.is_told(kBooking, 0, Word::None, 200);
     }},
    {"AKnownOutcomeThatIsCalledUnknown", Rule::RefusedWithoutCause,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.sends(kBooking, 1, 2);
       story.retry(Retry::No);
       story.is_told(kBooking, 1, Word::Indeterminate, 409, 0, 2);
     }},
    {"AStoreThatIsSaidToBeDown", Rule::RefusedWithoutCause,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 0, Word::StoreUnavailable, 503);
     }},
    {"AnUnknownOutcomeThatInvitesToRepeat", Rule::RepeatInvited,
     [](Story& story) {
       began(story);
       story.pass(seconds(3));
       story.marks(kBooking, 0, Because::Open);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 0, Word::Indeterminate, 409, 0);
     }},
    {"AnUnreachableToolThatWasReached", Rule::RepeatInvited,
     [](Story& story) {
       began(story);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 0, Word::UpstreamUnreachable, 502, 0);
     }},
    {"AClientThatWaitsForEver", Rule::NotAnswered, [](Story& story) { story.sends(kBooking, 0); }},
    {"AnAnswerThatEndsInTheMiddle", Rule::CutWithoutCause,
     [](Story& story) {
       began(story);
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.cut(true);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
     }},
};

class BadHistory : public testing::TestWithParam<Case> {};

TEST_P(BadHistory, IsFlaggedWithTheRuleThatItBreaks) {
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
INSTANTIATE_TEST_SUITE_P(Store, BadHistory, testing::ValuesIn(kStoreCases), kName);
INSTANTIATE_TEST_SUITE_P(Wire, BadHistory, testing::ValuesIn(kWireCases), kName);
INSTANTIATE_TEST_SUITE_P(Client, BadHistory, testing::ValuesIn(kClientCases), kName);

TEST(Checker, EveryRuleIsBrokenByOneOfTheBadHistories) {
  std::set<Rule> broken;
  for (const Case& each : kStoreCases) broken.insert(each.rule);
  for (const Case& each : kWireCases) broken.insert(each.rule);
  for (const Case& each : kClientCases) broken.insert(each.rule);
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
