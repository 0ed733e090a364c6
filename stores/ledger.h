#pragma once

#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "stores/record.h"
#include "stores/store.h"

namespace semel {

/// The law of records, in memory: every transition of `Store` as a function of the time passed in.
/// Nothing here waits, locks or reads a clock; both local stores own one.
///
/// @thread  One at a time: the owner locks, or is the only thread.
/// @source  spec 6; docs/store-contract.md.
class Ledger {
 public:
  struct Limits {
    std::size_t records_max = std::numeric_limits<std::size_t>::max();
    std::size_t bytes_max = std::numeric_limits<std::size_t>::max();  ///< See stored_bytes().
  };
  /// Whether changes are noted so that they can be written down and undone.
  enum class Journal : std::uint8_t { Off, On };
  /// One changed key and what stood there before. Absent: nothing did.
  struct Change {
    IdempotencyKey key;
    std::optional<Record> before;
  };

  explicit Ledger(Limits limits, Journal journal = Journal::Off)
      : limits_(limits), journal_(journal) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// @faults StoreFull: no room for another record. RecordCorrupt.
  [[nodiscard]] Result<ClaimReply> claim(const ClaimRequest& request, const Now& now);
  [[nodiscard]] Result<ClaimReply> supersede(const ClaimRequest& request, const Attempt& abandoned,
                                             const Now& now);
  /// @faults StoreFull: no room for this payload; the same without one would be taken.
  [[nodiscard]] Result<WriteReply> record(const Attempt& attempt, StoredResponsePtr response,
                                          const Now& now);
  [[nodiscard]] Result<WriteReply> release(const Attempt& attempt, const Now& now);
  [[nodiscard]] Result<WriteReply> mark_indeterminate(const Attempt& attempt,
                                                      IndeterminateReason reason,
                                                      std::optional<std::uint16_t> upstream_status,
                                                      const Now& now);
  [[nodiscard]] Result<std::optional<RecordView>> find(const IdempotencyKey& key, const Now& now);
  [[nodiscard]] Result<std::optional<RecordView>> find(const Reference& reference, const Now& now);
  [[nodiscard]] RecordPage list(const ListFilter& filter, const Now& now) const;
  [[nodiscard]] Result<ResolveReply> resolve(const Reference& reference,
                                             const Resolution& resolution, const Now& now);
  [[nodiscard]] std::size_t forget(const std::string& tenant, const Now& now);
  [[nodiscard]] SweepReport sweep(std::size_t limit, const Now& now);

  /// Fills in what the ledger knows: counts, the oldest unknown outcome, the last fence.
  void describe(StoreHealth& health) const;

  /// @owns The record stays where it is until the next call that changes its key.
  [[nodiscard]] const Record* peek(const IdempotencyKey& key) const;
  /// Puts a record, as a file holds it, over whatever stands under its key. Not journalled.
  void load(const IdempotencyKey& key, Record record);
  /// Takes a key away, as a file says. Not journalled.
  void unload(const IdempotencyKey& key);
  /// The claims of a process that is gone: EFFECTFUL to indeterminate(owner_lost), others to
  /// absent.
  void settle_lost_claims(const Now& now);
  /// What follows no transition: where the file holds the record, and whether its payload is warm.
  void place(const IdempotencyKey& key, std::uint64_t row);
  void warm(const IdempotencyKey& key, StoredResponsePtr response);
  void mark_corrupt(const IdempotencyKey& key);

  [[nodiscard]] Fence last_fence() const { return fence_; }
  void raise_fence(Fence fence) { fence_ = std::max(fence_, fence); }

  /// Since the last commit() or rollback(), oldest first; empty without a journal.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  void commit() { changes_.clear(); }
  /// Everything is as at the last commit(), but for the fence, which never falls.
  void rollback();

 private:
  using Entry = std::pair<const IdempotencyKey, Record>;
  struct Due {
    StoreTime at;
    IdempotencyKey key;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  struct ReferenceHash {
    std::size_t operator()(const Reference& reference) const noexcept {
      std::size_t hash;
      std::memcpy(&hash, reference.bytes.data(), sizeof hash);
      return hash;
    }
  };

  [[nodiscard]] Entry* lookup(const IdempotencyKey& key);
  [[nodiscard]] Entry* lookup(const Reference& reference);
  [[nodiscard]] Result<ClaimReply> grant(const ClaimRequest& request, Entry* before,
                                         const Now& now);
  [[nodiscard]] bool make_room(const Now& now);
  Record& begin_change(Entry& entry);
  void end_change(Entry& entry);
  void transition(Entry& entry, Record::State state, const Now& now);
  void complete(Entry& entry, StoredResponsePtr response, const Now& now);
  void mark(Entry& entry, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status,
            const Now& now);
  void erase(Entry& entry);
  void note(const Entry& entry);
  void index(Entry& entry);
  void unindex(const Entry& entry);

  Limits limits_;
  Journal journal_;
  Fence fence_;
  std::size_t bytes_ = 0;
  std::uint64_t contradicted_ = 0;
  std::unordered_map<IdempotencyKey, Record, KeyHash> records_;
  std::unordered_map<Reference, Entry*, ReferenceHash> by_reference_;
  std::map<std::uint64_t, Entry*> by_fence_;       ///< The order of list().
  std::map<std::uint64_t, Entry*> indeterminate_;  ///< The part of by_fence_ that is unknown.
  /// When sweep() should look again; a record that has moved on since leaves a stale entry.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Change> changes_;
};

/// A record as people see it, without its token. `response` stays null where it is in a file only.
[[nodiscard]] RecordView view_of(const IdempotencyKey& key, const Record& record, const Now& now);

}  // namespace semel
