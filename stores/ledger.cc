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

/// sweep() drops at most this many stale notes for each record that it may take.
constexpr std::size_t kStaleNotesPerRecord = 8;

/// What a caller whose bindings match is told of a record that is not absent.
ClaimReply answer(const Record& record, const ClaimRequest& request, const Now& now) {
  switch (record.state) {
    case Record::State::InFlight:
      if (record.lease_over(now)) {
        return Abandoned{record.token, record.fence, record.reference,
                         std::max(record.policy, request.policy)};
      }
      if (record.token == request.token) return Granted{record.fence, false};
      return Held{record.reference,
                  std::chrono::ceil<std::chrono::milliseconds>(record.lease_end - now.time)};
    case Record::State::Completed:
      return Completed{record.reference, record.response};
    case Record::State::Indeterminate:
      return Indeterminate{record.reference, record.reason, record.upstream_status};
    case Record::State::Freed:
    case Record::State::Corrupt:
      break;
  }
  SEMEL_CHECK(false && "an absent or unreadable record has no answer");
  return CallerDiffers{};
}

bool absent_to(const Record& record, const ClaimRequest& request, const Now& now) {
  if (record.state == Record::State::Freed) return true;
  const auto end = record.expires_at(request);
  return end && now.time >= *end;
}

std::optional<ClaimReply> refusal(const Record& record, const Bindings& bindings) {
  if (record.bindings.caller != bindings.caller) return CallerDiffers{};
  if (record.bindings != bindings) return PayloadDiffers{record.reference};
  return std::nullopt;
}

}  // namespace

Result<ClaimReply> Ledger::claim(const ClaimRequest& request, const Now& now) {
  Entry* entry = lookup(request.key);
  if (!entry) return grant(request, nullptr, now);
  const Record& record = entry->second;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (absent_to(record, request, now)) return grant(request, entry, now);
  if (auto refused = refusal(record, request.bindings)) return *std::move(refused);
  return answer(record, request, now);
}

Result<ClaimReply> Ledger::supersede(const ClaimRequest& request, const Attempt& abandoned,
                                     const Now& now) {
  Entry* entry = lookup(request.key);
  if (entry && entry->second.state == Record::State::InFlight) {
    const Record& record = entry->second;
    const bool harmless = std::max(record.policy, request.policy) == Policy::Idempotent;
    if (harmless && record.belongs_to(abandoned) && record.lease_over(now) &&
        !refusal(record, request.bindings)) {
      return grant(request, entry, now);
    }
  }
  return claim(request, now);
}

Result<ClaimReply> Ledger::grant(const ClaimRequest& request, Entry* before, const Now& now) {
  if (!before) {
    if (!make_room(now)) return Fault::StoreFull;
    before = &*records_.try_emplace(request.key).first;
    if (journal_ == Journal::On) changes_.push_back({request.key, std::nullopt});
  } else {
    note(*before);
    unindex(*before);
  }
  Record& record = before->second;
  const bool expired_before = record.fence.value != 0 && record.state != Record::State::InFlight &&
                              record.state != Record::State::Freed;
  fence_.value += 1;
  const std::uint64_t row = record.row;
  std::optional<FreedAttempt> freed_before;
  if (record.state == Record::State::Freed) freed_before = {record.token, record.fence};
  record = Record{};
  record.freed_before = freed_before;
  record.policy = request.policy;
  record.token = request.token;
  record.fence = fence_;
  record.reference = request.reference;
  record.bindings = request.bindings;
  record.tenant = request.tenant;
  record.route = request.route;
  record.lease_end = later(now.time, request.lease);
  record.changed_at = now.time;
  record.retention = request.retention;
  record.indeterminate_retention = request.indeterminate_retention;
  record.created = record.changed = now.wall;
  record.row = row;
  index(*before);
  return Granted{fence_, expired_before};
}

bool Ledger::make_room(const Now& now) {
  const auto full = [this] {
    return records_.size() >= limits_.records_max || bytes_ >= limits_.bytes_max;
  };
  if (!full()) return true;
  static_cast<void>(sweep(kReclaimBatch, now));
  return !full();
}

Result<WriteReply> Ledger::record(const Attempt& attempt, StoredResponsePtr response,
                                  const Now& now) {
  SEMEL_CHECK(response);
  Entry* entry = lookup(attempt.key);
  if (!entry) return WriteReply::Stale;
  Record& record = entry->second;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (record.freed_before == FreedAttempt{attempt.token, attempt.fence}) contradicted_ += 1;
  if (!record.belongs_to(attempt) || record.expired(now)) return WriteReply::Stale;
  if (record.state == Record::State::Completed) return WriteReply::Done;
  if (record.forgotten) response = without_payload(*response);
  if (bytes_ + stored_bytes(*response) > limits_.bytes_max && response->kept == BodyKept::Kept) {
    return Fault::StoreFull;
  }
  if (record.state == Record::State::Freed) contradicted_ += 1;
  complete(*entry, std::move(response), now);
  return WriteReply::Done;
}

