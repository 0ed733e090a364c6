// The laws of the decision core over cells and over the stages that can follow.
#include "tests/sim/laws.h"

#include <set>
#include <utility>

#include "tests/sim/path_laws.h"

namespace semel::sim {
namespace {

constexpr Policy kPolicies[] = {Policy::None, Policy::ReadOnly, Policy::Idempotent,
                                Policy::Effectful};
constexpr Policy kKeyed[] = {Policy::Idempotent, Policy::Effectful};

std::string at(Policy policy, Stage stage, Event event) {
  std::string words(name(policy));
  for (const std::string_view word : {name(stage), name(event)}) (words += ' ') += word;
  return words;
}

/// Calls `visit` for every step that can follow from `from`, each cell once, until it complains.
template <class Visit>
Complaint walk(const DispatchTable& table, Policy policy, Stage from, Visit visit) {
  std::array<bool, kStageCount> seen{};
  std::array<Stage, kStageCount> open{};
  std::size_t count = 0;
  const auto enter = [&](Stage stage) {
    if (std::exchange(seen[static_cast<std::size_t>(stage)], true)) return;
    open[count++] = stage;
  };
  enter(from);
  while (count > 0) {
    const Stage stage = open[--count];
    for (std::size_t e = 0; e < kEventCount; ++e) {
      const auto event = static_cast<Event>(e);
      const auto& step = table.at(policy, stage, event);
      if (!step) continue;
      if (!visit(stage, event, *step)) return at(policy, stage, event);
      enter(step->stage);
    }
  }
  return std::nullopt;
}

std::set<Act> acts_after(const DispatchTable& table, Policy policy, Stage stage) {
  std::set<Act> acts;
  static_cast<void>(walk(table, policy, stage, [&](Stage, Event, Step step) {
    acts.insert(step.act);
    return true;
  }));
  return acts;
}

/// A complaint unless the cell says exactly that.
Complaint unless_is(const DispatchTable& table, Policy policy, Stage stage, Event event,
                    Step step) {
  const auto& found = table.at(policy, stage, event);
  if (found && *found == step) return std::nullopt;
  return at(policy, stage, event);
}

Complaint unless_absent(const DispatchTable& table, Policy policy, Stage stage, Event event) {
  if (!table.at(policy, stage, event)) return std::nullopt;
  return at(policy, stage, event);
}

Complaint only_a_grant_forwards(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    auto complaint = walk(table, policy, Stage::Routed, [&](Stage stage, Event event, Step step) {
      if (step.act != Act::Forward) return true;
      const bool granted = stage == Stage::Claiming && event == Event::Granted;
      const bool retried = stage == Stage::Backing && event == Event::RetryReady;
      const bool bypassed = stage == Stage::Claiming && event == Event::StoreBypassed;
      return granted || (policy == Policy::Idempotent && (retried || bypassed));
    });
    if (complaint) return complaint;
  }
  return std::nullopt;
}

Complaint a_store_that_is_down_is_no_permission(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    for (const Event event : {Event::StoreFailed, Event::ClaimUnknown}) {
      const auto& step = table.at(policy, Stage::Claiming, event);
      if (!step || step->act == Act::Forward ||
          acts_after(table, policy, step->stage).contains(Act::Forward)) {
        return at(policy, Stage::Claiming, event);
      }
    }
  }
  return unless_absent(table, Policy::Effectful, Stage::Claiming, Event::StoreBypassed);
}

Complaint a_changed_route_takes_no_call(const DispatchTable& table) {
  for (const Policy policy :
       {Policy::None, Policy::ReadOnly, Policy::Idempotent, Policy::Effectful}) {
    for (const Stage where : {Stage::Routed, Stage::Claiming}) {
      if (where == Stage::Claiming && !is_keyed(policy)) continue;
      const auto& step = table.at(policy, where, Event::RouteChanged);
      if (!step || step->act != Act::RefuseRouteChanged) {
        return at(policy, where, Event::RouteChanged);
      }
    }
  }
  return std::nullopt;
}

