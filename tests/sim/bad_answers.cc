// What a client may not be told.
#include "tests/sim/bad_histories.h"

namespace semel::sim {
namespace {

using std::chrono::seconds;

constexpr BadHistory kCases[] = {
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
    {"ARouteThatIsSaidToBeAnotherThoughItIsTheSameAgain", Rule::RefusedWithoutCause,
     [](Story& story) {
       story.happens(Kind::RoutesChanged, 1);
       story.happens(Kind::RoutesAgreed, 1);
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

}  // namespace

std::span<const BadHistory> bad_answers() { return kCases; }

}  // namespace semel::sim
