// The rules of the wire to the tool and of the tool itself (guarantee 1, 3.5, 3.6, 4).
#include "tests/sim/checker_books.h"

namespace semel::sim {
namespace {

/// The attempt that a request belongs to, as its fence says; kNone: none that was granted.
std::uint32_t attempt_of(Books& books, const Happening& now) {
  if (now.attempt != Happening::kNone) {
    return books.attempt(now.attempt).granted == kNever ? Happening::kNone : now.attempt;
  }
  const auto known = books.by_fence.find(now.fence);
  return known == books.by_fence.end() ? Happening::kNone : known->second;
}

void judge_claimed_dispatch(Books& books, std::uint32_t attempt_id, At where) {
  const Happening& now = books.at(where);
  AttemptBook& attempt = books.attempt(attempt_id);
  const RecordBook& record = books.record(attempt.record);
  const RouteTerms& terms = books.terms(attempt.route);
  const auto blame = [&](Rule rule, At proof) {
    books.blame(rule, record.key, attempt.record, {proof, where});
  };
  if (attempt.told == kNever || attempt.proxy != now.proxy) {
    blame(Rule::DispatchUntold, attempt.granted);
  }
  const bool again = attempt.dispatched != kNever;
  if (again && terms.policy == Policy::Effectful) blame(Rule::DispatchTwice, attempt.dispatched);
  const bool late = now.at > books.at(attempt.asked).at + terms.dispatch_by.count();
  if (!again && late && !now.excused) blame(Rule::DispatchLate, attempt.asked);
  const bool held = record.standing == Standing::InFlight && record.attempt == attempt_id;
  if (!held && !now.excused) blame(Rule::DispatchWithoutClaim, record.since);
  if (!again) attempt.dispatched = where;
}

void receive(Books& books, std::uint32_t attempt_id, At where) {
  const Happening& now = books.at(where);
  MeaningBook& meaning = books.meaning(now.key);
  meaning.received += 1;
  meaning.last_received = where;
  if (books.terms(now.route).policy == Policy::None && meaning.received > meaning.calls) {
    books.blame(Rule::ForwardedTwice, now.key, now.record, {meaning.sent, where});
  }
  if (now.record != Happening::kNone) {
    meaning.record = now.record;
    RecordBook& record = books.record(now.record);
    if (record.key == Happening::kNone) record.key = now.key;
    if (record.key != now.key) {
      books.blame(Rule::KeysMixed, now.key, now.record, {record.since, where});
    }
  }
  if (attempt_id == Happening::kNone) return;
  AttemptBook& attempt = books.attempt(attempt_id);
  attempt.received = where;
  attempt.payload = now.payload;
  attempt.caller = now.caller;
}

void take_effect(Books& books, std::uint32_t attempt_id, At where) {
  const Happening& now = books.at(where);
  std::uint32_t epoch = now.record == Happening::kNone ? 0 : books.record(now.record).epoch;
  if (attempt_id != Happening::kNone) {
    AttemptBook& attempt = books.attempt(attempt_id);
    epoch = attempt.epoch;
    if (attempt.effect == kNever) attempt.effect = where;
    if (attempt.released != kNever && books.terms(attempt.route).policy == Policy::Effectful) {
      books.blame(Rule::EffectAfterRelease, now.key, attempt.record, {attempt.released, where});
    }
  }
  if (books.terms(now.route).policy != Policy::Effectful) return;
  const auto [first, is_first] = books.meaning(now.key).effects.emplace(epoch, where);
  if (!is_first) books.blame(Rule::SecondEffect, now.key, now.record, {first->second, where});
}

void answer(Books& books, std::uint32_t attempt_id, At where) {
  const Happening& now = books.at(where);
  if (now.cut) return;
  if (now.kind == Kind::ToolAnswered) {
    books.meaning(now.key).told[{now.status, now.digest}] = where;
    if (attempt_id != Happening::kNone) books.attempt(attempt_id).answered = where;
  } else if (attempt_id != Happening::kNone) {
    books.attempt(attempt_id).arrived = where;
  }
}

}  // namespace

void judge_dispatch(Books& books, At where) {
  const Happening& now = books.at(where);
  const bool bypasses = books.terms(now.route).forwards_when_down && now.fence == 0;
  if (!is_keyed(books.terms(now.route).policy) || bypasses) return;
  // The head did not leave whole: nobody can tell what it was, and nothing came of it.
  if (now.record == Happening::kNone && now.fence == 0 && now.attempt == Happening::kNone) return;
  const std::uint32_t attempt = attempt_of(books, now);
  if (attempt == Happening::kNone) {
    const std::uint32_t key =
        now.record == Happening::kNone ? Happening::kNone : books.record(now.record).key;
    books.blame(Rule::DispatchWithoutGrant, key, now.record, {where});
    return;
  }
  judge_claimed_dispatch(books, attempt, where);
}

void judge_tool(Books& books, At where) {
  const Happening& now = books.at(where);
  const std::uint32_t attempt = attempt_of(books, now);
  switch (now.kind) {
    case Kind::ToolReceived:
      return receive(books, attempt, where);
    case Kind::Effect:
      return take_effect(books, attempt, where);
    default:
      return answer(books, attempt, where);
  }
}

}  // namespace semel::sim