Complaint an_unanswered_call_is_not_sent_again(const DispatchTable& table) {
  for (const Stage where : {Stage::Forwarding, Stage::Streaming, Stage::Backing}) {
    for (const Event event : {Event::Unanswered, Event::AnsweredFailure}) {
      const auto& after = table.at(Policy::Effectful, where, event);
      if (!after || after->act != Act::Mark) return at(Policy::Effectful, where, event);
      for (const Act act : acts_after(table, Policy::Effectful, after->stage)) {
        if (act == Act::Forward || act == Act::Release || act == Act::Claim) {
          return at(Policy::Effectful, where, event);
        }
      }
    }
  }
  return std::nullopt;
}

Complaint an_overdue_call_is_only_heard(const DispatchTable& table) {
  for (const Stage where : {Stage::Forwarding, Stage::Streaming}) {
    const auto& after = table.at(Policy::Effectful, where, Event::Overdue);
    if (!after || after->act != Act::Mark) return at(Policy::Effectful, where, Event::Overdue);
    bool heard = false;
    const auto complaint =
        walk(table, Policy::Effectful, after->stage, [&](Stage stage, Event event, Step step) {
          heard |= step.act == Act::AwaitLate;
          if (step.act == Act::Release) {
            return stage == Stage::Listening && event == Event::AnsweredRefusal;
          }
          return step.act != Act::Forward && step.act != Act::Claim;
        });
    if (complaint) return complaint;
    if (!heard) return at(Policy::Effectful, where, Event::Overdue);
  }
  return std::nullopt;
}

Complaint nobody_is_answered_after_the_hand_over(const DispatchTable& table) {
  const std::set<Act> settling = {Act::Record, Act::RecordBare, Act::Mark, Act::Release,
                                  Act::Finish};
  if (acts_after(table, Policy::Effectful, Stage::Listening) == settling) return std::nullopt;
  return "listening is followed by more, or less, than settling";
}

Complaint only_an_effectful_call_is_overdue(const DispatchTable& table) {
  for (const Policy policy : {Policy::None, Policy::ReadOnly, Policy::Idempotent}) {
    for (const Stage where : {Stage::Forwarding, Stage::Streaming}) {
      if (auto complaint = unless_absent(table, policy, where, Event::Overdue)) return complaint;
    }
  }
  return std::nullopt;
}

Complaint an_answer_is_relayed_after_the_store_was_asked(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    for (const Stage where : {Stage::Forwarding, Stage::Streaming}) {
      const auto& after = table.at(policy, where, Event::Answered);
      if (!after || after->act != Act::Record) return at(policy, where, Event::Answered);
      if (auto complaint = unless_absent(table, policy, where, Event::Sent)) return complaint;
    }
  }
  return std::nullopt;
}

Complaint a_failed_record_is_not_released(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    for (const Act act : acts_after(table, policy, Stage::Recording)) {
      if (act == Act::Release || act == Act::Forward) return std::string(name(act));
    }
  }
  return std::nullopt;
}

Complaint an_unknown_outcome_is_not_forwarded(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    if (auto complaint = unless_is(table, policy, Stage::Claiming, Event::Unknown,
                                   {Stage::Replying, Act::RefuseIndeterminate})) {
      return complaint;
    }
  }
  return std::nullopt;
}

Complaint only_idempotent_claims_are_superseded(const DispatchTable& table) {
  if (auto complaint = unless_is(table, Policy::Idempotent, Stage::Claiming, Event::Abandoned,
                                 {Stage::Claiming, Act::Supersede})) {
    return complaint;
  }
  if (auto complaint = unless_absent(table, Policy::Effectful, Stage::Claiming, Event::Abandoned)) {
    return complaint;
  }
  for (const Policy policy : kKeyed) {
    const auto& lost = table.at(policy, Stage::Claiming, Event::OwnerLost);
    if (!lost || lost->act != Act::MarkAbandoned) {
      return at(policy, Stage::Claiming, Event::OwnerLost);
    }
  }
  if (acts_after(table, Policy::Effectful, Stage::Routed).contains(Act::Supersede)) {
    return "an EFFECTFUL call supersedes";
  }
  return std::nullopt;
}

Complaint only_harmless_calls_are_retried(const DispatchTable& table) {
  for (const Policy policy : kPolicies) {
    const bool harmless = policy == Policy::ReadOnly || policy == Policy::Idempotent;
    if (acts_after(table, policy, Stage::Routed).contains(Act::Backoff) != harmless) {
      return std::string(name(policy));
    }
  }
  return std::nullopt;
}

