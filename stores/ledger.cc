// The law of records: what each operation of a store changes and answers. No lock, no clock, no
// file. memory_store calls it under its mutex, sqlite_store from its one writer thread.
#include "stores/ledger.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace semel {
namespace {

/// How many due records a full store looks through for room before it refuses a claim.
constexpr std::size_t kReclaimBatch = 64;

/// What a caller whose bindings match is told of a record that is not absent.
ClaimReply answer(const Record& record, const ClaimRequest& request, const Now& now) {
  switch (record.state) {
    case Record::State::InFlight:
      if (record.lease_over(now)) {
        return Abandoned{record.token, record.fence, record.reference,
                         std::max(record.policy(), request.policy)};
      }
      if (record.token == request.token) return Granted{record.fence, false};
      return Held{record.reference,
                  std::chrono::ceil<std::chrono::milliseconds>(record.lease_end - now.time)};
    case Record::State::Completed:
      return Completed{record.reference, record.answer.unpack()};
    case Record::State::Indeterminate:
      return Indeterminate{record.reference, record.reason, record.upstream_status};
    case Record::State::Freed:
    case Record::State::Corrupt:
      break;
  }
  SEMEL_CHECK(false && "an absent or unreadable record has no answer");
  return CallerDiffers{};
}

/// A claim of the asking process itself that never had an effect: unknown to nobody but the store.
bool is_disowned(const Record& record, const ClaimRequest& request) {
  const bool silent =
      record.state == Record::State::InFlight || (record.state == Record::State::Indeterminate &&
                                                  record.reason == IndeterminateReason::OwnerLost);
  return silent && std::find(request.disowned.begin(), request.disowned.end(), record.token) !=
                       request.disowned.end();
}

std::optional<ClaimReply> refusal(const Record& record, const Bindings& bindings) {
  if (record.terms->caller != bindings.caller) return CallerDiffers{};
  if (record.bindings() != bindings) return PayloadDiffers{record.reference};
  return std::nullopt;
}

}  // namespace

/// Nobody claims under an earlier key any more, so that nothing there can change to permission.
std::optional<Result<ClaimReply>> Ledger::answer_of_earlier(const ClaimRequest& request,
                                                            const Now& now) const {
  for (const EarlierKey& earlier : request.earlier) {
    const Slot slot = lookup(earlier.key);
    if (slot == kNoSlot) continue;
    const Record& record = entries_[slot].record;
    if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
    if (is_absent(record, request, now)) continue;
    if (auto refused = refusal(record, earlier.bindings)) return *std::move(refused);
    const bool in_flight = record.state == Record::State::InFlight;
    if (!in_flight || !record.lease_over(now)) return answer(record, request, now);
    // A silent holder: of an IDEMPOTENT call there is nothing to fear, of another the sweep will
    // say that its outcome is unknown.
    if (std::max(record.policy(), request.policy) == Policy::Effectful) {
      return Held{record.reference, std::chrono::milliseconds(0)};
    }
  }
  return std::nullopt;
}

Result<ClaimReply> Ledger::claim(const ClaimRequest& request, const Now& now) {
  if (auto told = answer_of_earlier(request, now)) return *std::move(told);
  expect(request.reference);
  const Slot slot = lookup(request.key);
  if (slot == kNoSlot) return grant(request, kNoSlot, now);
  const Record& record = entries_[slot].record;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (is_absent(record, request, now) || is_disowned(record, request)) {
    return grant(request, slot, now);
  }
  if (auto refused = refusal(record, request.bindings)) return *std::move(refused);
  return answer(record, request, now);
}

bool Ledger::is_absent(const Record& record, const ClaimRequest& request, const Now& now) const {
  if (record.state == Record::State::Freed) return true;
  const auto end = windows_.end_of(record, request);
  return end && now.time >= *end;
}

Result<ClaimReply> Ledger::supersede(const ClaimRequest& request, const Attempt& abandoned,
                                     const Now& now) {
  const Slot slot = lookup(request.key);
  if (slot != kNoSlot && entries_[slot].record.state == Record::State::InFlight) {
    const Record& record = entries_[slot].record;
    const bool harmless = std::max(record.policy(), request.policy) == Policy::Idempotent;
    if (harmless && record.belongs_to(abandoned) && record.lease_over(now) &&
        !refusal(record, request.bindings)) {
      return grant(request, slot, now);
    }
  }
  return claim(request, now);
}

