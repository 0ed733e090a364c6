#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/route_terms.h"
#include "io/task.h"
#include "stores/claim_reply.h"
#include "stores/event.h"
#include "stores/record_view.h"

namespace semel {

/// What an operator, or a read-back, found out about an unknown outcome.
struct Resolution {
  enum class Decision : std::uint8_t { Happened, DidNotHappen };
  Decision decision = Decision::Happened;
  StoredResponsePtr response;  ///< Happened only. Absent: completed with "body not kept", status 0.
};
enum class ResolveReply : std::uint8_t {
  Done,
  NotFound,      ///< No record has this reference: that attempt is no longer current.
  NotUnknown,    ///< It is not indeterminate.
  AttemptAlive,  ///< The lease is alive and the attempt may still run: only Happened is taken now.
};

struct SweepReport {
  std::size_t expired = 0;     ///< Records whose window passed: erased.
  std::size_t owner_lost = 0;  ///< EFFECTFUL claims whose lease was over: marked indeterminate.
  bool more = false;           ///< The batch was full: call again.
  bool turned_away = false;    ///< Another process is at it: who knows whether there are more.
};

struct StoreHealth {
  bool up = false;
  bool suspect = false;    ///< Records may have been lost: unknown EFFECTFUL keys are refused.
  std::string remark;      ///< What an operator should read at the start; empty: nothing.
  std::string durability;  ///< The grade in words: `volatile`, `fsync per group`.
  std::size_t records = 0;
  std::size_t indeterminate = 0;
  std::optional<std::chrono::system_clock::time_point> oldest_indeterminate;
  std::string store_id;       ///< Drawn when the store was made, in hex; empty for memory.
  Fence last_fence;           ///< The highest that was ever given: what a witness compares.
  std::uint64_t commits = 0;  ///< Groups made durable since the store was opened; memory: 0.
  std::uint64_t resolutions_contradicted = 0;  ///< Late answers after "it did not happen".
};

/// Boot time never jumps and goes on in suspend; wall time may jump. Tests move both by hand.
struct StoreClock {
  std::function<std::chrono::nanoseconds()> boot;
  std::function<std::chrono::system_clock::time_point()> wall;
  [[nodiscard]] static StoreClock real();  ///< CLOCK_BOOTTIME and CLOCK_REALTIME.
};

/// What Semel remembers. Every transition is one atomic compare-and-set on state, token and fence.
/// No answer is given before the state that it reports is as durable as the grade says.
///
/// @faults  Every operation: StoreUnreachable, StoreFull: nothing was changed. StoreBroken: nothing
///          is answered until a re-open, which may find that the call reached the disk after all.
///          StoreTimeout: it MAY have been carried out. RecordCorrupt: this key is unusable.
/// @thread  Any worker may call; each coroutine resumes on the executor it was called from.
/// @source  docs/store-contract.md; checked by StoreConformance.
class Store {
 public:
  virtual ~Store() = default;

  /// Takes the key, or says why not, in one atomic step. Never waits for a holder. Asked again with
  /// the same token it finds its own claim: Granted with the same fence.
  /// @faults StoreSuspect: an EFFECTFUL key that the store does not know and may have lost.
  /// @faults StoreTimeout: the claim MAY have been taken; ask again with the same token or release
  /// it.
  virtual Task<Result<ClaimReply>> claim(ClaimRequest request) = 0;

  /// in_flight -> completed; the retention of the claim starts now. Also indeterminate -> completed
  /// for late news of the same attempt. A response without a body kept has `NotKept`.
  virtual Task<Result<WriteReply>> record(Attempt attempt, StoredResponsePtr response) = 0;

  /// in_flight -> absent (and indeterminate -> absent for late news); the fence counter stays.
  virtual Task<Result<WriteReply>> release(Attempt attempt) = 0;

  /// in_flight -> indeterminate. The owner passes its own token; a reader that found Abandoned
  /// passes the token and fence that it was shown, and the store checks that the lease is over.
  /// Repeated with the same attempt on an indeterminate record: Done, nothing changes.
  virtual Task<Result<WriteReply>> mark_indeterminate(
      Attempt attempt, IndeterminateReason reason,
      std::optional<std::uint16_t> upstream_status) = 0;

  /// An abandoned IDEMPOTENT claim passes to `request`: in_flight with the new token and fence + 1.
  /// If `abandoned` no longer stands there: what claim() would have answered.
  virtual Task<Result<ClaimReply>> supersede(ClaimRequest request, Attempt abandoned) = 0;

  virtual Task<Result<std::optional<RecordView>>> find(IdempotencyKey key) = 0;
  virtual Task<Result<std::optional<RecordView>>> find(Reference reference) = 0;
  virtual Task<Result<RecordPage>> list(ListFilter filter) = 0;

  /// indeterminate -> completed, or -> absent with fence and token kept (a late answer of that
  /// attempt still completes it if nobody claimed since).
  virtual Task<Result<ResolveReply>> resolve(Reference reference, Resolution resolution) = 0;

  /// Erases the tenant's completed records; open ones keep a payload-free tombstone until their
  /// window ends. @return how many were erased or emptied.
  virtual Task<Result<std::size_t>> forget(std::string tenant) = 0;

  /// What the keys of this store were last made under; empty for a new store.
  /// @faults RecordCorrupt: it cannot be read: what was promised is unknown.
  virtual Task<Result<std::vector<RouteTerms>>> routes() = 0;

  /// Replaces that, durably. From now on a record is kept for the longer of its own window and that
  /// of the route of its name.
  /// @faults StoreTimeout: routes(), asked after it, tells whether it was carried out.
  virtual Task<Result<void>> adopt_routes(std::vector<RouteTerms> routes) = 0;

  /// One bounded batch of housekeeping, at most `limit` records.
  virtual Task<Result<SweepReport>> sweep(std::size_t limit) = 0;

  virtual Task<StoreHealth> health() = 0;

  /// An operator's word that a suspect store is what it should be, kept over restarts.
  /// @return true if it was suspect.
  virtual Task<Result<bool>> acknowledge() = 0;

  /// Waits for a sign that the record of `key` may have changed, as a follower does whose leader is
  /// in another process. A hint: there may be none, and one may come for nothing. A store that no
  /// other process shares gives none.
  /// @param until  It has returned by then.
  virtual Task<void> await_change(IdempotencyKey key, std::chrono::steady_clock::time_point until);

  /// A page of the transition log, or what is missing from it. Where the log is off: a page with
  /// nothing in it, not even `next`.
  /// @faults RecordCorrupt: `after` is no position of this store. EventCorrupt: one of the events
  /// that were asked for cannot be read; a smaller page tells those before it.
  virtual Task<Result<std::variant<EventPage, EventGap>>> events(EventFilter filter);

  /// After the last call: ends threads and closes files. Operations under way end with a fault.
  virtual void close() = 0;
};

}  // namespace semel