Complaint a_tightened_call_is_not_sent_again(const DispatchTable& table) {
  if (!table.at(Policy::Idempotent, Stage::Backing, Event::RetryReady)) {
    return at(Policy::Idempotent, Stage::Backing, Event::RetryReady);
  }
  if (acts_after(table, Policy::Effectful, Stage::Backing).contains(Act::Forward)) {
    return at(Policy::Effectful, Stage::Backing, Event::RetryReady);
  }
  const auto& never_sent = table.at(Policy::Effectful, Stage::Backing, Event::NeverSent);
  if (never_sent && never_sent->act == Act::Release) return std::nullopt;
  return at(Policy::Effectful, Stage::Backing, Event::NeverSent);
}

Complaint nothing_is_claimed_without_a_keyed_policy(const DispatchTable& table) {
  for (const Policy policy : {Policy::None, Policy::ReadOnly}) {
    for (const Act act : acts_after(table, policy, Stage::Routed)) {
      if (act == Act::Claim || act == Act::Record || act == Act::Release || act == Act::Mark) {
        return std::string(name(policy));
      }
    }
  }
  return std::nullopt;
}

Complaint a_follower_is_not_promoted(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    for (std::size_t e = 0; e < kEventCount; ++e) {
      const auto event = static_cast<Event>(e);
      const auto& step = table.at(policy, Stage::Following, event);
      if (step && step->act == Act::Forward) return at(policy, Stage::Following, event);
    }
  }
  return std::nullopt;
}

Complaint every_stage_reaches_done(const DispatchTable& table) {
  for (const Policy policy : kPolicies) {
    auto complaint = walk(table, policy, Stage::Routed, [&](Stage, Event, Step step) {
      if (step.stage == Stage::Done) return true;
      bool done = false;
      static_cast<void>(walk(table, policy, step.stage, [&](Stage, Event, Step later) {
        done |= later.stage == Stage::Done;
        return !done;
      }));
      return done;
    });
    if (complaint) return complaint;
  }
  return std::nullopt;
}

Complaint every_write_has_a_row_for_each_end(const DispatchTable& table) {
  for (const Policy policy : kKeyed) {
    bool writes = false;
    auto complaint = walk(table, policy, Stage::Routed, [&](Stage, Event, Step step) {
      if (step.act != Act::Record && step.act != Act::RecordBare && step.act != Act::Mark &&
          step.act != Act::Release) {
        return true;
      }
      writes = true;
      for (const Event end :
           {Event::Written, Event::WriteStale, Event::WriteFailed, Event::NoRoom}) {
        if (!table.at(policy, step.stage, end)) return false;
      }
      return true;
    });
    if (complaint) return complaint;
    if (!writes) return "nothing is written under " + std::string(name(policy));
  }
  return std::nullopt;
}

/// core/dispatch.h says of each stage what an exchange waits for there.
bool is_waited_for_at(Stage stage, Act act) {
  switch (act) {
    case Act::DeriveKey:
      return stage == Stage::Keying;
    case Act::JoinFlight:
      return stage == Stage::Joining;
    case Act::Follow:
      return stage == Stage::Following;
    case Act::Claim:
    case Act::Supersede:
    case Act::MarkAbandoned:
      return stage == Stage::Claiming;
    case Act::AwaitHolder:
      return stage == Stage::Waiting;
    case Act::Forward:
      return stage == Stage::Forwarding || stage == Stage::Bypassing;
    case Act::Backoff:
      return stage == Stage::Backing;
    case Act::RelayThrough:
      return stage == Stage::Passing;
    case Act::RelayLive:
      return stage == Stage::Streaming;
    case Act::Record:
      return stage == Stage::Recording || stage == Stage::LateRecording;
    case Act::RecordBare:
      return stage == Stage::RecordingBare || stage == Stage::LateRecordingBare;
    case Act::Mark:
      return stage == Stage::Marking || stage == Stage::MarkingAnswer ||
             stage == Stage::MarkingCut || stage == Stage::MarkingOverdue ||
             stage == Stage::MarkingOverdueCut || stage == Stage::LateSettling;
    case Act::Release:
      return stage == Stage::Releasing || stage == Stage::ReleasingAnswer ||
             stage == Stage::ReleasingSpent || stage == Stage::ReleasingCut ||
             stage == Stage::LateSettling;
    case Act::AwaitLate:
      return stage == Stage::Listening;
    case Act::Finish:
      return stage == Stage::Done;
    default:
      return stage == Stage::Replying || stage == Stage::ReplyingOverdue;
  }
}

