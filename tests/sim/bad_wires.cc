// What may not go over the wire to the tool, and what may not come of it.
#include "tests/sim/bad_histories.h"

namespace semel::sim {
namespace {

using std::chrono::seconds;

constexpr BadHistory kCases[] = {
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

}  // namespace

std::span<const BadHistory> bad_wires() { return kCases; }

}  // namespace semel::sim
