#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/policy.h"

namespace semel {

/// Where an exchange stands. What it is waiting for, not what it has.
enum class Stage : std::uint8_t {
  Routed,             ///< The route is known, nothing else.
  Keying,             ///< The key is being derived.
  Joining,            ///< The flights of this process are being asked.
  Following,          ///< Another exchange of this process flies on the key.
  Claiming,           ///< The store is being asked for the key.
  Waiting,            ///< Somebody else holds the key.
  Forwarding,         ///< The tool is being asked.
  Bypassing,          ///< The tool is being asked without a claim (`on_store_down: forward`).
  Backing,            ///< A retry is being waited for, or refused.
  Passing,            ///< An answer that is not recorded passes through.
  Streaming,          ///< A long answer flows live; its last byte is withheld.
  Recording,          ///< The answer is being made durable.
  RecordingBare,      ///< The same without the body, for which there was no room.
  Marking,            ///< The outcome is being marked unknown; no answer to relay.
  MarkingAnswer,      ///< The same, with an answer to relay.
  MarkingCut,         ///< The same, with an answer that was cut while it flowed.
  Releasing,          ///< The claim is being given back; nothing was sent.
  ReleasingAnswer,    ///< The same, with an answer to relay.
  ReleasingSpent,     ///< The same after the last retry: relay what there is, or refuse.
  ReleasingCut,       ///< The same, with an answer that was cut while it flowed.
  Replying,           ///< The client is being answered.
  MarkingOverdue,     ///< As Marking, and the tool may still answer.
  MarkingOverdueCut,  ///< As MarkingCut, and the tool may still go on.
  ReplyingOverdue,    ///< The client is being told; the tool may still answer.
  Listening,          ///< The client is gone from this; the tool is still being heard.
  LateRecording,      ///< The late answer is being made durable.
  LateRecordingBare,  ///< The same without the body, for which there was no room.
  LateSettling,       ///< Other late news is being written down.
  Done,               ///< Nothing is left to do.
};
inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::Done) + 1;

/// What happened. News, never an intention.
enum class Event : std::uint8_t {
  Start,              ///< An exchange began.
  RouteChanged,       ///< Another replica has changed the route, and this one has not.
  KeyReady,           ///< The key is derived.
  KeyRefused,         ///< It cannot be.
  Led,                ///< No exchange of this process flies on the key: this one leads.
  Joined,             ///< One does: this one follows.
  DuplicateRejected,  ///< One does, and the route says `on_duplicate: reject`.
  TooManyFollowers,   ///< One does, and the key's quota of followers is used up.
  CallerDiffers,      ///< The key belongs to another caller.
  PayloadDiffers,     ///< Guard or fingerprint differs.
  FlightLanded,       ///< The leader's answer is there to be shared.
  FlightFreed,        ///< The leader gave up without asking the tool: ask again.
  WaitOver,           ///< The time to wait has passed: the exchange's `wait`, or `settle`.
  Granted,            ///< The key is ours.
  Held,               ///< Somebody else's, lease alive.
  Completed,          ///< It happened, and the answer is kept.
  CompletedBare,      ///< It happened, and the answer is not kept.
  Unknown,            ///< The outcome is unknown until an operator says otherwise.
  Abandoned,          ///< An IDEMPOTENT claim whose lease is over.
  OwnerLost,          ///< An EFFECTFUL claim whose lease is over.
  QuotaSpent,         ///< The key is new, and its tenant has taken as many as it may.
  StoreFailed,        ///< The store could not be asked: nothing was taken.
  ClaimUnknown,       ///< The store did not answer: the claim may have been taken.
  StoreBypassed,      ///< The store is down, and the route says `on_store_down: forward`.
  Answered,           ///< A complete answer with a status that is recorded (or just relayed).
  AnsweredRefusal,    ///< A complete answer with a `release_on` status.
  AnsweredFailure,    ///< A complete answer with an `indeterminate_on` or retryable status.
  Flowing,            ///< The answer is long or endless: head and first bytes are here.
  NeverSent,          ///< Proof that no request byte left.
  Unanswered,         ///< A byte may have left, and no complete answer came back.
  Overdue,            ///< The same so far: the time has passed, and the tool may still answer.
  RetryReady,         ///< The backoff has passed: another attempt may start.
  RetriesSpent,       ///< No attempt is left, or the budget says no.
  Written,            ///< The store did what was asked.
  WriteStale,         ///< Another token or fence stands there.
  WriteFailed,        ///< The store could not write, or did not answer.
  NoRoom,             ///< The store is full.
  Sent,               ///< The client was answered, or is gone.
};
inline constexpr std::size_t kEventCount = static_cast<std::size_t>(Event::Sent) + 1;

/// What to do now. Payloads (key, token, answer) stay with the driver.
enum class Act : std::uint8_t {
  DeriveKey,
  JoinFlight,
  Follow,
  Claim,
  AwaitHolder,
  Supersede,
  MarkAbandoned,  ///< By a reader: the owner is lost.
  Forward,
  Backoff,
  RelayThrough,  ///< Pass the answer on as it comes; nothing is recorded.
  RelayLive,     ///< Let the answer flow, but for its last byte.
  Record,
  RecordBare,
  Mark,
  Release,
  Relay,               ///< Pass on the fresh answer, or its withheld end.
  RelayMarked,         ///< The same, with the word that every later call is refused.
  RelayUnrecorded,     ///< The same; the write goes on in the background.
  RelayOrRefuse,       ///< The last attempt's answer if there is one, else 502 or 504.
  Cut,                 ///< End the client's connection as the upstream ended its own.
  Share,               ///< Send what the flight's leader got.
  Replay,              ///< Send the stored answer.
  RefuseRouteChanged,  ///< 503: the store remembers another route.
  RefuseKey,
  RefuseInFlight,
  RefuseIndeterminate,
  RefuseNotKept,
  RefuseCaller,
  RefuseReused,
  RefuseTooMany,
  RefuseQuota,
  RefuseStoreDown,
  DisownAndRefuse,  ///< 503, and the claim that may exist is released in the background.
  RefuseUnreachable,
  AwaitLate,  ///< Listen to the tool for as long as `settle` says; the exchange is over.
  Finish,
};

[[nodiscard]] std::string_view name(Stage stage);
[[nodiscard]] std::string_view name(Event event);
[[nodiscard]] std::string_view name(Act act);

struct Step {
  Stage stage = Stage::Done;
  Act act = Act::Finish;
  bool operator==(const Step&) const = default;
};

/// What follows from `event` for an exchange of this policy that stands at `stage`.
/// @return Absent: the event is illegal there, a broken program.
/// @source The table in dispatch.cc; docs/guarantee.md quotes it.
[[nodiscard]] std::optional<Step> next(Policy policy, Stage stage, Event event);

}  // namespace semel