Complaint each_act_is_waited_for_where_it_is_done(const DispatchTable& table) {
  for (const Policy policy : kPolicies) {
    for (std::size_t from = 0; from < kStageCount; ++from) {
      auto complaint = walk(table, policy, static_cast<Stage>(from), [](Stage, Event, Step step) {
        return is_waited_for_at(step.stage, step.act);
      });
      if (complaint) return complaint;
    }
  }
  return std::nullopt;
}

constexpr Law kLaws[] = {
    {"OnlyAGrantOrAnOperatorsWordReachesForwardOnAKeyedRoute", only_a_grant_forwards},
    {"AStoreThatIsDownIsNeverPermission", a_store_that_is_down_is_no_permission},
    {"ARouteThatAnotherReplicaChangedTakesNoCall", a_changed_route_takes_no_call},
    {"AnUnansweredEffectfulCallIsNeverForwardedOrFreedAgain", an_unanswered_call_is_not_sent_again},
    {"AnOverdueCallIsOnlyHeardAndOnlyItsOwnRefusalFreesIt", an_overdue_call_is_only_heard},
    {"NoClientIsAnsweredAfterItsExchangeHandedOver", nobody_is_answered_after_the_hand_over},
    {"OnlyAnEffectfulCallIsOverdue", only_an_effectful_call_is_overdue},
    {"AnAnswerIsRelayedOnlyAfterTheStoreWasAskedToKeepIt",
     an_answer_is_relayed_after_the_store_was_asked},
    {"AFailedRecordIsNeverReleased", a_failed_record_is_not_released},
    {"AnUnknownOutcomeIsNeverForwarded", an_unknown_outcome_is_not_forwarded},
    {"OnlyIdempotentClaimsAreSuperseded", only_idempotent_claims_are_superseded},
    {"OnlyReadOnlyAndIdempotentCallsAreRetried", only_harmless_calls_are_retried},
    {"AnIdempotentCallThatBecameEffectfulInItsPauseIsNotSentAgain",
     a_tightened_call_is_not_sent_again},
    {"NothingIsClaimedOrRecordedWithoutAKeyedPolicy", nothing_is_claimed_without_a_keyed_policy},
    {"AFollowerIsNeverPromotedWithoutAskingTheStore", a_follower_is_not_promoted},
    {"EveryReachableStageReachesDone", every_stage_reaches_done},
    {"EveryStoreWriteHasARowForEachWayItCanEnd", every_write_has_a_row_for_each_end},
    {"EachActIsWaitedForAtTheStageWhereItIsDone", each_act_is_waited_for_where_it_is_done},
    {"EveryEventThatAnActCanBringHasARow", every_event_that_an_act_can_bring_has_a_row},
    {"AClientIsToldOnlyWhatIsKnown", a_client_is_told_only_what_is_known},
    {"AStoreIsToldOnlyWhatIsKnown", a_store_is_told_only_what_is_known},
    {"NothingIsSentWithoutTheRightToSendIt", nothing_is_sent_without_the_right_to_send_it},
    {"NoStepIsTakenOutOfTurn", no_step_is_taken_out_of_turn},
    {"NothingIsOwedAtTheEnd", nothing_is_owed_at_the_end},
};

}  // namespace

DispatchTable DispatchTable::lawful() {
  DispatchTable table;
  for (const Policy policy : kPolicies) {
    for (std::size_t s = 0; s < kStageCount; ++s) {
      for (std::size_t e = 0; e < kEventCount; ++e) {
        const auto stage = static_cast<Stage>(s);
        const auto event = static_cast<Event>(e);
        table.put(policy, stage, event, next(policy, stage, event));
      }
    }
  }
  return table;
}

std::span<const Law> laws() { return kLaws; }

const Law* broken_law(const DispatchTable& table) {
  for (const Law& law : kLaws) {
    if (law.complaint(table)) return &law;
  }
  return nullptr;
}

}  // namespace semel::sim
