#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "stores/ledger_entry.h"
#include "stores/record.h"
#include "stores/slab.h"

namespace semel {

/// Tells which records housekeeping should look at, when their time has come.
///
/// Records with the same span from their last transition to that time come due in the order of
/// those transitions, and spans are few, as they stand in a configuration: one line for each,
/// linked through the entries themselves. A record that joins its line too late in time, as after a
/// rollback, waits in an ordered map instead. So does one that was looked at when its time had come
/// and turned out to be kept longer.
class DueQueue {
 public:
  explicit DueQueue(Slab<LedgerEntry>& entries) : entries_(entries) {}

  /// @param slot  In no line. What is never due is not taken in.
  void add(Slot slot);
  /// @param slot  Its record is, as far as due_at() and changed_at go, as it was when added.
  void remove(Slot slot);
  /// @param slot  In a line or postponed: shown again at `until`. Max: only if it is recalled.
  void postpone(Slot slot, StoreTime until);
  /// What was postponed is due at once: there is news of how long it is kept.
  void recall_postponed();
  /// A record that is due by now; kNoSlot if there is none.
  [[nodiscard]] Slot due_by(StoreTime now) const;

 private:
  struct Line {
    Slot first = kNoSlot;
    Slot last = kNoSlot;
  };

  [[nodiscard]] Slot& link_to_next(Line& line, Slot slot);
  [[nodiscard]] Slot& link_to_previous(Line& line, Slot slot);

  Slab<LedgerEntry>& entries_;
  std::map<StoreTime, Line> lines_;  ///< By span.
  std::multimap<StoreTime, Slot> stragglers_;
  std::set<std::pair<StoreTime, Slot>> postponed_;
  std::unordered_map<Slot, StoreTime> postponed_until_;
};

}  // namespace semel
