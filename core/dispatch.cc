// The law of Semel as a table: one row, one fact. Pure; the driver in proxy/exchange does what it
// says. Two rows for one cell do not compile. docs/guarantee.md quotes it; tests/core/dispatch_test
// walks it.
#include "core/dispatch.h"

namespace semel {
namespace {

// Policies as a set, so that one row can speak of several.
constexpr unsigned N = 1, R = 2, I = 4, E = 8;

struct Rule {
  unsigned who;
  Stage where;
  Event what;
  Step then;
};

using enum Stage;

constexpr Rule kRules[] = {
    // who        where            what                       then
    {N | R, Routed, Event::Start, {Forwarding, Act::Forward}},
    {I | E, Routed, Event::Start, {Keying, Act::DeriveKey}},

    // Another replica has changed the route: two replicas that key a call differently are two
    // calls.
    {N | R | I | E, Routed, Event::RouteChanged, {Replying, Act::RefuseRouteChanged}},
    {I | E, Claiming, Event::RouteChanged, {Replying, Act::RefuseRouteChanged}},

    {I | E, Keying, Event::KeyReady, {Joining, Act::JoinFlight}},
    {I | E, Keying, Event::KeyRefused, {Replying, Act::RefuseKey}},

    {I | E, Joining, Event::Led, {Claiming, Act::Claim}},
    {I | E, Joining, Event::Joined, {Following, Act::Follow}},
    {I | E, Joining, Event::DuplicateRejected, {Replying, Act::RefuseInFlight}},
    {I | E, Joining, Event::TooManyFollowers, {Replying, Act::RefuseTooMany}},
    {I | E, Joining, Event::CallerDiffers, {Replying, Act::RefuseCaller}},
    {I | E, Joining, Event::PayloadDiffers, {Replying, Act::RefuseReused}},

    {I | E, Following, Event::FlightLanded, {Replying, Act::Share}},
    {I | E, Following, Event::FlightFreed, {Joining, Act::JoinFlight}},
    {I | E, Following, Event::WaitOver, {Replying, Act::RefuseInFlight}},

    {I | E, Claiming, Event::Granted, {Forwarding, Act::Forward}},
    {I | E, Claiming, Event::Held, {Waiting, Act::AwaitHolder}},
    {I | E, Claiming, Event::Completed, {Replying, Act::Replay}},
    {I | E, Claiming, Event::CompletedBare, {Replying, Act::RefuseNotKept}},
    {I | E, Claiming, Event::Unknown, {Replying, Act::RefuseIndeterminate}},
    {I, Claiming, Event::Abandoned, {Claiming, Act::Supersede}},
    {I | E, Claiming, Event::OwnerLost, {Claiming, Act::MarkAbandoned}},
    {I | E, Claiming, Event::RetryReady, {Claiming, Act::Claim}},
    {I | E, Claiming, Event::CallerDiffers, {Replying, Act::RefuseCaller}},
    {I | E, Claiming, Event::PayloadDiffers, {Replying, Act::RefuseReused}},
    {I | E, Claiming, Event::QuotaSpent, {Replying, Act::RefuseQuota}},
    {I | E, Claiming, Event::StoreFailed, {Replying, Act::RefuseStoreDown}},
    {I | E, Claiming, Event::ClaimUnknown, {Replying, Act::DisownAndRefuse}},
    {I, Claiming, Event::StoreBypassed, {Bypassing, Act::Forward}},

    {I | E, Waiting, Event::RetryReady, {Claiming, Act::Claim}},
    {I | E, Waiting, Event::WaitOver, {Replying, Act::RefuseInFlight}},

    {E, Forwarding, Event::Answered, {Recording, Act::Record}},
    {E, Forwarding, Event::AnsweredRefusal, {ReleasingAnswer, Act::Release}},
    {E, Forwarding, Event::AnsweredFailure, {MarkingAnswer, Act::Mark}},
    {E, Forwarding, Event::Flowing, {Streaming, Act::RelayLive}},
    {E, Forwarding, Event::NeverSent, {Releasing, Act::Release}},
    {E, Forwarding, Event::Unanswered, {Marking, Act::Mark}},

    {I, Forwarding, Event::Answered, {Recording, Act::Record}},
    {I, Forwarding, Event::AnsweredRefusal, {ReleasingAnswer, Act::Release}},
    {I, Forwarding, Event::AnsweredFailure, {Backing, Act::Backoff}},
    {I, Forwarding, Event::Flowing, {Streaming, Act::RelayLive}},
    {I, Forwarding, Event::NeverSent, {Backing, Act::Backoff}},
    {I, Forwarding, Event::Unanswered, {Backing, Act::Backoff}},

    {N | R, Forwarding, Event::Flowing, {Passing, Act::RelayThrough}},
    {N, Forwarding, Event::NeverSent, {Replying, Act::RelayOrRefuse}},
    {N, Forwarding, Event::Unanswered, {Replying, Act::RelayOrRefuse}},
    {R, Forwarding, Event::AnsweredFailure, {Backing, Act::Backoff}},
    {R, Forwarding, Event::NeverSent, {Backing, Act::Backoff}},
    {R, Forwarding, Event::Unanswered, {Backing, Act::Backoff}},

    {I, Bypassing, Event::Flowing, {Passing, Act::RelayThrough}},
    {I, Bypassing, Event::NeverSent, {Replying, Act::RelayOrRefuse}},
    {I, Bypassing, Event::Unanswered, {Replying, Act::RelayOrRefuse}},

    {R | I, Backing, Event::RetryReady, {Forwarding, Act::Forward}},
    {R, Backing, Event::RetriesSpent, {Replying, Act::RelayOrRefuse}},
    {I, Backing, Event::RetriesSpent, {ReleasingSpent, Act::Release}},
    // An IDEMPOTENT call for whose key an EFFECTFUL one has asked: EFFECTFUL from then on, it ends
    // as its last attempt did.
    {E, Backing, Event::NeverSent, {Releasing, Act::Release}},
    {E, Backing, Event::Unanswered, {Marking, Act::Mark}},
    {E, Backing, Event::AnsweredFailure, {MarkingAnswer, Act::Mark}},

    {N | R | I, Passing, Event::Sent, {Done, Act::Finish}},
    {N | R | I, Passing, Event::Unanswered, {Replying, Act::Cut}},
    {I | E, Streaming, Event::Answered, {Recording, Act::Record}},
    {I | E, Streaming, Event::AnsweredRefusal, {ReleasingAnswer, Act::Release}},
    {I, Streaming, Event::AnsweredFailure, {ReleasingAnswer, Act::Release}},
    {E, Streaming, Event::AnsweredFailure, {MarkingAnswer, Act::Mark}},
    {I, Streaming, Event::Unanswered, {ReleasingCut, Act::Release}},
    {E, Streaming, Event::Unanswered, {MarkingCut, Act::Mark}},

    {I | E, Recording, Event::Written, {Replying, Act::Relay}},
    {I | E, Recording, Event::WriteStale, {Replying, Act::Relay}},
    {I | E, Recording, Event::NoRoom, {RecordingBare, Act::RecordBare}},
    {I | E, Recording, Event::WriteFailed, {Replying, Act::RelayUnrecorded}},
    {I | E, RecordingBare, Event::Written, {Replying, Act::Relay}},
    {I | E, RecordingBare, Event::WriteStale, {Replying, Act::Relay}},
    {I | E, RecordingBare, Event::NoRoom, {Replying, Act::RelayUnrecorded}},
    {I | E, RecordingBare, Event::WriteFailed, {Replying, Act::RelayUnrecorded}},

    // Whether or not the mark could be written, the claim stays and its lease lapses into the
    // truth.
    {E, Marking, Event::Written, {Replying, Act::RefuseIndeterminate}},
    {E, Marking, Event::WriteStale, {Replying, Act::RefuseIndeterminate}},
    {E, Marking, Event::NoRoom, {Replying, Act::RefuseIndeterminate}},
    {E, Marking, Event::WriteFailed, {Replying, Act::RefuseIndeterminate}},
    {E, MarkingAnswer, Event::Written, {Replying, Act::RelayMarked}},
    {E, MarkingAnswer, Event::WriteStale, {Replying, Act::RelayMarked}},
    {E, MarkingAnswer, Event::NoRoom, {Replying, Act::RelayMarked}},
    {E, MarkingAnswer, Event::WriteFailed, {Replying, Act::RelayMarked}},
    {E, MarkingCut, Event::Written, {Replying, Act::Cut}},
    {E, MarkingCut, Event::WriteStale, {Replying, Act::Cut}},
    {E, MarkingCut, Event::NoRoom, {Replying, Act::Cut}},
    {E, MarkingCut, Event::WriteFailed, {Replying, Act::Cut}},

    {E, Releasing, Event::Written, {Replying, Act::RefuseUnreachable}},
    {E, Releasing, Event::WriteStale, {Replying, Act::RefuseUnreachable}},
    {E, Releasing, Event::NoRoom, {Replying, Act::RefuseUnreachable}},
    {E, Releasing, Event::WriteFailed, {Replying, Act::RefuseUnreachable}},
    {I | E, ReleasingAnswer, Event::Written, {Replying, Act::Relay}},
    {I | E, ReleasingAnswer, Event::WriteStale, {Replying, Act::Relay}},
    {I | E, ReleasingAnswer, Event::NoRoom, {Replying, Act::Relay}},
    {I | E, ReleasingAnswer, Event::WriteFailed, {Replying, Act::Relay}},
    {I, ReleasingSpent, Event::Written, {Replying, Act::RelayOrRefuse}},
    {I, ReleasingSpent, Event::WriteStale, {Replying, Act::RelayOrRefuse}},
    {I, ReleasingSpent, Event::NoRoom, {Replying, Act::RelayOrRefuse}},
    {I, ReleasingSpent, Event::WriteFailed, {Replying, Act::RelayOrRefuse}},
    {I, ReleasingCut, Event::Written, {Replying, Act::Cut}},
    {I, ReleasingCut, Event::WriteStale, {Replying, Act::Cut}},
    {I, ReleasingCut, Event::NoRoom, {Replying, Act::Cut}},
    {I, ReleasingCut, Event::WriteFailed, {Replying, Act::Cut}},

    // The time has passed, the client is told so, and the tool is still heard (spec 6, "late news
    // of the same attempt"). What it proves settles the claim; nothing is ever sent again.
    {E, Forwarding, Event::Overdue, {MarkingOverdue, Act::Mark}},
    {E, Streaming, Event::Overdue, {MarkingOverdueCut, Act::Mark}},
    {E, MarkingOverdue, Event::Written, {ReplyingOverdue, Act::RefuseIndeterminate}},
    {E, MarkingOverdue, Event::WriteStale, {ReplyingOverdue, Act::RefuseIndeterminate}},
    {E, MarkingOverdue, Event::NoRoom, {ReplyingOverdue, Act::RefuseIndeterminate}},
    {E, MarkingOverdue, Event::WriteFailed, {ReplyingOverdue, Act::RefuseIndeterminate}},
    {E, MarkingOverdueCut, Event::Written, {ReplyingOverdue, Act::Cut}},
    {E, MarkingOverdueCut, Event::WriteStale, {ReplyingOverdue, Act::Cut}},
    {E, MarkingOverdueCut, Event::NoRoom, {ReplyingOverdue, Act::Cut}},
    {E, MarkingOverdueCut, Event::WriteFailed, {ReplyingOverdue, Act::Cut}},
    {E, ReplyingOverdue, Event::Sent, {Listening, Act::AwaitLate}},
    {E, Listening, Event::Answered, {LateRecording, Act::Record}},
    {E, Listening, Event::AnsweredRefusal, {LateSettling, Act::Release}},
    {E, Listening, Event::AnsweredFailure, {LateSettling, Act::Mark}},
    {E, Listening, Event::Unanswered, {LateSettling, Act::Mark}},
    {E, Listening, Event::WaitOver, {Done, Act::Finish}},
    {E, LateRecording, Event::Written, {Done, Act::Finish}},
    {E, LateRecording, Event::WriteStale, {Done, Act::Finish}},
    {E, LateRecording, Event::NoRoom, {LateRecordingBare, Act::RecordBare}},
    {E, LateRecording, Event::WriteFailed, {Done, Act::Finish}},
    {E, LateRecordingBare, Event::Written, {Done, Act::Finish}},
    {E, LateRecordingBare, Event::WriteStale, {Done, Act::Finish}},
    {E, LateRecordingBare, Event::NoRoom, {Done, Act::Finish}},
    {E, LateRecordingBare, Event::WriteFailed, {Done, Act::Finish}},
    {E, LateSettling, Event::Written, {Done, Act::Finish}},
    {E, LateSettling, Event::WriteStale, {Done, Act::Finish}},
    {E, LateSettling, Event::NoRoom, {Done, Act::Finish}},
    {E, LateSettling, Event::WriteFailed, {Done, Act::Finish}},

    {N | R | I | E, Replying, Event::Sent, {Done, Act::Finish}},
};

struct Cell {
  Step step;
  bool legal = false;
};
using Table = std::array<std::array<std::array<Cell, kEventCount>, kStageCount>, 4>;

consteval Table unfold() {
  Table table{};
  for (const Rule& rule : kRules) {
    for (unsigned policy = 0; policy < 4; ++policy) {
      if ((rule.who & (1u << policy)) == 0) continue;
      Cell& cell =
          table[policy][static_cast<std::size_t>(rule.where)][static_cast<std::size_t>(rule.what)];
      if (cell.legal) throw "two rows for one cell";
      cell = {rule.then, true};
    }
  }
  return table;
}

constexpr Table kTable = unfold();

}  // namespace

std::optional<Step> next(Policy policy, Stage stage, Event event) {
  const Cell& cell = kTable[static_cast<std::size_t>(policy)][static_cast<std::size_t>(stage)]
                           [static_cast<std::size_t>(event)];
  if (!cell.legal) return std::nullopt;
  return cell.step;
}

}  // namespace semel