Result<WriteReply> Ledger::release(const Attempt& attempt, const Now& now) {
  Entry* entry = lookup(attempt.key);
  if (!entry) return WriteReply::Done;
  const Record& record = entry->second;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!record.belongs_to(attempt)) return WriteReply::Stale;
  switch (record.state) {
    case Record::State::InFlight:
    case Record::State::Indeterminate:
      erase(*entry);
      return WriteReply::Done;
    case Record::State::Freed:
      return WriteReply::Done;
    case Record::State::Completed:
    case Record::State::Corrupt:
      break;
  }
  return record.expired(now) ? WriteReply::Done : WriteReply::Stale;
}

Result<WriteReply> Ledger::mark_indeterminate(const Attempt& attempt, IndeterminateReason reason,
                                              std::optional<std::uint16_t> upstream_status,
                                              const Now& now) {
  Entry* entry = lookup(attempt.key);
  if (!entry) return WriteReply::Stale;
  const Record& record = entry->second;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!record.belongs_to(attempt) || record.expired(now)) return WriteReply::Stale;
  if (record.state == Record::State::Indeterminate) {
    // The outcome stays as first told; that the attempt is over is news that an operator waits for.
    if (reason_ends_attempt(reason) && !record.lease_over(now)) {
      begin_change(*entry).lease_end = now.time;
      end_change(*entry);
    }
    return WriteReply::Done;
  }
  if (record.state != Record::State::InFlight) return WriteReply::Stale;
  if (reason == IndeterminateReason::OwnerLost && !record.lease_over(now)) {
    return WriteReply::Stale;
  }
  mark(*entry, reason, upstream_status, now);
  return WriteReply::Done;
}

Result<ResolveReply> Ledger::resolve(const Reference& reference, const Resolution& resolution,
                                     const Now& now) {
  Entry* entry = lookup(reference);
  if (!entry || entry->second.expired(now)) return ResolveReply::NotFound;
  const Record& record = entry->second;
  // An operator is a reader too: a lease that ended in silence is an unknown outcome already.
  const bool silent = record.state == Record::State::InFlight && record.lease_over(now) &&
                      record.policy == Policy::Effectful;
  if (record.state != Record::State::Indeterminate && !silent) return ResolveReply::NotUnknown;
  if (resolution.decision == Resolution::Decision::DidNotHappen) {
    if (!record.lease_over(now)) return ResolveReply::AttemptAlive;
    transition(*entry, Record::State::Freed, now);
    return ResolveReply::Done;
  }
  StoredResponsePtr response = resolution.response;
  if (!response) response = without_payload(StoredResponse{});
  if (record.forgotten) response = without_payload(*response);
  if (bytes_ + stored_bytes(*response) > limits_.bytes_max && response->kept == BodyKept::Kept) {
    return Fault::StoreFull;
  }
  complete(*entry, std::move(response), now);
  return ResolveReply::Done;
}

std::size_t Ledger::forget(const std::string& tenant, const Now& now) {
  std::vector<Entry*> theirs;
  for (const auto& [fence, entry] : by_fence_) {
    if (entry->second.tenant == tenant && !entry->second.forgotten) theirs.push_back(entry);
  }
  std::size_t forgotten = 0;
  for (Entry* entry : theirs) {
    const Record& record = entry->second;
    const bool open =
        record.state == Record::State::InFlight || record.state == Record::State::Indeterminate;
    if (!record.expired(now) && record.state != Record::State::Freed) forgotten += 1;
    if (!open || record.expired(now)) {
      erase(*entry);
      continue;
    }
    Record& emptied = begin_change(*entry);
    emptied.forgotten = true;
    emptied.tenant.clear();
    end_change(*entry);
  }
  return forgotten;
}

SweepReport Ledger::sweep(std::size_t limit, const Now& now) {
  SweepReport report;
  std::size_t taken = 0;
  std::size_t looked_at = 0;
  while (!due_.empty() && due_.top().at <= now.time) {
    if (taken == limit || looked_at == limit * kStaleNotesPerRecord) {
      report.more = true;
      break;
    }
    looked_at += 1;
    const IdempotencyKey key = due_.top().key;
    due_.pop();
    Entry* entry = lookup(key);
    if (!entry) continue;
    const Record& record = entry->second;
    if (record.state == Record::State::InFlight && record.policy == Policy::Effectful &&
        record.lease_over(now)) {
      mark(*entry, IndeterminateReason::OwnerLost, std::nullopt, now);
      report.owner_lost += 1;
      taken += 1;
    } else if (record.expired(now)) {
      if (record.state != Record::State::Freed) report.expired += 1;
      erase(*entry);
      taken += 1;
    }
  }
  return report;
}

void Ledger::settle_lost_claims(const Now& now) {
  std::vector<Entry*> open;
  for (const auto& [fence, entry] : by_fence_) {
    if (entry->second.state == Record::State::InFlight) open.push_back(entry);
  }
  for (Entry* entry : open) {
    if (entry->second.policy == Policy::Effectful) {
      mark(*entry, IndeterminateReason::OwnerLost, std::nullopt, now);
    } else {
      erase(*entry);
    }
  }
}

}  // namespace semel
