#pragma once

#include <memory>
#include <string>
#include <thread>

#include "stores/durable_ledger.h"
#include "stores/group_queue.h"
#include "stores/open.h"
#include "stores/store.h"

namespace semel {

/// Records of one machine that survive restart and power loss. One thread writes; what arrives
/// while it waits for the disk shares the next fsync, and nobody is answered before theirs.
///
/// @owns  Every io_context that calls has to live until close() has returned.
class SqliteStore final : public Store {
 public:
  /// @throws StoreError
  SqliteStore(const SqliteOptions& options, const StoreClock& clock);
  ~SqliteStore() override;

  Task<Result<ClaimReply>> claim(ClaimRequest request) override;
  Task<Result<WriteReply>> record(Attempt attempt, StoredResponsePtr response) override;
  Task<Result<WriteReply>> release(Attempt attempt) override;
  Task<Result<WriteReply>> mark_indeterminate(
      Attempt attempt, IndeterminateReason reason,
      std::optional<std::uint16_t> upstream_status) override;
  Task<Result<ClaimReply>> supersede(ClaimRequest request, Attempt abandoned) override;
  Task<Result<std::optional<RecordView>>> find(IdempotencyKey key) override;
  Task<Result<std::optional<RecordView>>> find(Reference reference) override;
  Task<Result<RecordPage>> list(ListFilter filter) override;
  Task<Result<ResolveReply>> resolve(Reference reference, Resolution resolution) override;
  Task<Result<std::size_t>> forget(std::string tenant) override;
  Task<Result<std::vector<RouteTerms>>> routes() override;
  Task<Result<void>> adopt_routes(std::vector<RouteTerms> routes) override;
  Task<Result<SweepReport>> sweep(std::size_t limit) override;
  Task<StoreHealth> health() override;
  Task<Result<bool>> acknowledge() override;
  Task<Result<std::variant<EventPage, EventGap>>> events(EventFilter filter) override;
  /// Finishes what is queued, then closes the file.
  void close() override;

  /// Makes the file. @return what was done, as a sentence. @throws StoreError
  [[nodiscard]] static std::string create(const SqliteOptions& options, const StoreClock& clock);
  /// acknowledge() on a file that nobody has open. @throws StoreError, StoreInUse
  [[nodiscard]] static Acknowledged acknowledge_closed(const SqliteOptions& options,
                                                       const StoreClock& clock);

 private:
  template <class T, class Step>
  class Call;

  /// Has the writer thread run `step(ledger, now)` and waits until what it says is durable.
  template <class T, class Step>
  Task<Result<T>> ask(Step step);

  void write();
  void carry_out(const CallGroup& group);
  [[nodiscard]] Result<void> commit_together(const CallGroup& group);

  std::unique_ptr<DurableLedger> ledger_;  ///< Of the writer thread, but for now().
  Now group_now_;                          ///< Of the writer thread.
  GroupQueue queue_;
  std::thread writer_;
};

}  // namespace semel
