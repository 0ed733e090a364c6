// What a store, or its callers, may not do with a record.
#include "tests/sim/bad_histories.h"

namespace semel::sim {
namespace {

using std::chrono::seconds;

constexpr BadHistory kCases[] = {
    {"AFenceThatFell", Rule::FenceNotRising,
     [](Story& story) {
       story.runs(kBooking, 0, 0, 5);
       story.runs({1, 1}, 1, 1, 5);
     }},
    {"AGrantThatNobodyAskedFor", Rule::GrantUnasked,
     [](Story& story) { story.note(kBooking, Kind::Granted, 0, 1); }},
    {"AGrantThatComesTooLate", Rule::GrantLate,
     [](Story& story) {
       story.sends(kBooking, 0);
       story.note(kBooking, Kind::ClaimAsked, 0);
       story.pass(seconds(2));
       story.note(kBooking, Kind::Granted, 0, 1);
     }},
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
    {"ALateAnswerThatTheStoreRefuses", Rule::OwnerRefused,
     [](Story& story) {
       unanswered(story);
       story.answers(kBooking, 1);
       story.note(kBooking, Kind::WriteStale, 0, 1);
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

}  // namespace

std::span<const BadHistory> bad_stores() { return kCases; }

}  // namespace semel::sim
