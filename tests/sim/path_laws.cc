// What each act presumes: what may be told, written and sent is guarantee 3 to 6 and spec 8.
#include "tests/sim/path_laws.h"

#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include "tests/sim/exchange_knowledge.h"

namespace semel::sim {
namespace {

using namespace paths;

enum class Breach : std::uint8_t { NoRow, Told, Stored, Sending, Turn, Owed };

bool is_one_of(Event event, std::initializer_list<Event> events) {
  for (const Event each : events) {
    if (each == event) return true;
  }
  return false;
}

bool may_tell_afresh(Policy policy, const Knowledge& known, Act act) {
  const bool recorded = known.write == Act::Record || known.write == Act::RecordBare;
  const bool kept = is_one_of(known.written, {Event::Written, Event::WriteStale});
  const bool effectful = policy == Policy::Effectful;
  switch (act) {
    case Act::Relay:
      if (known.answer == Answer::Whole) return recorded && kept;
      if (known.write != Act::Release) return false;
      return known.answer == Answer::Refusal ||
             (!effectful && known.answer == Answer::Failure && known.client == Client::Begun);
    case Act::RelayUnrecorded:
      return known.answer == Answer::Whole && recorded && !kept;
    case Act::RelayMarked:
      return effectful && known.answer == Answer::Failure && known.write == Act::Mark;
    case Act::RelayOrRefuse:
      if (known.client != Client::Waiting) return false;
      if (policy == Policy::None || known.bypasses) {
        return is_one_of(known.news, {Event::NeverSent, Event::Unanswered});
      }
      if (policy == Policy::ReadOnly) return known.news == Event::RetriesSpent;
      return policy == Policy::Idempotent && known.retried_enough && known.write == Act::Release;
    default:  // Cut.
      if (known.client != Client::Begun) return false;
      if (known.news == Event::Unanswered && known.claim == Claim::None) return true;
      if (known.answer != Answer::Broken && known.answer != Answer::Overdue) return false;
      return known.write == (effectful ? Act::Mark : Act::Release);
  }
}

/// Spec 8: which case each refusal speaks of.
bool may_refuse(Policy policy, const Knowledge& known, Act act) {
  const bool effectful = policy == Policy::Effectful;
  switch (act) {
    case Act::Share:
      return known.news == Event::FlightLanded;
    case Act::Replay:
      return known.news == Event::Completed;
    case Act::RefuseRouteChanged:
      return known.news == Event::RouteChanged;
    case Act::RefuseKey:
      return known.news == Event::KeyRefused;
    case Act::RefuseInFlight:
      return is_one_of(known.news, {Event::DuplicateRejected, Event::WaitOver});
    case Act::RefuseIndeterminate:
      if (known.news == Event::Unknown) return true;
      return effectful && known.write == Act::Mark &&
             (known.answer == Answer::Broken || known.answer == Answer::Overdue);
    case Act::RefuseNotKept:
      return known.news == Event::CompletedBare;
    case Act::RefuseCaller:
      return known.news == Event::CallerDiffers;
    case Act::RefuseReused:
      return known.news == Event::PayloadDiffers;
    case Act::RefuseTooMany:
      return known.news == Event::TooManyFollowers;
    case Act::RefuseQuota:
      return known.news == Event::QuotaSpent;
    case Act::RefuseStoreDown:
      return known.news == Event::StoreFailed;
    case Act::DisownAndRefuse:
      return known.news == Event::ClaimUnknown;
    default:  // RefuseUnreachable.
      return effectful && known.sent == Sent::NothingForSure && known.write == Act::Release;
  }
}

bool may_write(Policy policy, const Knowledge& known, Act act) {
  if (known.claim != Claim::Held) return false;
  const bool effectful = policy == Policy::Effectful;
  switch (act) {
    case Act::Record:
      return known.answer == Answer::Whole &&
             !(known.write == Act::Record && known.written == Event::NoRoom);
    case Act::RecordBare:
      return known.answer == Answer::Whole && known.write == Act::Record &&
             known.written == Event::NoRoom;
    case Act::Mark:
      return effectful && (known.answer == Answer::Failure || known.answer == Answer::Broken ||
                           known.answer == Answer::Overdue);
    default:  // Release.
      if (known.answer == Answer::Refusal) return true;
      if (effectful) return known.sent == Sent::NothingForSure;
      if (known.retried_enough) return true;
      return known.client == Client::Begun &&
             (known.answer == Answer::Failure || known.answer == Answer::Broken);
  }
}

bool may_forward(Policy policy, const Knowledge& known) {
  const bool again = known.news == Event::RetryReady && known.act == Act::Backoff;
  if (!is_keyed(policy)) return known.news == Event::Start || (again && policy == Policy::ReadOnly);
  if (known.bypasses) return known.news == Event::StoreBypassed;
  if (known.claim != Claim::Held) return false;
  return known.news == Event::Granted || (again && policy == Policy::Idempotent);
}

/// Whether it is this act's turn: asking for a key, waiting, listening.
bool is_in_turn(Policy policy, const Knowledge& known, Act act) {
  switch (act) {
    case Act::DeriveKey:
      return is_keyed(policy) && known.news == Event::Start;
    case Act::JoinFlight:
      return known.has_key && !known.leads &&
             is_one_of(known.news, {Event::KeyReady, Event::FlightFreed});
    case Act::Follow:
      return known.news == Event::Joined;
    case Act::Claim:
      return known.leads && known.claim == Claim::None &&
             (known.news == Event::Led || known.news == Event::RetryReady);
    case Act::AwaitHolder:
      return known.news == Event::Held;
    case Act::Supersede:
      return policy == Policy::Idempotent && known.news == Event::Abandoned;
    case Act::MarkAbandoned:
      return known.news == Event::OwnerLost;
    case Act::Backoff:
      return (policy == Policy::ReadOnly ||
              (policy == Policy::Idempotent && known.claim == Claim::Held)) &&
             known.client == Client::Waiting &&
             is_one_of(known.news, {Event::NeverSent, Event::Unanswered, Event::AnsweredFailure});
    case Act::RelayThrough:
      return known.news == Event::Flowing && (!is_keyed(policy) || known.bypasses);
    case Act::RelayLive:
      return known.news == Event::Flowing && known.claim == Claim::Held;
    default:  // AwaitLate.
      return known.must_listen && known.client == Client::Told;
  }
}

bool owes_nothing(const Knowledge& known) {
  return known.client == Client::Told && known.claim != Claim::Held &&
         known.claim != Claim::Perhaps && !known.must_listen;
}

std::optional<Breach> breach_of(Policy policy, const Knowledge& known, Act act) {
  const auto unless = [](bool kept, Breach breach) {
    return kept ? std::nullopt : std::optional(breach);
  };
  switch (act) {
    case Act::Finish:
      return unless(owes_nothing(known), Breach::Owed);
    case Act::Forward:
      return unless(may_forward(policy, known), Breach::Sending);
    case Act::Record:
    case Act::RecordBare:
    case Act::Mark:
    case Act::Release:
      return unless(may_write(policy, known, act), Breach::Stored);
    case Act::Relay:
    case Act::RelayMarked:
    case Act::RelayUnrecorded:
    case Act::RelayOrRefuse:
    case Act::Cut:
      return unless(known.client != Client::Told && may_tell_afresh(policy, known, act),
                    Breach::Told);
    case Act::DeriveKey:
    case Act::JoinFlight:
    case Act::Follow:
    case Act::Claim:
    case Act::AwaitHolder:
    case Act::Supersede:
    case Act::MarkAbandoned:
    case Act::Backoff:
    case Act::RelayThrough:
    case Act::RelayLive:
    case Act::AwaitLate:
      return unless(is_in_turn(policy, known, act), Breach::Turn);
    default:
      return unless(known.client == Client::Waiting && may_refuse(policy, known, act),
                    Breach::Told);
  }
}

struct Found {
  Breach breach;
  std::string words;
};

std::string words_of(const Knowledge& before, const News& news, Act act) {
  std::string words(name(news.policy));
  for (const std::string_view word : {name(before.stage), name(news.event), name(act)}) {
    (words += ' ') += word;
  }
  return words;
}

/// Walks every way of a policy until one breaks a law.
std::optional<Found> first_breach(const DispatchTable& table, Policy policy) {
  std::set<Knowledge> seen;
  Knowledge begun;
  begun.policy = policy;
  std::vector<std::pair<Knowledge, News>> open = {{begun, {Event::Start, policy}},
                                                  {begun, {Event::RouteChanged, policy}}};
  while (!open.empty()) {
    const auto [before, news] = open.back();
    open.pop_back();
    const auto& step = table.at(news.policy, before.stage, news.event);
    if (!step) return Found{Breach::NoRow, words_of(before, news, before.act)};
    const Knowledge learnt = learn(before, news);
    if (const auto breach = breach_of(learnt.policy, learnt, step->act)) {
      return Found{*breach, words_of(before, news, step->act)};
    }
    if (step->act == Act::Finish) continue;
    const Knowledge after = perform(learnt, *step);
    if (!seen.insert(after).second) continue;
    for (const News& next_news : news_after(after)) open.emplace_back(after, next_news);
  }
  return std::nullopt;
}

Complaint breach_in(const DispatchTable& table, Breach breach) {
  for (const Policy policy :
       {Policy::None, Policy::ReadOnly, Policy::Idempotent, Policy::Effectful}) {
    const auto found = first_breach(table, policy);
    if (found && found->breach == breach) return found->words;
  }
  return std::nullopt;
}

}  // namespace

Complaint every_event_that_an_act_can_bring_has_a_row(const DispatchTable& table) {
  return breach_in(table, Breach::NoRow);
}

Complaint a_client_is_told_only_what_is_known(const DispatchTable& table) {
  return breach_in(table, Breach::Told);
}

Complaint a_store_is_told_only_what_is_known(const DispatchTable& table) {
  return breach_in(table, Breach::Stored);
}

Complaint nothing_is_sent_without_the_right_to_send_it(const DispatchTable& table) {
  return breach_in(table, Breach::Sending);
}

Complaint no_step_is_taken_out_of_turn(const DispatchTable& table) {
  return breach_in(table, Breach::Turn);
}

Complaint nothing_is_owed_at_the_end(const DispatchTable& table) {
  return breach_in(table, Breach::Owed);
}

}  // namespace semel::sim
