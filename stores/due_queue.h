#pragma once

#include <map>
#include <optional>

#include "stores/ledger_entry.h"
#include "stores/record.h"
#include "stores/slab.h"

namespace semel {

/// Tells which records housekeeping should look at, when their time has come.
///
/// Records with the same span from their last transition to that time come due in the order of
/// those transitions, and spans are few, as they stand in a configuration: one line for each,
/// linked through the entries themselves. A record that joins its line too late in time, as after a
/// rollback, waits in an ordered map instead.
class DueQueue {
 public:
  explicit DueQueue(Slab<LedgerEntry>& entries) : entries_(entries) {}

  /// @param slot  In no line. What is never due is not taken in.
  void add(Slot slot);
  /// @param slot  Its record is, as far as due_at() and changed_at go, as it was when added.
  void remove(Slot slot);
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
};

}  // namespace semel
