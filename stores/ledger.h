#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stores/claim_terms.h"
#include "stores/due_queue.h"
#include "stores/fence_order.h"
#include "stores/ledger_entry.h"
#include "stores/record.h"
#include "stores/route_windows.h"
#include "stores/slab.h"
#include "stores/slot_index.h"
#include "stores/store.h"
#include "stores/transition.h"

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
    std::size_t bytes_max = std::numeric_limits<std::size_t>::max();      ///< See stored_bytes().
    std::size_t open_cost_max = std::numeric_limits<std::size_t>::max();  ///< See open_cost().
  };
  /// Whether an absent key was never claimed, or may be one that was lost.
  enum class Trust : std::uint8_t { Whole, Suspect };
  /// Whether changes are noted so that they can be written down and undone.
  enum class Journal : std::uint8_t { Off, On };
  /// Whether transitions are noted for the transition log.
  enum class Telling : std::uint8_t { Off, On };
  /// One changed key and what stood there at the last commit, but for its answer. Absent: nothing
  /// did, or what did is in an earlier change of the same key.
  struct Change {
    IdempotencyKey key;
    std::optional<Record> before;
  };

  explicit Ledger(Limits limits, Journal journal = Journal::Off, Telling telling = Telling::Off);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// @faults StoreFull: no room for another record, or for completing it. RecordCorrupt.
  ///         StoreSuspect: an EFFECTFUL key
  ///         that nobody holds, and whose record may have been lost.
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

  /// From now on the windows of these routes count too. Not journalled.
  void adopt(const std::vector<RouteTerms>& routes);

  /// Fills in what the ledger knows: counts, the oldest unknown outcome, the last fence.
  void describe(StoreHealth& health) const;

  /// @owns The record stays where it is until the next call that changes its key.
  [[nodiscard]] const Record* peek(const IdempotencyKey& key) const;
  /// Puts a record, as a file holds it, over whatever stands under its key. Not journalled.
  void load(const IdempotencyKey& key, Record record);
  /// Takes a key away, as a file says. Not journalled.
  void unload(const IdempotencyKey& key);
  /// The claims of a process that is gone: EFFECTFUL to indeterminate(owner_lost), of others the
  /// lease ends.
  void settle_lost_claims(const Now& now);
  /// What follows no transition: where the file holds the record, and whether its payload is warm.
  void place(const IdempotencyKey& key, std::uint64_t row);
  /// @param answer  Empty: it is in the file only.
  void warm(const IdempotencyKey& key, KeptAnswer answer);
  void mark_corrupt(const IdempotencyKey& key);

  [[nodiscard]] Fence last_fence() const { return fence_; }
  void raise_fence(Fence fence) { fence_ = std::max(fence_, fence); }
  /// What completing all claims that are open may cost: see completion_cost().
  [[nodiscard]] std::size_t open_cost() const { return open_cost_; }
  /// Claims that would cost more than this are refused.
  void limit_open_cost(std::size_t bytes) { limits_.open_cost_max = bytes; }
  /// True if the changes are what the owners of open claims write at their end, without payload.
  [[nodiscard]] bool only_completes() const;
  /// Not journalled.
  void trust(Trust trust) { trust_ = trust; }

  /// Since the last commit() or rollback(), oldest first; empty without a journal.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  /// Since then, in their order; empty where nobody is told.
  [[nodiscard]] const std::vector<Transition>& transitions() const { return transitions_; }
  void commit();
  /// Everything is as at the last commit(), but for the fence, which never falls.
  void rollback();

 private:
  [[nodiscard]] Slot lookup(const IdempotencyKey& key) const;
  [[nodiscard]] Slot lookup(const Reference& reference) const;
  /// Has the place of a reference that may be added fetched while its key is sought.
  void expect(const Reference& reference) const;
  /// @param before  What stands under the key; kNoSlot: nothing.
  [[nodiscard]] Result<ClaimReply> grant(const ClaimRequest& request, Slot before, const Now& now);
  [[nodiscard]] std::optional<Result<ClaimReply>> answer_of_earlier(const ClaimRequest& request,
                                                                    const Now& now) const;
  [[nodiscard]] bool is_absent(const Record& record, const ClaimRequest& request,
                               const Now& now) const;
  [[nodiscard]] bool make_room(const Now& now);
  [[nodiscard]] bool is_visible(const Record& record, const Now& now) const;
  /// A record as people see it, without its token and without its response.
  [[nodiscard]] RecordView view_of(const IdempotencyKey& key, const Record& record,
                                   const Now& now) const;
  [[nodiscard]] Result<std::optional<RecordView>> shown(Slot slot, const Now& now) const;
  [[nodiscard]] Slot add(const IdempotencyKey& key);
  [[nodiscard]] Slot add_unnoted(const IdempotencyKey& key);
  void drop(Slot slot);
  Record& begin_change(Slot slot);
  void end_change(Slot slot) { index_state(slot); }
  void transition(Slot slot, Record::State state, const Now& now);
  void complete(Slot slot, const StoredResponsePtr& response, const Now& now);
  void keep(Slot slot, KeptAnswer answer);
  void mark(Slot slot, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status,
            const Now& now);
  void erase(Slot slot);
  /// Notes what becomes of the record that stands there now.
  void tell(Slot slot, TransitionKind kind, const Now& now) {
    if (telling_ == Telling::On) transitions_.push_back(transition_of(slot, kind, now));
  }
  [[nodiscard]] Transition transition_of(Slot slot, TransitionKind kind, const Now& now) const;
  void note(Slot slot);
  void index(Slot slot);
  void unindex(Slot slot);
  void index_state(Slot slot);
  void unindex_state(Slot slot);

  Limits limits_;
  Journal journal_;
  Telling telling_;
  Trust trust_ = Trust::Whole;
  Fence fence_;
  std::size_t bytes_ = 0;
  std::size_t open_cost_ = 0;
  std::uint64_t contradicted_ = 0;
  std::uint64_t contradicted_at_commit_ = 0;
  TermsPool terms_;
  RouteWindows windows_;
  Slab<LedgerEntry> entries_;
  const std::uint64_t seed_;  ///< Of the hashes: nobody outside can choose keys that collide.
  SlotIndex by_key_;
  SlotIndex by_reference_;
  FenceOrder by_fence_;                          ///< The order of list().
  std::map<std::uint64_t, Slot> indeterminate_;  ///< The part of by_fence_ that is unknown.
  DueQueue due_{entries_};
  std::vector<Change> changes_;
  std::vector<Transition> transitions_;
};
}  // namespace semel
