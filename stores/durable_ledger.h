#pragma once

#include <deque>
#include <memory>
#include <string>

#include "stores/file_lock.h"
#include "stores/ledger.h"
#include "stores/loss_watch.h"
#include "stores/space_reserve.h"
#include "stores/sqlite_events.h"
#include "stores/sqlite_log.h"
#include "stores/state_lock.h"
#include "stores/store_timeline.h"

namespace semel {

struct SqliteOptions;

/// A ledger whose changes become durable in groups. Metadata of every record is in memory; bodies
/// are there while they are young or asked for, and in the file always.
///
/// @thread  One at a time; now() any.
class DurableLedger {
 public:
  /// Whether a file that may be mixed with another one's write-ahead log is taken as it is.
  enum class Mixed : std::uint8_t { Refuse, Take };

  /// Locks the file and the folder of its witness, reads it, compares it with its tally and its
  /// witness, and settles the claims of a process that is gone, durably.
  /// @throws StoreError
  DurableLedger(const SqliteOptions& options, const StoreClock& clock, Mixed mixed = Mixed::Refuse);

  [[nodiscard]] Now now() const { return timeline_.now(); }
  [[nodiscard]] Ledger& records() { return records_; }
  [[nodiscard]] SqliteEvents& events() { return *events_; }

  /// Before a claim of that completion_cost(): none is granted that could not be completed on a
  /// full disk. 0: only what is open already.
  void keep_reserve(std::size_t cost);

  /// Makes all changes since the last commit durable in one transaction. Without any it does
  /// nothing. On a full disk the ends of open claims draw on the reserve; until that is whole again
  /// nothing else is written.
  /// @faults  Everything is as at the last commit. StoreFull: the next may succeed. StoreBroken:
  /// none
  ///          ever will; a re-open tells whether this one reached the disk.
  [[nodiscard]] Result<void> commit(const Now& now);

  /// Fills in a body that is in the file only.
  [[nodiscard]] Result<ClaimReply> with_body(const ClaimRequest& request, Result<ClaimReply> reply);
  [[nodiscard]] Result<std::optional<RecordView>> with_body(
      Result<std::optional<RecordView>> found);

  /// The next commit() deletes up to `rows` more rows that nothing refers to.
  /// @return true if more than that are waiting.
  bool reclaim(std::size_t rows);
  /// The next commit() deletes all of them and leaves no trace in the write-ahead log either.
  void reclaim_all();

  /// Housekeeping of the file itself, once the callers have their answers.
  [[nodiscard]] Result<void> tidy();

  /// As the group that is under way leaves them.
  /// @faults RecordCorrupt: the file's cannot be read.
  [[nodiscard]] Result<std::vector<RouteTerms>> routes() const {
    if (adopting_) return *adopting_;
    return routes_;
  }
  /// Counts from the next commit() on.
  void adopt(std::vector<RouteTerms> routes) { adopting_ = std::move(routes); }

  [[nodiscard]] const LossWatch& watch() const { return *watch_; }
  /// The store counts as whole from now on. @return true if it was suspect.
  /// @faults StoreUnreachable: that cannot be noted durably, and nothing was changed.
  [[nodiscard]] Result<bool> acknowledge();

  [[nodiscard]] bool broken() const { return broken_; }
  void describe(StoreHealth& health) const;

 private:
  struct WarmBody {
    IdempotencyKey key;
    std::uint64_t row = 0;
    std::size_t bytes = 0;
  };

  void read_rows(const std::string& path);
  /// @return why the rows may not be all, as a clause; empty: they are.
  /// @throws StoreError where the file is not to be written.
  [[nodiscard]] std::string doubt_rows(const SqliteOptions& options, Mixed mixed);
  /// Whether the file is the witness's, and what is read from it is not.
  void compare_with_witness(const SqliteOptions& options, const std::string& doubt);
  /// Everything but the file is as at the last commit().
  void undo();
  /// What the transaction under way has done in the file is undone, and nothing else.
  void roll_back(std::size_t dead_rows_before);
  [[nodiscard]] Result<void> write_transaction(const Now& now);
  [[nodiscard]] Result<void> write_with_reserve(const Now& now);
  [[nodiscard]] bool is_reserve_spent() const;
  [[nodiscard]] Result<void> write_change(const Ledger::Change& change,
                                          std::uint64_t last_row_before);
  [[nodiscard]] Result<StoredResponsePtr> read_body(const IdempotencyKey& key);
  void remember_body(const IdempotencyKey& key, const Record& record);
  [[nodiscard]] Fault note_fault(Fault fault);

  FileLock lock_;
  StateLock state_lock_;
  bool log_was_beside_;  ///< When the file was opened.
  SqliteLog log_;
  StoreTimeline timeline_;
  Ledger records_;
  std::unique_ptr<SqliteEvents> events_;
  const std::size_t writes_for_each_end_;  ///< Of a claim: its record, and its event.
  SpaceReserve reserve_;
  bool asked_for_space_ = false;  ///< In vain, by a claim of this group.
  bool is_disk_full_ = false;     ///< As the last transaction found it.
  bool makes_room_ = false;       ///< The next tidy() does, if the disk is full.
  std::unique_ptr<LossWatch> watch_;
  Fence durable_fence_;  ///< What the witness may know.
  /// Rows that nothing refers to. Deleted from the front only: of one key, an older row never
  /// outlives the younger one that overruled it, or a re-open would bring it back.
  std::deque<std::uint64_t> dead_rows_;
  Result<std::vector<RouteTerms>> routes_;
  std::optional<std::vector<RouteTerms>> adopting_;  ///< By the group that is not committed yet.
  std::size_t reclaim_ = 0;
  bool purge_ = false;
  std::deque<WarmBody> warm_;
  std::size_t warm_bytes_ = 0;
  std::uint64_t commits_ = 0;
  bool broken_ = false;
};

}  // namespace semel
