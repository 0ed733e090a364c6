// How the ledger holds its records: the indices, the journal that undoes, and reading without
// change. Nothing here decides; the law is in ledger.cc.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "stores/ledger.h"

namespace semel {
namespace {

/// When sweep() has something to do with this record.
std::optional<StoreTime> due_at(const Record& record) {
  if (record.state == Record::State::InFlight) {
    if (record.policy == Policy::Effectful) return record.lease_end;
    return std::nullopt;
  }
  return record.expires_at();
}

bool visible(const Record& record, const Now& now) {
  return record.state != Record::State::Freed && record.state != Record::State::Corrupt &&
         !record.expired(now);
}

RecordView::State view_state(Record::State state) {
  switch (state) {
    case Record::State::InFlight:
      return RecordView::State::InFlight;
    case Record::State::Completed:
      return RecordView::State::Completed;
    case Record::State::Indeterminate:
      return RecordView::State::Indeterminate;
    case Record::State::Freed:
    case Record::State::Corrupt:
      break;
  }
  SEMEL_CHECK(false && "only a visible record has a view");
  return RecordView::State::InFlight;
}

/// A cursor of list(): the fence of the last record shown, in decimal.
std::uint64_t parse_cursor(const std::string& text) {
  std::uint64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

}  // namespace

RecordView view_of(const IdempotencyKey& key, const Record& record, const Now& now) {
  RecordView view;
  view.key = key;
  view.reference = record.reference;
  view.state = view_state(record.state);
  view.policy = record.policy;
  view.fence = record.fence;
  view.tenant = record.tenant;
  view.route = record.route;
  view.created = record.created;
  view.changed = record.changed;
  view.response = record.response;
  if (record.state == Record::State::Indeterminate) {
    view.reason = record.reason;
    view.upstream_status = record.upstream_status;
  }
  if (record.state == Record::State::InFlight) {
    view.lease_left = std::chrono::ceil<std::chrono::milliseconds>(record.lease_end - now.time);
  }
  if (const auto end = record.expires_at()) {
    view.expires_in = std::chrono::ceil<std::chrono::seconds>(*end - now.time);
  }
  return view;
}

Result<std::optional<RecordView>> Ledger::find(const IdempotencyKey& key, const Now& now) {
  const Entry* entry = lookup(key);
  if (entry && entry->second.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!entry || !visible(entry->second, now)) return std::optional<RecordView>();
  return std::optional<RecordView>(view_of(key, entry->second, now));
}

Result<std::optional<RecordView>> Ledger::find(const Reference& reference, const Now& now) {
  const Entry* entry = lookup(reference);
  if (!entry || !visible(entry->second, now)) return std::optional<RecordView>();
  return std::optional<RecordView>(view_of(entry->first, entry->second, now));
}

RecordPage Ledger::list(const ListFilter& filter, const Now& now) const {
  const bool unknown_only = filter.state == RecordView::State::Indeterminate;
  const auto& order = unknown_only ? indeterminate_ : by_fence_;
  const std::size_t limit = std::clamp<std::size_t>(filter.limit, 1, 1000);
  RecordPage page;
  for (auto at = order.upper_bound(parse_cursor(filter.after)); at != order.end(); ++at) {
    const auto& [key, record] = *at->second;
    if (!visible(record, now)) continue;
    if (filter.state && view_state(record.state) != *filter.state) continue;
    if (filter.tenant && (record.forgotten || record.tenant != *filter.tenant)) continue;
    if (page.records.size() == limit) {
      page.next = std::to_string(page.records.back().fence.value);
      break;
    }
    page.records.push_back(view_of(key, record, now));
    page.records.back().response.reset();
  }
  return page;
}

void Ledger::describe(StoreHealth& health) const {
  health.records = records_.size();
  health.indeterminate = indeterminate_.size();
  health.last_fence = fence_;
  health.resolutions_contradicted = contradicted_;
  for (const auto& [fence, entry] : indeterminate_) {
    const auto changed = entry->second.changed;
    if (!health.oldest_indeterminate || changed < *health.oldest_indeterminate) {
      health.oldest_indeterminate = changed;
    }
  }
}

const Record* Ledger::peek(const IdempotencyKey& key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}

void Ledger::load(const IdempotencyKey& key, Record record) {
  unload(key);
  raise_fence(record.fence);
  index(*records_.emplace(key, std::move(record)).first);
}

void Ledger::unload(const IdempotencyKey& key) {
  if (Entry* entry = lookup(key)) {
    unindex(*entry);
    records_.erase(key);
  }
}

void Ledger::place(const IdempotencyKey& key, std::uint64_t row) {
  if (Entry* entry = lookup(key)) entry->second.row = row;
}

void Ledger::warm(const IdempotencyKey& key, StoredResponsePtr response) {
  Entry* entry = lookup(key);
  if (!entry || entry->second.state != Record::State::Completed) return;
  if (entry->second.response) bytes_ -= stored_bytes(*entry->second.response);
  entry->second.response = std::move(response);
  if (entry->second.response) bytes_ += stored_bytes(*entry->second.response);
}

void Ledger::mark_corrupt(const IdempotencyKey& key) {
  Record record;
  if (const Record* before = peek(key)) record.row = before->row;
  record.state = Record::State::Corrupt;
  load(key, std::move(record));
}

void Ledger::rollback() {
  std::vector<Change> changes = std::exchange(changes_, {});
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    unload(change->key);
    if (change->before) load(change->key, *std::move(change->before));
  }
}

Ledger::Entry* Ledger::lookup(const IdempotencyKey& key) {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &*at;
}

Ledger::Entry* Ledger::lookup(const Reference& reference) {
  const auto at = by_reference_.find(reference);
  return at == by_reference_.end() ? nullptr : at->second;
}

void Ledger::transition(Entry& entry, Record::State state, const Now& now) {
  Record& record = begin_change(entry);
  record.state = state;
  record.changed_at = now.time;
  record.changed = now.wall;
  record.response.reset();
  end_change(entry);
}

void Ledger::complete(Entry& entry, StoredResponsePtr response, const Now& now) {
  transition(entry, Record::State::Completed, now);
  warm(entry.first, std::move(response));
}

void Ledger::mark(Entry& entry, IndeterminateReason reason,
                  std::optional<std::uint16_t> upstream_status, const Now& now) {
  transition(entry, Record::State::Indeterminate, now);
  Record& record = entry.second;
  record.reason = reason;
  record.upstream_status = upstream_status;
  if (reason_ends_attempt(reason)) record.lease_end = std::min(record.lease_end, now.time);
}

Record& Ledger::begin_change(Entry& entry) {
  note(entry);
  unindex(entry);
  return entry.second;
}

void Ledger::end_change(Entry& entry) { index(entry); }

void Ledger::erase(Entry& entry) {
  note(entry);
  unindex(entry);
  const IdempotencyKey key = entry.first;
  records_.erase(key);
}

void Ledger::note(const Entry& entry) {
  if (journal_ == Journal::On) changes_.push_back({entry.first, entry.second});
}

void Ledger::index(Entry& entry) {
  const Record& record = entry.second;
  if (record.response) bytes_ += stored_bytes(*record.response);
  if (record.state == Record::State::Corrupt) return;
  by_reference_.insert_or_assign(record.reference, &entry);
  by_fence_.emplace_hint(by_fence_.end(), record.fence.value, &entry);
  if (record.state == Record::State::Indeterminate) {
    indeterminate_.emplace(record.fence.value, &entry);
  }
  if (const auto due = due_at(record)) due_.push({*due, entry.first});
}

void Ledger::unindex(const Entry& entry) {
  const Record& record = entry.second;
  if (record.response) bytes_ -= stored_bytes(*record.response);
  if (record.state == Record::State::Corrupt) return;
  const auto at = by_reference_.find(record.reference);
  if (at != by_reference_.end() && at->second == &entry) by_reference_.erase(at);
  by_fence_.erase(record.fence.value);
  indeterminate_.erase(record.fence.value);
}

}  // namespace semel
