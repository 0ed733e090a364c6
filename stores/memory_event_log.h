#pragma once

#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "stores/event_span.h"
#include "stores/record.h"
#include "stores/transition.h"

namespace semel {

/// The transition log of one process: the newest transitions, gone with it.
///
/// @thread One at a time.
class MemoryEventLog {
 public:
  explicit MemoryEventLog(const EventRetention& kept);

  /// Takes what a ledger has noted. What is more than the log keeps goes at once.
  void append(const std::vector<Transition>& transitions, const Now& now);
  /// Drops up to `limit` that are too old. @return True if more are.
  [[nodiscard]] bool trim(std::size_t limit, const Now& now);
  void forget(const std::string& tenant);
  [[nodiscard]] Result<std::variant<EventPage, EventGap>> read(const EventFilter& filter) const;

 private:
  struct Entry {
    std::uint64_t number = 0;
    StoreTime noted{0};
    Transition transition;
  };
  void drop_oldest();
  [[nodiscard]] bool is_too_old(const Entry& entry, const Now& now) const;

  EventRetention kept_;
  EventSpan span_;
  std::deque<Entry> entries_;
};

}  // namespace semel