Result<ClaimReply> Ledger::grant(const ClaimRequest& request, Slot before, const Now& now) {
  if (trust_ == Trust::Suspect && request.policy == Policy::Effectful) return Fault::StoreSuspect;
  if (before == kNoSlot && !make_room(now)) return Fault::StoreFull;
  const std::size_t cost = completion_cost(request);
  const std::size_t ends = before == kNoSlot ? 0 : entries_[before].record.open_cost();
  if (open_cost_ - ends + cost > limits_.open_cost_max) return Fault::StoreFull;
  const Slot slot = before == kNoSlot ? add(request.key) : before;
  if (before != kNoSlot) {
    note(slot);
    unindex(slot);
  }
  Record& record = entries_[slot].record;
  const bool expired_before = record.fence.value != 0 && record.state != Record::State::InFlight &&
                              record.state != Record::State::Freed && !is_disowned(record, request);
  if (expired_before) tell(slot, TransitionKind::Expired, now);
  std::optional<FreedAttempt> freed_before;
  if (record.state == Record::State::Freed) freed_before = {record.token, record.fence};
  fence_.value += 1;
  Record claimed;
  claimed.token = request.token;
  claimed.reference = request.reference;
  claimed.fence = fence_;
  claimed.lease_end = later(now.time, request.lease);
  claimed.changed_at = now.time;
  claimed.created = claimed.changed = now.wall;
  claimed.terms = terms_.share(request);
  claimed.set_extras(request.bindings.guards, request.bindings.fingerprint, freed_before);
  claimed.row = record.row;
  record = std::move(claimed);
  index(slot);
  tell(slot, TransitionKind::Claimed, now);
  return Granted{fence_, expired_before};
}

bool Ledger::make_room(const Now& now) {
  const auto full = [this] {
    return entries_.size() >= limits_.records_max || bytes_ >= limits_.bytes_max;
  };
  if (!full()) return true;
  static_cast<void>(sweep(kReclaimBatch, now));
  return !full();
}

Result<WriteReply> Ledger::record(const Attempt& attempt, StoredResponsePtr response,
                                  const Now& now) {
  SEMEL_CHECK(response);
  const Slot slot = lookup(attempt.key);
  if (slot == kNoSlot) return WriteReply::Stale;
  Record& record = entries_[slot].record;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (record.freed_before() == FreedAttempt{attempt.token, attempt.fence}) {
    contradicted_ += 1;
    return WriteReply::StaleAgainstWord;
  }
  if (!record.belongs_to(attempt) || windows_.is_over(record, now)) return WriteReply::Stale;
  if (record.state == Record::State::Completed) return WriteReply::Done;
  if (record.forgotten) response = without_payload(*response);
  if (bytes_ + stored_bytes(*response) > limits_.bytes_max && response->kept == BodyKept::Kept) {
    return Fault::StoreFull;
  }
  const bool against_word = record.state == Record::State::Freed;
  if (against_word) contradicted_ += 1;
  complete(slot, response, now);
  tell(slot, TransitionKind::Completed, now);
  return against_word ? WriteReply::DoneAgainstWord : WriteReply::Done;
}

Result<WriteReply> Ledger::release(const Attempt& attempt, const Now& now) {
  const Slot slot = lookup(attempt.key);
  if (slot == kNoSlot) return WriteReply::Done;
  const Record& record = entries_[slot].record;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!record.belongs_to(attempt)) return WriteReply::Stale;
  switch (record.state) {
    case Record::State::InFlight:
    case Record::State::Indeterminate:
      tell(slot, TransitionKind::Released, now);
      erase(slot);
      return WriteReply::Done;
    case Record::State::Freed:
      return WriteReply::Done;
    case Record::State::Completed:
    case Record::State::Corrupt:
      break;
  }
  return windows_.is_over(record, now) ? WriteReply::Done : WriteReply::Stale;
}

Result<WriteReply> Ledger::mark_indeterminate(const Attempt& attempt, IndeterminateReason reason,
                                              std::optional<std::uint16_t> upstream_status,
                                              const Now& now) {
  const Slot slot = lookup(attempt.key);
  if (slot == kNoSlot) return WriteReply::Stale;
  const Record& record = entries_[slot].record;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!record.belongs_to(attempt) || windows_.is_over(record, now)) return WriteReply::Stale;
  if (record.state == Record::State::Indeterminate) {
    // The outcome stays as first told; that the attempt is over is news that an operator waits for.
    if (reason_ends_attempt(reason) && !record.lease_over(now)) {
      begin_change(slot).lease_end = now.time;
      end_change(slot);
    }
    return WriteReply::Done;
  }
  if (record.state != Record::State::InFlight) return WriteReply::Stale;
  if (reason == IndeterminateReason::OwnerLost && !record.lease_over(now)) {
    return WriteReply::Stale;
  }
  mark(slot, reason, upstream_status, now);
  return WriteReply::Done;
}

