// The judge is judged: histories as they should be pass. What should not is in bad_history_test.cc.
#include "tests/sim/checker.h"

#include <gtest/gtest.h>

#include "tests/sim/story.h"

namespace semel::sim {
namespace {

using std::chrono::seconds;

constexpr Story::Subject kBooking{0, 0, Story::kEffectful};
constexpr Story::Subject kPut{0, 0, Story::kIdempotent};
constexpr Story::Subject kPlain{0, Happening::kNone, Story::kPlain};

struct Case {
  const char* name;
  void (*tell)(Story&);
};
std::ostream& operator<<(std::ostream& out, const Case& shown) { return out << shown.name; }

std::string reports(const History& history, const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) text += report(history, verdict);
  return text;
}

/// A call whose tool took effect and then said nothing in time.
void unanswered(Story& story) {
  story.sends(kBooking, 0);
  story.claims(kBooking, 0, 1);
  story.takes_effect(kBooking, 1);
  story.pass(seconds(3));
  story.marks(kBooking, 0, Because::Open);
  story.retry(Retry::No);
  story.is_told(kBooking, 0, Word::Indeterminate, 409, 0);
  story.retry(Retry::Silent);
}

class GoodHistory : public testing::TestWithParam<Case> {};

TEST_P(GoodHistory, Passes) {
  Story story;
  GetParam().tell(story);
  const auto verdicts = judge(story.history());
  EXPECT_TRUE(verdicts.empty()) << reports(story.history(), verdicts);
}

const Case kGood[] = {
    {"ACallAndItsReplay",
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.sends(kBooking, 1, 2);
       story.is_told(kBooking, 1, Word::Replayed, 200, 0, 2);
     }},
    {"AnotherRunAfterTheWindow",
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.pass(seconds(101));
       story.runs(kBooking, 1, 1, 2);
     }},
    {"AnotherRunAfterARefusal",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.dispatches(kBooking, 1);
       story.tool(kBooking, Kind::ToolReceived, 1);
       story.answers(kBooking, 1, 429);
       story.note(kBooking, Kind::Released, 0);
       story.is_told(kBooking, 0, Word::Executed, 429, 0);
       story.runs(kBooking, 1, 1, 2);
     }},
    {"AnUnknownOutcomeThatStays",
     [](Story& story) {
       unanswered(story);
       story.pass(seconds(5'000));
       story.sends(kBooking, 1);
       story.retry(Retry::No);
       story.is_told(kBooking, 1, Word::Indeterminate, 409, 0);
     }},
    {"ALateAnswerThatIsRecorded",
     [](Story& story) {
       unanswered(story);
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.sends(kBooking, 1);
       story.is_told(kBooking, 1, Word::Replayed, 200, 0);
     }},
    {"AnotherRunAfterAnOperatorsWord",
     [](Story& story) {
       unanswered(story);
       story.pass(seconds(10));
       story.note(kBooking, Kind::ResolvedNotHappened, 0);
       story.runs(kBooking, 1, 1, 2);
     }},
    {"AnOwnerThatWasKilledAndIsLost",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.takes_effect(kBooking, 1);
       story.happens(Kind::Killed, 1);
       story.pass(seconds(10));
       story.sends(kBooking, 1, 2);
       story.marks(kBooking, 0, Because::OwnerLost);
       story.retry(Retry::No);
       story.is_told(kBooking, 1, Word::Indeterminate, 409, 0, 2);
     }},
    {"AnIdempotentHolderThatIsSuperseded",
     [](Story& story) {
       story.sends(kPut, 0);
       story.claims(kPut, 0, 1);
       story.takes_effect(kPut, 1);
       story.happens(Kind::Killed, 1);
       story.pass(seconds(10));
       story.sends(kPut, 1, 2);
       story.note(kPut, Kind::ClaimAsked, 1, 0, 2);
       story.note(kPut, Kind::Superseded, 1, 2, 2);
       story.note(kPut, Kind::GrantTold, 1, 2, 2);
       story.takes_effect(kPut, 2, 2);
       story.answers(kPut, 2);
       story.records(kPut, 1);
       story.is_told(kPut, 1, Word::Executed, 200, 1, 2);
     }},
    {"AClaimWithoutAnswerWhosePlaceIsTaken",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.note(kBooking, Kind::ClaimAsked, 0);
       story.note(kBooking, Kind::Granted, 0, 1);
       story.happens(Kind::StoreFault, 1);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 0, Word::StoreUnavailable, 503);
       story.retry(Retry::Silent);
       story.runs(kBooking, 1, 1, 2);
       story.note(kBooking, Kind::WriteStale, 0);
     }},
    {"ARouteThatAnotherReplicaHasChanged",
     [](Story& story) {
       story.happens(Kind::RoutesChanged, 1);
       story.sends(kBooking, 0);
       story.happens(Kind::RoutesAgreed, 1);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 0, Word::StoreUnavailable, 503);
       story.retry(Retry::Silent);
       story.runs(kBooking, 1, 1, 2);
     }},
    {"AnAnswerThatCouldNotBeRecorded",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.takes_effect(kBooking, 1);
       story.answers(kBooking, 1);
       story.happens(Kind::StoreFault, 1);
       story.is_told(kBooking, 0, Word::Unrecorded, 200, 0);
       story.pass(seconds(10));
       story.marks(kBooking, 0, Because::Ended);
     }},
    {"ADuplicateThatDoesNotWait",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.sends(kBooking, 1, 2);
       story.retry(Retry::Yes);
       story.is_told(kBooking, 1, Word::InFlight, 409, 0, 2);
       story.retry(Retry::Silent);
       story.takes_effect(kBooking, 1);
       story.answers(kBooking, 1);
       story.records(kBooking, 0);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
     }},
    {"AFollowerThatSharesTheAnswer",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.takes_effect(kBooking, 1);
       story.answers(kBooking, 1);
       story.sends(kBooking, 1);
       story.records(kBooking, 0);
       story.is_told(kBooking, 0, Word::Executed, 200, 0);
       story.is_told(kBooking, 1, Word::Collapsed, 200, 0);
     }},
    {"AnotherPayloadAndAnotherCallerAreRefused",
     [](Story& story) {
       story.runs(kBooking, 0, 0, 1);
       story.payload(1);
       story.sends(kBooking, 1);
       story.is_told(kBooking, 1, Word::KeyReused, 422, 0);
       story.payload(0);
       story.caller(1);
       story.sends(kBooking, 2);
       story.is_told(kBooking, 2, Word::CallerMismatch, 403);
     }},
    {"AServerErrorIsToldOnceAndThenUnknown",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.takes_effect(kBooking, 1);
       story.answers(kBooking, 1, 500);
       story.marks(kBooking, 0, Because::Ended);
       story.retry(Retry::No);
       story.is_told(kBooking, 0, Word::MarkedIndeterminate, 500, 0);
       story.sends(kBooking, 1);
       story.is_told(kBooking, 1, Word::Indeterminate, 409, 0);
     }},
    {"APlainCallThatIsPassedOn",
     [](Story& story) {
       story.sends(kPlain, 0);
       story.tool(kPlain, Kind::ToolReceived, 0);
       story.answers(kPlain, 0);
       story.is_told(kPlain, 0, Word::None, 200);
     }},
    {"AByteThatLeavesLateBecauseTheProcessWasStopped",
     [](Story& story) {
       story.sends(kBooking, 0);
       story.claims(kBooking, 0, 1);
       story.happens(Kind::Paused, 1);
       story.pass(seconds(10));
       story.marks(kBooking, 0, Because::OwnerLost);
       story.happens(Kind::Resumed, 1);
       story.dispatches(kBooking, 1, 1, Story::Clock::StoppedBefore);
       story.retry(Retry::No);
       story.is_told(kBooking, 0, Word::Indeterminate, 409, 0);
     }},
};

INSTANTIATE_TEST_SUITE_P(Checker, GoodHistory, testing::ValuesIn(kGood),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace semel::sim
