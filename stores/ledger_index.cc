// How the ledger holds its records: the indices, the journal that undoes, and reading without
// change. Nothing here decides; the law is in ledger.cc.
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "core/check.h"
#include "stores/ledger.h"

namespace semel {
namespace {

std::uint64_t drawn_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Keys and references are spread already, but people may choose what a key is the digest of.
template <class Id>
std::uint32_t hash_of(const Id& id, std::uint64_t seed) {
  std::uint64_t prefix;
  std::memcpy(&prefix, id.bytes.data(), sizeof prefix);
  return static_cast<std::uint32_t>(((prefix ^ seed) * 0x9E3779B97F4A7C15u) >> 32);
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

RecordView Ledger::view_of(const IdempotencyKey& key, const Record& record, const Now& now) const {
  RecordView view;
  view.key = key;
  view.reference = record.reference;
  view.state = view_state(record.state);
  view.policy = record.policy();
  view.fence = record.fence;
  view.tenant = record.terms->tenant;
  view.route = record.terms->route;
  view.created = record.created;
  view.changed = record.changed;
  if (record.state == Record::State::Indeterminate) {
    view.reason = record.reason;
    view.upstream_status = record.upstream_status;
  }
  if (record.state != Record::State::Completed) {
    view.lease_left = std::chrono::ceil<std::chrono::milliseconds>(record.lease_end - now.time);
  }
  if (const auto end = windows_.end_of(record)) {
    view.expires_in = std::chrono::ceil<std::chrono::seconds>(*end - now.time);
  }
  return view;
}

Ledger::Ledger(Limits limits, Journal journal, Telling telling)
    : limits_(limits), journal_(journal), telling_(telling), seed_(drawn_seed()) {}

Result<std::optional<RecordView>> Ledger::find(const IdempotencyKey& key, const Now& now) {
  return shown(lookup(key), now);
}

Result<std::optional<RecordView>> Ledger::find(const Reference& reference, const Now& now) {
  return shown(lookup(reference), now);
}

Result<std::optional<RecordView>> Ledger::shown(Slot slot, const Now& now) const {
  if (slot == kNoSlot) return std::optional<RecordView>();
  const IdempotencyKey& key = entries_[slot].key;
  const Record& record = entries_[slot].record;
  if (record.state == Record::State::Corrupt) return Fault::RecordCorrupt;
  if (!is_visible(record, now)) return std::optional<RecordView>();
  RecordView view = view_of(key, record, now);
  view.response = record.answer.unpack();
  return std::optional(std::move(view));
}

bool Ledger::is_visible(const Record& record, const Now& now) const {
  return record.state != Record::State::Freed && record.state != Record::State::Corrupt &&
         !windows_.is_over(record, now);
}

RecordPage Ledger::list(const ListFilter& filter, const Now& now) const {
  const std::size_t limit = std::clamp<std::size_t>(filter.limit, 1, 1000);
  RecordPage page;
  const auto show = [&](Slot slot) {
    const LedgerEntry& entry = entries_[slot];
    const Record& record = entry.record;
    if (!is_visible(record, now)) return true;
    if (filter.state && view_state(record.state) != *filter.state) return true;
    if (filter.tenant && (record.forgotten || record.terms->tenant != *filter.tenant)) return true;
    if (page.records.size() == limit) {
      page.next = std::to_string(page.records.back().fence.value);
      return false;
    }
    page.records.push_back(view_of(entry.key, record, now));
    return true;
  };
  const Fence after{parse_cursor(filter.after)};
  if (filter.state == RecordView::State::Indeterminate) {
    auto at = indeterminate_.upper_bound(after.value);
    while (at != indeterminate_.end() && show(at->second)) ++at;
  } else {
    by_fence_.visit_after(after, show);
  }
  return page;
}

void Ledger::describe(StoreHealth& health) const {
  health.records = entries_.size();
  health.indeterminate = indeterminate_.size();
  health.last_fence = fence_;
  health.resolutions_contradicted = contradicted_;
  for (const auto& [fence, slot] : indeterminate_) {
    const auto changed = entries_[slot].record.changed;
    if (!health.oldest_indeterminate || changed < *health.oldest_indeterminate) {
      health.oldest_indeterminate = changed;
    }
  }
}

const Record* Ledger::peek(const IdempotencyKey& key) const {
  const Slot slot = lookup(key);
  return slot == kNoSlot ? nullptr : &entries_[slot].record;
}

void Ledger::load(const IdempotencyKey& key, Record record) {
  unload(key);
  raise_fence(record.fence);
  if (record.terms) record.terms = terms_.share(std::move(record.terms));
  const Slot slot = add_unnoted(key);
  entries_[slot].record = std::move(record);
  index(slot);
}

void Ledger::unload(const IdempotencyKey& key) {
  const Slot slot = lookup(key);
  if (slot == kNoSlot) return;
  unindex(slot);
  drop(slot);
}

void Ledger::place(const IdempotencyKey& key, std::uint64_t row) {
  const Slot slot = lookup(key);
  if (slot != kNoSlot) entries_[slot].record.row = row;
}

void Ledger::warm(const IdempotencyKey& key, KeptAnswer answer) {
  const Slot slot = lookup(key);
  if (slot == kNoSlot || entries_[slot].record.state != Record::State::Completed) return;
  keep(slot, std::move(answer));
}

void Ledger::keep(Slot slot, KeptAnswer answer) {
  Record& record = entries_[slot].record;
  bytes_ += answer.bytes();
  bytes_ -= record.answer.bytes();
  record.answer = std::move(answer);
}

void Ledger::mark_corrupt(const IdempotencyKey& key) {
  Record record;
  if (const Record* before = peek(key)) record.row = before->row;
  record.state = Record::State::Corrupt;
  load(key, std::move(record));
}

bool Ledger::only_completes() const {
  return std::all_of(changes_.begin(), changes_.end(), [this](const Change& change) {
    const Slot slot = lookup(change.key);
    if (!change.before) return slot == kNoSlot;  // Came and went: nothing is written.
    if (change.before->state != Record::State::InFlight) return false;
    if (slot == kNoSlot) return true;
    const Record& record = entries_[slot].record;
    if (record.state == Record::State::Indeterminate) return true;
    return record.state == Record::State::Completed &&
           record.answer.view().kept == BodyKept::NotKept;
  });
}

void Ledger::commit() {
  for (const Change& change : changes_) {
    const Slot slot = lookup(change.key);
    if (slot != kNoSlot) entries_[slot].noted = false;
  }
  changes_.clear();
  transitions_.clear();
  contradicted_at_commit_ = contradicted_;
}

void Ledger::rollback() {
  std::vector<Change> changes = std::exchange(changes_, {});
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    unload(change->key);
    if (change->before) load(change->key, *std::move(change->before));
  }
  transitions_.clear();
  contradicted_ = contradicted_at_commit_;
}

Slot Ledger::lookup(const IdempotencyKey& key) const {
  return by_key_.find(hash_of(key, seed_), [&](Slot slot) { return entries_[slot].key == key; });
}

Slot Ledger::lookup(const Reference& reference) const {
  return by_reference_.find(hash_of(reference, seed_), [&](Slot slot) {
    return entries_[slot].record.reference == reference;
  });
}

void Ledger::expect(const Reference& reference) const {
  by_reference_.expect(hash_of(reference, seed_));
}

Slot Ledger::add(const IdempotencyKey& key) {
  const Slot slot = add_unnoted(key);
  if (journal_ == Journal::On) {
    entries_[slot].noted = true;
    changes_.push_back({key, std::nullopt});
  }
  return slot;
}

Slot Ledger::add_unnoted(const IdempotencyKey& key) {
  const Slot slot = entries_.take();
  entries_[slot].key = key;
  by_key_.insert(hash_of(key, seed_), slot);
  return slot;
}

void Ledger::drop(Slot slot) {
  by_key_.erase(hash_of(entries_[slot].key, seed_), slot);
  entries_.give_back(slot);
}

void Ledger::transition(Slot slot, Record::State state, const Now& now) {
  Record& record = begin_change(slot);
  record.state = state;
  record.changed_at = now.time;
  record.changed = now.wall;
  record.answer = KeptAnswer();
  end_change(slot);
}

void Ledger::complete(Slot slot, const StoredResponsePtr& response, const Now& now) {
  transition(slot, Record::State::Completed, now);
  keep(slot, KeptAnswer(response));
}

void Ledger::mark(Slot slot, IndeterminateReason reason,
                  std::optional<std::uint16_t> upstream_status, const Now& now) {
  transition(slot, Record::State::Indeterminate, now);
  Record& record = entries_[slot].record;
  record.reason = reason;
  record.upstream_status = upstream_status;
  if (reason_ends_attempt(reason)) record.lease_end = std::min(record.lease_end, now.time);
  tell(slot, TransitionKind::Indeterminate, now);
}

Transition Ledger::transition_of(Slot slot, TransitionKind kind, const Now& now) const {
  const auto& [key, record, due, noted] = entries_[slot];
  Transition told;
  told.kind = kind;
  told.key = key;
  told.reference = record.reference;
  told.fence = record.fence;
  told.terms = record.terms;
  told.at = now.wall;
  if (kind == TransitionKind::Completed) told.status = record.answer.view().status;
  if (kind == TransitionKind::Resolved) told.happened = record.state == Record::State::Completed;
  if (kind == TransitionKind::Indeterminate) {
    told.reason = record.reason;
    told.status = record.upstream_status;
  }
  return told;
}

Record& Ledger::begin_change(Slot slot) {
  note(slot);
  unindex_state(slot);
  return entries_[slot].record;
}

void Ledger::erase(Slot slot) {
  note(slot);
  unindex(slot);
  drop(slot);
}

void Ledger::note(Slot slot) {
  LedgerEntry& entry = entries_[slot];
  if (journal_ == Journal::Off || entry.noted) return;
  entry.noted = true;
  changes_.push_back({entry.key, entry.record.without_answer()});
}

void Ledger::index(Slot slot) {
  const Record& record = entries_[slot].record;
  if (record.state != Record::State::Corrupt) {
    by_reference_.insert(hash_of(record.reference, seed_), slot);
    by_fence_.insert(record.fence, slot);
  }
  index_state(slot);
}

void Ledger::unindex(Slot slot) {
  const Record& record = entries_[slot].record;
  if (record.state != Record::State::Corrupt) {
    by_reference_.erase(hash_of(record.reference, seed_), slot);
    by_fence_.erase(record.fence, slot);
  }
  unindex_state(slot);
}

void Ledger::index_state(Slot slot) {
  const Record& record = entries_[slot].record;
  bytes_ += record.answer.bytes();
  open_cost_ += record.open_cost();
  if (record.state == Record::State::Indeterminate) {
    indeterminate_.emplace(record.fence.value, slot);
  }
  due_.add(slot);
}

void Ledger::unindex_state(Slot slot) {
  const Record& record = entries_[slot].record;
  bytes_ -= record.answer.bytes();
  open_cost_ -= record.open_cost();
  if (record.state == Record::State::Indeterminate) indeterminate_.erase(record.fence.value);
  due_.remove(slot);
}

}  // namespace semel
