// The rules of the record (guarantee 7, docs/store-contract.md): who may take a key, and what a
// write may change.
#include <algorithm>

#include "tests/sim/checker_books.h"

namespace semel::sim {
namespace {

void move_to(Books& books, RecordBook& record, Standing standing, At where) {
  record.left[static_cast<std::size_t>(record.standing)] = where;
  if (record.standing == Standing::Completed) {
    if (record.bare) record.left_bare = where;
    record.left_answer[record.answer] = where;
  }
  record.standing = standing;
  record.since = where;
  record.changed_at = books.at(where).at;
}

bool window_is_over(const Books& books, const RecordBook& record, std::uint16_t route,
                    std::int64_t now) {
  const RouteTerms& terms = books.terms(route);
  if (record.standing == Standing::Indeterminate) {
    return terms.indeterminate_retention &&
           now >= record.changed_at + terms.indeterminate_retention->count();
  }
  return now >= record.changed_at + terms.retention.count();
}

/// A process may take the place of its own claim of which it never heard, or which it gave back in
/// vain: nothing of it can have an effect.
bool is_disowned_by(Books& books, std::uint32_t holder_id, const Happening& now) {
  const AttemptBook& holder = books.attempt(holder_id);
  if (holder.proxy != now.proxy || holder.effect != kNever) return false;
  if (books.terms(holder.route).policy != Policy::Effectful) return true;
  if (holder.dispatched == kNever) return true;
  return holder.answered != kNever &&
         contains(books.terms(holder.route).release_on, books.at(holder.answered).status);
}

/// Whether the key was free to be given, and which run of the promise begins with it.
void judge_grant(Books& books, RecordBook& record, At where) {
  const Happening& now = books.at(where);
  const std::uint32_t holder = record.attempt;
  const std::uint16_t route =
      books.attempt(holder == Happening::kNone ? now.attempt : holder).route;
  const std::uint16_t asked = books.attempt(now.attempt).route;
  const bool effectful = books.terms(route).policy == Policy::Effectful ||
                         books.terms(asked).policy == Policy::Effectful;
  const auto blame = [&](Rule rule) {
    books.blame(rule, record.key, now.record, {record.since, where});
  };
  switch (record.standing) {
    case Standing::Absent:
    case Standing::Freed:
      return;
    case Standing::InFlight: {
      if (is_disowned_by(books, holder, now)) return;
      if (now.at < record.lease_end) return blame(Rule::GrantWhileHeld);
      if (effectful) return blame(Rule::EffectfulReclaimed);
      const auto& window = books.terms(route).indeterminate_retention;
      const bool swept = window && now.at >= record.lease_end + window->count();
      if (now.kind != Kind::Superseded && !swept) return blame(Rule::GrantWhileHeld);
      return;
    }
    case Standing::Completed:
      record.epoch += 1;
      if (!window_is_over(books, record, route, now.at)) blame(Rule::WindowCutShort);
      return;
    case Standing::Indeterminate:
      if (record.because == Because::OwnerLost && is_disowned_by(books, holder, now)) return;
      if (!window_is_over(books, record, route, now.at)) return blame(Rule::IndeterminateRunAgain);
      record.epoch += 1;
      return;
  }
}

void grant(Books& books, At where) {
  const Happening& now = books.at(where);
  RecordBook& record = books.record(now.record);
  if (now.fence <= books.last_fence) {
    books.blame(Rule::FenceNotRising, record.key, now.record, {where});
  }
  books.last_fence = std::max(books.last_fence, now.fence);
  AttemptBook& attempt = books.attempt(now.attempt);
  if (attempt.asked == kNever || attempt.record != now.record) {
    books.blame(Rule::GrantUnasked, record.key, now.record, {where});
  }
  if (attempt.asked != kNever &&
      now.at > books.at(attempt.asked).at + books.history.claim_deadline.count()) {
    books.blame(Rule::GrantLate, record.key, now.record, {attempt.asked, where});
  }
  if (attempt.granted != kNever && record.standing == Standing::InFlight &&
      record.attempt == now.attempt) {
    books.blame(Rule::GrantWhileHeld, record.key, now.record, {attempt.granted, where});
  } else {
    judge_grant(books, record, where);
  }
  if (record.standing == Standing::InFlight) judge_open_claim(books, now.record, where);
  move_to(books, record, Standing::InFlight, where);
  record.attempt = now.attempt;
  record.bare = false;
  record.lease_end = now.at + books.terms(attempt.route).lease.count();
  attempt.granted = where;
  attempt.fence = now.fence;
  attempt.record = now.record;
  attempt.proxy = now.proxy;
  attempt.epoch = record.epoch;
  books.by_fence[now.fence] = now.attempt;
}

bool has_told(const MeaningBook& meaning, const Answer& answer, bool any_body) {
  if (!any_body) return meaning.told.contains(answer);
  const auto same_status = meaning.told.lower_bound({answer.first, 0});
  return same_status != meaning.told.end() && same_status->first.first == answer.first;
}

void record_answer(Books& books, RecordBook& record, At where) {
  const Happening& now = books.at(where);
  const AttemptBook& attempt = books.attempt(now.attempt);
  const RouteTerms& terms = books.terms(attempt.route);
  const Answer answer{now.status, now.bare ? 0 : now.digest};
  const bool last = attempt.answered != kNever && books.at(attempt.answered).status == now.status &&
                    (now.bare || books.at(attempt.answered).digest == now.digest);
  // A repeated call has had several answers, of which an earlier one may have come later.
  const bool repeated = terms.policy == Policy::Idempotent && record.key != Happening::kNone &&
                        has_told(books.meaning(record.key), answer, now.bare);
  if (!last && !repeated) books.blame(Rule::RecordedUntold, record.key, now.record, {where});
  if (contains(terms.release_on, now.status) ||
      (terms.policy == Policy::Effectful && contains(terms.indeterminate_on, now.status))) {
    books.blame(Rule::RecordedFailure, record.key, now.record, {where});
  }
  if (record.standing == Standing::Completed) {
    if (!now.bare && !record.bare && record.answer != answer) {
      books.blame(Rule::RecordOverwritten, record.key, now.record, {record.since, where});
    }
    return;
  }
  move_to(books, record, Standing::Completed, where);
  record.answer = answer;
  record.bare = now.bare;
}

void release(Books& books, RecordBook& record, At where) {
  const Happening& now = books.at(where);
  AttemptBook& attempt = books.attempt(now.attempt);
  if (attempt.released == kNever) attempt.released = where;
  const RouteTerms& terms = books.terms(attempt.route);
  if (terms.policy == Policy::Effectful && attempt.dispatched != kNever) {
    const bool refused =
        attempt.answered != kNever && contains(terms.release_on, books.at(attempt.answered).status);
    if (!refused) {
      books.blame(Rule::ReleasedAfterDispatch, record.key, now.record, {attempt.dispatched, where});
    }
    if (attempt.effect != kNever) {
      books.blame(Rule::EffectAfterRelease, record.key, now.record, {attempt.effect, where});
    }
  }
  move_to(books, record, Standing::Absent, where);
}

/// The whole answer was there in time, and its living owner says that there is none.
void judge_mark_by_owner(Books& books, const RecordBook& record, At where) {
  const AttemptBook& attempt = books.attempt(record.attempt);
  if (attempt.arrived == kNever || attempt.dispatched == kNever) return;
  const Happening& arrived = books.at(attempt.arrived);
  const RouteTerms& terms = books.terms(attempt.route);
  if (contains(terms.indeterminate_on, arrived.status)) return;
  // The coarse sweep of deadlines, twice.
  constexpr std::int64_t kSlack = 100'000'000;
  const bool in_time =
      arrived.at < books.at(attempt.dispatched).at + terms.timeout.count() - kSlack;
  if (!in_time) return;
  books.suspect(Rule::FalseUnknown, record.key, attempt.record, {attempt.arrived, where},
                attempt.proxy, attempt.granted);
}

void mark(Books& books, RecordBook& record, At where) {
  const Happening& now = books.at(where);
  if (record.standing == Standing::Indeterminate) return;
  const AttemptBook& attempt = books.attempt(now.attempt);
  // Where its answer came and could not be recorded, it is not known to later callers either.
  if (books.terms(attempt.route).policy != Policy::Effectful && attempt.arrived == kNever) {
    books.blame(Rule::MarkedHarmless, record.key, now.record, {where});
  }
  if (now.because == Because::OwnerLost) {
    if (now.at < record.lease_end) {
      books.blame(Rule::MarkedEarly, record.key, now.record, {record.since, where});
    }
    judge_open_claim(books, now.record, where);
  } else {
    judge_mark_by_owner(books, record, where);
  }
  if (now.because == Because::Ended) record.lease_end = std::min(record.lease_end, now.at);
  move_to(books, record, Standing::Indeterminate, where);
  record.because = now.because;
}

}  // namespace

void judge_claim(Books& books, At where) {
  const Happening& now = books.at(where);
  AttemptBook& attempt = books.attempt(now.attempt);
  switch (now.kind) {
    case Kind::ClaimAsked:
      if (attempt.asked != kNever && attempt.record != now.record) {
        books.blame(Rule::GrantUnasked, Happening::kNone, now.record, {attempt.asked, where});
      }
      attempt.asked = where;
      books.record(now.record).asked_by[now.proxy] = where;
      attempt.record = now.record;
      attempt.proxy = now.proxy;
      attempt.route = now.route;
      return;
    case Kind::GrantedAgain: {
      const RecordBook& record = books.record(now.record);
      const bool own = record.standing == Standing::InFlight && record.attempt == now.attempt &&
                       attempt.fence == now.fence;
      if (!own) books.blame(Rule::GrantWhileHeld, record.key, now.record, {record.since, where});
      return;
    }
    case Kind::GrantTold:
      attempt.told = where;
      return;
    default:
      return grant(books, where);
  }
}

void judge_write(Books& books, At where) {
  const Happening& now = books.at(where);
  RecordBook& record = books.record(now.record);
  if (now.kind == Kind::WriteStale) {
    AttemptBook& attempt = books.attempt(now.attempt);
    attempt.lost = where;
    const bool stands = record.standing == Standing::InFlight ||
                        (record.standing == Standing::Indeterminate &&
                         !window_is_over(books, record, attempt.route, now.at));
    const bool own =
        record.attempt == now.attempt && (now.fence == 0 || now.fence == attempt.fence);
    // A reader's word is refused while the lease runs.
    if (stands && own && now.because != Because::OwnerLost) {
      books.blame(Rule::OwnerRefused, record.key, now.record, {record.since, where});
    }
    return;
  }
  // What is not there is released already; what its window has ended is not there.
  const bool gone = record.standing == Standing::Absent || record.standing == Standing::Freed;
  const bool owned = record.attempt == now.attempt;
  if (now.kind == Kind::Released) {
    if (gone || (record.standing == Standing::Completed &&
                 window_is_over(books, record, books.attempt(record.attempt).route, now.at))) {
      return;
    }
  }
  const bool expected = now.kind == Kind::Recorded ? record.standing != Standing::Absent
                                                   : record.standing == Standing::InFlight ||
                                                         record.standing == Standing::Indeterminate;
  if (!owned || !expected) {
    books.blame(Rule::StaleWriteTaken, record.key, now.record, {record.since, where});
    return;
  }
  switch (now.kind) {
    case Kind::Recorded:
      return record_answer(books, record, where);
    case Kind::Released:
      return release(books, record, where);
    case Kind::AttemptOver:
      record.lease_end = std::min(record.lease_end, now.at);
      return;
    default:
      return mark(books, record, where);
  }
}

void judge_word_of_operator(Books& books, At where) {
  const Happening& now = books.at(where);
  RecordBook& record = books.record(now.record);
  const auto blame = [&](Rule rule) {
    books.blame(rule, record.key, now.record, {record.since, where});
  };
  if (record.attempt != now.attempt) blame(Rule::ResolvedOther);
  judge_late_answer(books, now.record, where);
  const bool silent = record.standing == Standing::InFlight && now.at >= record.lease_end;
  if (record.standing != Standing::Indeterminate && !silent) blame(Rule::ResolvedKnown);
  if (now.kind == Kind::ResolvedHappened) {
    move_to(books, record, Standing::Completed, where);
    record.bare = now.bare;
    record.answer = {now.status, now.bare ? 0 : now.digest};
    if (now.attempt != Happening::kNone) books.attempt(now.attempt).ruled = where;
    return;
  }
  if (now.at < record.lease_end) blame(Rule::ResolvedAlive);
  move_to(books, record, Standing::Freed, where);
  record.epoch += 1;
}

void judge_end_of_record(Books& books, At where) {
  const Happening& now = books.at(where);
  RecordBook& record = books.record(now.record);
  const bool open =
      record.standing == Standing::InFlight || record.standing == Standing::Indeterminate;
  if (record.standing == Standing::Absent) return;
  judge_late_answer(books, now.record, where);
  if (now.kind == Kind::Forgotten) {
    if (open) return;
  } else {
    const std::uint16_t route = books.attempt(record.attempt).route;
    if (record.standing == Standing::InFlight) {
      const auto& window = books.terms(route).indeterminate_retention;
      const bool harmless = books.terms(route).policy != Policy::Effectful && window &&
                            now.at >= record.lease_end + window->count();
      if (!harmless) books.blame(Rule::ClaimExpired, record.key, now.record, {record.since, where});
    } else if (!window_is_over(books, record, route, now.at)) {
      books.blame(Rule::WindowCutShort, record.key, now.record, {record.since, where});
    }
  }
  move_to(books, record, Standing::Absent, where);
  record.epoch += 1;
}

void judge_open_claim(Books& books, std::uint32_t record_id, At where) {
  const RecordBook& record = books.record(record_id);
  if (record.standing != Standing::InFlight) return;
  const AttemptBook& attempt = books.attempt(record.attempt);
  if (attempt.told == kNever || attempt.told < attempt.granted) return;
  if (books.at(where).at < record.lease_end) return;
  books.suspect(Rule::LeftOpen, record.key, record_id, {attempt.granted, where}, attempt.proxy,
                attempt.granted);
}

void judge_late_answer(Books& books, std::uint32_t record_id, At where) {
  const RecordBook& record = books.record(record_id);
  if (record.standing != Standing::Indeterminate || record.because == Because::OwnerLost) return;
  const AttemptBook& attempt = books.attempt(record.attempt);
  if (attempt.arrived == kNever || attempt.dispatched == kNever) return;
  const RouteTerms& terms = books.terms(attempt.route);
  const Happening& arrived = books.at(attempt.arrived);
  if (contains(terms.indeterminate_on, arrived.status)) return;
  constexpr std::int64_t kSlack = 200'000'000;
  const auto heard =
      books.at(attempt.dispatched).at + terms.timeout.count() + terms.settle.count() - kSlack;
  if (arrived.at > heard || arrived.at + kSlack > books.at(where).at) return;
  books.suspect(Rule::LateIgnored, record.key, record_id, {record.since, attempt.arrived},
                attempt.proxy, attempt.granted);
}

}  // namespace semel::sim
