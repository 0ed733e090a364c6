// The words of the dispatch table, as logs and metrics spell them.
#include "core/dispatch.h"

namespace semel {

std::string_view name(Stage stage) {
  switch (stage) {
    case Stage::Routed:
      return "routed";
    case Stage::Keying:
      return "keying";
    case Stage::Joining:
      return "joining";
    case Stage::Following:
      return "following";
    case Stage::Claiming:
      return "claiming";
    case Stage::Waiting:
      return "waiting";
    case Stage::Forwarding:
      return "forwarding";
    case Stage::Bypassing:
      return "bypassing";
    case Stage::Backing:
      return "backing";
    case Stage::Passing:
      return "passing";
    case Stage::Streaming:
      return "streaming";
    case Stage::Recording:
      return "recording";
    case Stage::RecordingBare:
      return "recording_bare";
    case Stage::Marking:
      return "marking";
    case Stage::MarkingAnswer:
      return "marking_answer";
    case Stage::MarkingCut:
      return "marking_cut";
    case Stage::Releasing:
      return "releasing";
    case Stage::ReleasingAnswer:
      return "releasing_answer";
    case Stage::ReleasingSpent:
      return "releasing_spent";
    case Stage::ReleasingCut:
      return "releasing_cut";
    case Stage::Replying:
      return "replying";
    case Stage::Done:
      return "done";
  }
  return "unknown";
}

std::string_view name(Event event) {
  switch (event) {
    case Event::Start:
      return "start";
    case Event::KeyReady:
      return "key_ready";
    case Event::KeyRefused:
      return "key_refused";
    case Event::Led:
      return "led";
    case Event::Joined:
      return "joined";
    case Event::DuplicateRejected:
      return "duplicate_rejected";
    case Event::TooManyFollowers:
      return "too_many_followers";
    case Event::CallerDiffers:
      return "caller_differs";
    case Event::PayloadDiffers:
      return "payload_differs";
    case Event::FlightLanded:
      return "flight_landed";
    case Event::FlightFreed:
      return "flight_freed";
    case Event::WaitOver:
      return "wait_over";
    case Event::Granted:
      return "granted";
    case Event::Held:
      return "held";
    case Event::Completed:
      return "completed";
    case Event::CompletedBare:
      return "completed_bare";
    case Event::Unknown:
      return "unknown";
    case Event::Abandoned:
      return "abandoned";
    case Event::OwnerLost:
      return "owner_lost";
    case Event::StoreFailed:
      return "store_failed";
    case Event::ClaimUnknown:
      return "claim_unknown";
    case Event::StoreBypassed:
      return "store_bypassed";
    case Event::Answered:
      return "answered";
    case Event::AnsweredRefusal:
      return "answered_refusal";
    case Event::AnsweredFailure:
      return "answered_failure";
    case Event::Flowing:
      return "flowing";
    case Event::NeverSent:
      return "never_sent";
    case Event::Unanswered:
      return "unanswered";
    case Event::RetryReady:
      return "retry_ready";
    case Event::RetriesSpent:
      return "retries_spent";
    case Event::Written:
      return "written";
    case Event::WriteStale:
      return "write_stale";
    case Event::WriteFailed:
      return "write_failed";
    case Event::NoRoom:
      return "no_room";
    case Event::Sent:
      return "sent";
  }
  return "unknown";
}

std::string_view name(Act act) {
  switch (act) {
    case Act::DeriveKey:
      return "derive_key";
    case Act::JoinFlight:
      return "join_flight";
    case Act::Follow:
      return "follow";
    case Act::Claim:
      return "claim";
    case Act::AwaitHolder:
      return "await_holder";
    case Act::Supersede:
      return "supersede";
    case Act::MarkAbandoned:
      return "mark_abandoned";
    case Act::Forward:
      return "forward";
    case Act::Backoff:
      return "backoff";
    case Act::RelayThrough:
      return "relay_through";
    case Act::RelayLive:
      return "relay_live";
    case Act::Record:
      return "record";
    case Act::RecordBare:
      return "record_bare";
    case Act::Mark:
      return "mark";
    case Act::Release:
      return "release";
    case Act::Relay:
      return "relay";
    case Act::RelayMarked:
      return "relay_marked";
    case Act::RelayUnrecorded:
      return "relay_unrecorded";
    case Act::RelayOrRefuse:
      return "relay_or_refuse";
    case Act::Cut:
      return "cut";
    case Act::Share:
      return "share";
    case Act::Replay:
      return "replay";
    case Act::RefuseKey:
      return "refuse_key";
    case Act::RefuseInFlight:
      return "refuse_in_flight";
    case Act::RefuseIndeterminate:
      return "refuse_indeterminate";
    case Act::RefuseNotKept:
      return "refuse_not_kept";
    case Act::RefuseCaller:
      return "refuse_caller";
    case Act::RefuseReused:
      return "refuse_reused";
    case Act::RefuseTooMany:
      return "refuse_too_many";
    case Act::RefuseStoreDown:
      return "refuse_store_down";
    case Act::DisownAndRefuse:
      return "disown_and_refuse";
    case Act::RefuseUnreachable:
      return "refuse_unreachable";
    case Act::Finish:
      return "finish";
  }
  return "unknown";
}

}  // namespace semel
