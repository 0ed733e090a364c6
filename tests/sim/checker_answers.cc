// The rules of what a client is told (guarantee 3.4, 5.4, 6): each word has to have been true at
// some moment between the request and its answer.
#include <algorithm>

#include "tests/sim/checker_books.h"

namespace semel::sim {
namespace {

/// What one answer is judged by.
struct Told {
  Books& books;
  At where;
  const Happening& now;
  const CallBook& call;
  const RouteTerms& terms;
  MeaningBook& meaning;
  RecordBook* record;    ///< Null: no proxy has made a key of it that is known.
  AttemptBook* attempt;  ///< The one that it refers to; null: none.
  At asked;              ///< Where the process that answers asked for the key last, or the call
                         ///< was sent if that was before: a follower is told what its leader was.

  void blame(Rule rule, At proof) const {
    std::vector<At> events{call.sent, where};
    if (proof != kNever) events.insert(events.begin() + 1, proof);
    books.blame(rule, now.key, meaning.record, std::move(events));
  }
  void blame(Rule rule) const { blame(rule, kNever); }

  [[nodiscard]] bool since_sent(At event) const { return event != kNever && event > call.sent; }
  [[nodiscard]] bool since_asked(At event) const { return event != kNever && event > asked; }
  /// True if the record stood so at some moment since it was asked about.
  [[nodiscard]] bool stood(Standing standing) const {
    if (record == nullptr) return standing == Standing::Absent;
    return record->standing == standing ||
           since_asked(record->left[static_cast<std::size_t>(standing)]);
  }
  [[nodiscard]] bool stood_bare() const {
    if (record == nullptr) return false;
    return (record->standing == Standing::Completed && record->bare) ||
           since_asked(record->left_bare);
  }
  [[nodiscard]] bool stood_with(const Answer& answer) const {
    if (record == nullptr) return false;
    if (record->standing == Standing::Completed && !record->bare && record->answer == answer) {
      return true;
    }
    const auto left = record->left_answer.find(answer);
    return left != record->left_answer.end() && since_asked(left->second);
  }
  [[nodiscard]] bool is_disturbed() const {
    return books.store_down || since_asked(books.proxy(now.proxy).faulted);
  }
  [[nodiscard]] bool is_at_odds() const {
    const ProxyBook& proxy = books.proxy(now.proxy);
    return proxy.disagrees || since_asked(proxy.disagreed);
  }
  /// An attempt of the process that answers is the one that the record speaks of, and was sent.
  [[nodiscard]] bool own_attempt_was_sent() const {
    if (attempt == nullptr || attempt->dispatched == kNever) return false;
    return attempt->proxy == now.proxy;
  }
};

void judge_fresh(const Told& told) {
  const Happening& now = told.now;
  const Answer answer{now.status, now.digest};
  const auto given = told.meaning.told.find(answer);
  // Those who followed the call share its marked answer, which may have come before they did.
  const bool is_shared = now.word == Word::MarkedIndeterminate;
  if (given == told.meaning.told.end() || (!is_shared && !told.since_sent(given->second))) {
    return told.blame(Rule::AnswerUntold);
  }
  const bool failure = contains(told.terms.indeterminate_on, now.status);
  const bool effectful = told.terms.policy == Policy::Effectful;
  switch (now.word) {
    case Word::MarkedIndeterminate:
      if (!failure || !effectful || now.retry != Retry::No) told.blame(Rule::WordUntrue);
      return;
    case Word::Unrecorded:
      if (!told.is_disturbed()) told.blame(Rule::WordUntrue);
      return;
    case Word::Bypassed:
      if (!told.terms.forwards_when_down || !told.is_disturbed()) told.blame(Rule::WordUntrue);
      return;
    default:
      break;
  }
  if (effectful && failure) told.blame(Rule::WordUntrue);
  if (failure || contains(told.terms.release_on, now.status)) return;
  // Durable before the last byte, or refused as the word of an owner that is none any more.
  const bool lost = told.attempt != nullptr && told.since_sent(told.attempt->lost);
  const bool ruled = told.attempt != nullptr && told.since_sent(told.attempt->ruled);
  const bool released =
      told.attempt != nullptr && told.since_sent(told.attempt->released) && !effectful;
  // Of an answer that flowed the head had said so before its record failed.
  const bool flowed = told.books.at(given->second).flows && told.is_disturbed();
  if (!told.stood_with(answer) && !told.stood_bare() && !lost && !ruled && !released && !flowed) {
    told.blame(Rule::NotDurable, given->second);
  }
}

void judge_repeated(const Told& told) {
  const Happening& now = told.now;
  const Answer answer{now.status, now.digest};
  if (now.word == Word::Replayed) {
    if (!told.stood_with(answer)) told.blame(Rule::ReplayDiffers);
  } else {
    const auto given = told.meaning.told.find(answer);
    if (given == told.meaning.told.end() && !told.stood_with(answer)) {
      told.blame(Rule::ReplayDiffers);
    }
  }
  if (told.attempt == nullptr || told.attempt->received == kNever) return;
  if (told.attempt->payload != now.payload || told.attempt->caller != now.caller) {
    told.blame(Rule::ReplayToAnother, told.attempt->received);
  }
}

/// A refusal that invites to come back says that this call had no part in any effect. What another
/// call did on the key is no part of it: who comes back finds that one's claim.
void judge_invitation(const Told& told) {
  const Happening& now = told.now;
  if (now.retry == Retry::No) return told.blame(Rule::WordUntrue);
  if (told.terms.policy != Policy::Effectful || told.attempt == nullptr) return;
  if (told.attempt->dispatched == kNever || !told.since_sent(told.attempt->dispatched)) return;
  if (!told.own_attempt_was_sent() || told.books.at(told.attempt->dispatched).call != now.call) {
    return;
  }
  told.blame(Rule::RepeatInvited, told.attempt->dispatched);
}

bool others_differ(const Told& told, std::size_t variants) {
  return variants > 1 && told.now.key != Happening::kNone;
}

/// Another call on the key that went through the same process and may be on its way there.
bool is_accompanied(const Told& told) { return told.meaning.calls_by_proxy[told.now.proxy] > 1; }

void judge_refusal(const Told& told) {
  const Happening& now = told.now;
  const bool effectful = told.terms.policy == Policy::Effectful;
  const auto need = [&](bool cause) {
    if (!cause) told.blame(Rule::RefusedWithoutCause);
  };
  switch (now.word) {
    case Word::InFlight:
    case Word::TooManyWaiters:
      need(told.stood(Standing::InFlight) || is_accompanied(told));
      if (now.retry != Retry::Yes) told.blame(Rule::WordUntrue);
      return;
    case Word::Indeterminate:
      need(told.stood(Standing::Indeterminate) || (effectful && told.own_attempt_was_sent()));
      if (now.retry != Retry::No) told.blame(Rule::RepeatInvited);
      return;
    case Word::ResultNotKept:
      need(told.stood_bare() || told.is_disturbed() ||
           (told.attempt != nullptr && told.attempt->ruled != kNever));
      if (now.retry != Retry::No) told.blame(Rule::RepeatInvited);
      return;
    case Word::KeyReused:
      return need(others_differ(told, told.meaning.payloads.size()));
    case Word::CallerMismatch:
      return need(others_differ(told, told.meaning.callers.size()));
    case Word::StoreUnavailable:
      need(told.is_disturbed() || told.is_at_odds());
      return judge_invitation(told);
    case Word::StoreSuspect:
      need(told.is_disturbed());
      return judge_invitation(told);
    case Word::UpstreamUnreachable:
    case Word::Overloaded:
    case Word::Draining:
    case Word::Quota:
    case Word::Internal:
      return judge_invitation(told);
    case Word::UpstreamTimeout:
    case Word::UpstreamFailed:
      if (effectful) told.blame(Rule::RepeatInvited);
      return;
    default:
      return need(false);
  }
}

/// The tool's answer was whole before any time for it can have passed. Where its head came is not
/// told: not before the request was sent.
bool arrived_in_time(const Told& told) {
  const AttemptBook& attempt = *told.attempt;
  if (attempt.arrived == kNever || attempt.dispatched == kNever) return false;
  // The coarse sweep of deadlines, twice.
  constexpr std::int64_t kSlack = 100'000'000;
  const auto patience =
      told.terms.stream_timeout.count() == 0 ? told.terms.timeout : told.terms.stream_timeout;
  return told.books.at(attempt.arrived).at <
         told.books.at(attempt.dispatched).at + patience.count() - kSlack;
}

/// A call that got nothing, or not all of it.
void judge_broken(const Told& told) {
  const Happening& now = told.now;
  const ProxyBook& proxy = told.books.proxy(now.proxy);
  if (now.excused || told.since_sent(proxy.killed)) return;
  if (now.status == 0) {
    // An answer that flowed may be cut before its head has left, and a connection that was at rest
    // may be closed as its next request arrives.
    const bool has_begun = told.record != nullptr && told.record->asked_by.contains(now.proxy) &&
                           told.since_sent(told.record->asked_by.at(now.proxy));
    if (has_begun && !told.since_sent(proxy.paused) &&
        !told.since_sent(told.meaning.last_received)) {
      told.blame(Rule::NotAnswered);
    }
    return;
  }
  const bool whole = told.attempt != nullptr && arrived_in_time(told);
  // An answer without a claim is nobody's record, whatever stands on the key.
  const bool recorded = now.word != Word::Bypassed && told.record != nullptr &&
                        told.record->standing == Standing::Completed && told.attempt != nullptr &&
                        &told.books.attempt(told.record->attempt) == told.attempt;
  if (whole && recorded && !told.since_sent(proxy.paused)) {
    told.blame(Rule::CutWithoutCause, told.attempt->arrived);
  }
}

}  // namespace

void judge_answer(Books& books, At where) {
  const Happening& now = books.at(where);
  CallBook& call = books.call(now.call);
  call.ended = where;
  MeaningBook& meaning = books.meaning(now.key);
  AttemptBook* attempt = now.attempt == Happening::kNone ? nullptr : &books.attempt(now.attempt);
  if (meaning.record == Happening::kNone && attempt != nullptr) meaning.record = attempt->record;
  RecordBook* record = meaning.record == Happening::kNone ? nullptr : &books.record(meaning.record);
  At asked = call.sent;
  if (record != nullptr) {
    const auto by_this = record->asked_by.find(now.proxy);
    if (by_this != record->asked_by.end()) asked = std::min(asked, by_this->second);
  }
  const Told told{books, where, now, call, books.terms(now.route), meaning, record, attempt, asked};
  if (now.cut || now.status == 0) return judge_broken(told);
  switch (now.word) {
    case Word::None: {
      const auto given = meaning.told.find({now.status, now.digest});
      const bool given_since = given != meaning.told.end() && told.since_sent(given->second);
      if (!given_since) told.blame(Rule::AnswerUntold);
      if (is_keyed(told.terms.policy)) told.blame(Rule::WordUntrue);
      return;
    }
    case Word::Executed:
    case Word::Unrecorded:
    case Word::MarkedIndeterminate:
    case Word::Bypassed:
      return judge_fresh(told);
    case Word::Replayed:
    case Word::Collapsed:
      return judge_repeated(told);
    default:
      return is_keyed(told.terms.policy) ? judge_refusal(told) : void();
  }
}

}  // namespace semel::sim