Result<ResolveReply> Ledger::resolve(const Reference& reference, const Resolution& resolution,
                                     const Now& now) {
  const Slot slot = lookup(reference);
  if (slot == kNoSlot || windows_.is_over(entries_[slot].record, now))
    return ResolveReply::NotFound;
  const Record& record = entries_[slot].record;
  // An operator is a reader too: a lease that ended in silence is an unknown outcome already.
  const bool silent = record.state == Record::State::InFlight && record.lease_over(now) &&
                      windows_.stricter_policy(record) == Policy::Effectful;
  if (record.state != Record::State::Indeterminate && !silent) return ResolveReply::NotUnknown;
  if (resolution.decision == Resolution::Decision::DidNotHappen) {
    if (!record.lease_over(now)) return ResolveReply::AttemptAlive;
    transition(slot, Record::State::Freed, now);
    tell(slot, TransitionKind::Resolved, now);
    return ResolveReply::Done;
  }
  StoredResponsePtr response = resolution.response;
  if (!response) response = without_payload(StoredResponse{});
  if (record.forgotten) response = without_payload(*response);
  if (bytes_ + stored_bytes(*response) > limits_.bytes_max && response->kept == BodyKept::Kept) {
    return Fault::StoreFull;
  }
  complete(slot, response, now);
  tell(slot, TransitionKind::Resolved, now);
  return ResolveReply::Done;
}

std::size_t Ledger::forget(const std::string& tenant, const Now& now) {
  std::vector<Slot> theirs;
  by_fence_.visit_after({}, [&](Slot slot) {
    const Record& record = entries_[slot].record;
    if (record.terms->tenant == tenant && !record.forgotten) theirs.push_back(slot);
    return true;
  });
  std::size_t forgotten = 0;
  for (const Slot slot : theirs) {
    const Record& record = entries_[slot].record;
    const bool open =
        record.state == Record::State::InFlight || record.state == Record::State::Indeterminate;
    if (!windows_.is_over(record, now) && record.state != Record::State::Freed) forgotten += 1;
    if (!open || windows_.is_over(record, now)) {
      erase(slot);
      continue;
    }
    Record& emptied = begin_change(slot);
    ClaimTerms nameless = *emptied.terms;
    nameless.tenant.clear();
    emptied.terms = terms_.share(std::make_shared<const ClaimTerms>(std::move(nameless)));
    emptied.forgotten = true;
    end_change(slot);
  }
  terms_.purge();
  return forgotten;
}

SweepReport Ledger::sweep(std::size_t limit, const Now& now) {
  SweepReport report;
  for (std::size_t taken = 0;; ++taken) {
    const Slot slot = due_.due_by(now.time);
    if (slot == kNoSlot) return report;
    if (taken == limit) break;
    const Record& record = entries_[slot].record;
    const StoreTime due = windows_.due_at(record).value_or(StoreTime::max());
    if (record.state == Record::State::InFlight &&
        windows_.stricter_policy(record) == Policy::Effectful) {
      mark(slot, IndeterminateReason::OwnerLost, std::nullopt, now);
      report.owner_lost += 1;
    } else if (now.time < due) {
      due_.postpone(slot, due);
    } else {
      if (record.state != Record::State::Freed) {
        report.expired += 1;
        tell(slot, TransitionKind::Expired, now);
      }
      erase(slot);
    }
  }
  report.more = true;
  return report;
}

void Ledger::adopt(const std::vector<RouteTerms>& routes) {
  windows_.adopt(routes);
  due_.recall_postponed();
}

void Ledger::settle_lost_claims(const Now& now) {
  std::vector<Slot> open;
  by_fence_.visit_after({}, [&](Slot slot) {
    if (entries_[slot].record.state == Record::State::InFlight) open.push_back(slot);
    return true;
  });
  for (const Slot slot : open) {
    if (entries_[slot].record.policy() == Policy::Effectful) {
      mark(slot, IndeterminateReason::OwnerLost, std::nullopt, now);
    } else if (!entries_[slot].record.lease_over(now)) {
      // Only the next call knows today's policy, and the stricter one decides what becomes of it.
      Record& abandoned = begin_change(slot);
      abandoned.lease_end = abandoned.changed_at = now.time;
      abandoned.changed = now.wall;
      end_change(slot);
    }
  }
}

}  // namespace semel
