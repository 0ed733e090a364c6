#include "stores/memory_event_log.h"

#include <algorithm>
#include <utility>

#include "io/random.h"

namespace semel {
MemoryEventLog::MemoryEventLog(const EventRetention& kept) : kept_(kept) {
  // A restart begins another log, of which no position of this one is.
  span_.log = to_hex(RandomBits().draw<struct EventLogTag>());
}

void MemoryEventLog::append(const std::vector<Transition>& transitions, const Now& now) {
  for (const Transition& transition : transitions) {
    span_.last += 1;
    entries_.push_back({span_.last, now.time, transition});
    if (entries_.size() > kept_.count) drop_oldest();
  }
}

void MemoryEventLog::drop_oldest() {
  span_.trimmed = entries_.front().number;
  entries_.pop_front();
}

bool MemoryEventLog::is_too_old(const Entry& entry, const Now& now) const {
  return now.time >= later(entry.noted, kept_.age);
}

bool MemoryEventLog::trim(std::size_t limit, const Now& now) {
  for (std::size_t dropped = 0; !entries_.empty() && is_too_old(entries_.front(), now); ++dropped) {
    if (dropped == limit) return true;
    drop_oldest();
  }
  return false;
}

void MemoryEventLog::forget(const std::string& tenant) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return entry.transition.terms->tenant == tenant; });
}

Result<std::variant<EventPage, EventGap>> MemoryEventLog::read(const EventFilter& filter) const {
  using Told = std::variant<EventPage, EventGap>;
  const auto found = span_.find(filter.after);
  if (!found) return found.error();
  if (const auto* gap = std::get_if<EventGap>(&*found)) return Told(*gap);
  const std::uint64_t after = std::get<std::uint64_t>(*found);
  auto entry = std::upper_bound(
      entries_.begin(), entries_.end(), after,
      [](std::uint64_t number, const Entry& behind) { return number < behind.number; });
  EventPage page;
  page.next = span_.position(after);
  const std::size_t limit = EventSpan::page_limit(filter);
  for (; entry != entries_.end() && page.events.size() < limit; ++entry) {
    page.next = span_.position(entry->number);
    page.events.push_back(event_of(entry->transition, page.next));
  }
  return Told(std::move(page));
}

}  // namespace semel
