#include "stores/due_queue.h"

#include <algorithm>

#include "core/check.h"

namespace semel {
namespace {

/// Among so many lines an empty one is kept, so that one record after the other makes none anew.
constexpr std::size_t kIdleLinesMax = 64;

std::optional<StoreTime> own_due(const Record& record) {
  if (!record.terms) return std::nullopt;
  return record.due_at(record.window());
}

}  // namespace

void DueQueue::add(Slot slot) {
  LedgerEntry& entry = entries_[slot];
  SEMEL_CHECK(entry.due.place == DueLink::Place::Nowhere);
  const auto due = own_due(entry.record);
  if (!due || *due == StoreTime::max()) return;
  Line& line = lines_[*due - entry.record.changed_at];
  if (line.last != kNoSlot && entries_[line.last].record.changed_at > entry.record.changed_at) {
    entry.due.place = DueLink::Place::Straggler;
    stragglers_.emplace(*due, slot);
    return;
  }
  entry.due = {line.last, kNoSlot, DueLink::Place::Line};
  link_to_next(line, line.last) = slot;
  line.last = slot;
}

void DueQueue::remove(Slot slot) {
  LedgerEntry& entry = entries_[slot];
  const DueLink link = entry.due;
  if (link.place == DueLink::Place::Nowhere) return;
  if (link.place == DueLink::Place::Postponed) {
    const auto at = postponed_until_.find(slot);
    SEMEL_CHECK(at != postponed_until_.end());
    postponed_.erase({at->second, slot});
    postponed_until_.erase(at);
    entry.due = DueLink{};
    return;
  }
  const StoreTime due = own_due(entry.record).value();
  if (link.place == DueLink::Place::Line) {
    const auto at = lines_.find(due - entry.record.changed_at);
    SEMEL_CHECK(at != lines_.end());
    Line& line = at->second;
    link_to_next(line, link.previous) = link.next;
    link_to_previous(line, link.next) = link.previous;
    if (line.first == kNoSlot && lines_.size() > kIdleLinesMax) lines_.erase(at);
  } else {
    const auto [first, last] = stragglers_.equal_range(due);
    const auto at =
        std::find_if(first, last, [&](const auto& other) { return other.second == slot; });
    SEMEL_CHECK(at != last);
    stragglers_.erase(at);
  }
  entry.due = DueLink{};
}

void DueQueue::postpone(Slot slot, StoreTime until) {
  SEMEL_CHECK(entries_[slot].due.place != DueLink::Place::Nowhere);
  remove(slot);
  entries_[slot].due.place = DueLink::Place::Postponed;
  postponed_.emplace(until, slot);
  postponed_until_.emplace(slot, until);
}

void DueQueue::recall_postponed() {
  postponed_.clear();
  for (auto& [slot, until] : postponed_until_) {
    until = StoreTime::min();
    postponed_.emplace(until, slot);
  }
}

Slot DueQueue::due_by(StoreTime now) const {
  if (!postponed_.empty() && postponed_.begin()->first <= now) return postponed_.begin()->second;
  if (!stragglers_.empty() && stragglers_.begin()->first <= now) {
    return stragglers_.begin()->second;
  }
  for (const auto& [span, line] : lines_) {
    if (line.first == kNoSlot) continue;
    if (entries_[line.first].record.changed_at + span <= now) return line.first;
  }
  return kNoSlot;
}

Slot& DueQueue::link_to_next(Line& line, Slot slot) {
  return slot == kNoSlot ? line.first : entries_[slot].due.next;
}

Slot& DueQueue::link_to_previous(Line& line, Slot slot) {
  return slot == kNoSlot ? line.last : entries_[slot].due.previous;
}

}  // namespace semel
