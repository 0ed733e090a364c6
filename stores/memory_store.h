#pragma once

#include <mutex>
#include <optional>

#include "stores/ledger.h"
#include "stores/memory_event_log.h"
#include "stores/open.h"
#include "stores/store.h"

namespace semel {

/// Records of one process, gone with it. Its coroutines never suspend.
class MemoryStore final : public Store {
 public:
  MemoryStore(const MemoryOptions& options, StoreClock clock);

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
  void close() override;

 private:
  /// Runs one step of the ledger under the lock, with the time as it is once the lock is held.
  template <class Step>
  auto locked(Step step) -> decltype(step(std::declval<Ledger&>(), std::declval<const Now&>()));

  StoreClock clock_;
  std::mutex mutex_;
  std::optional<MemoryEventLog> log_;
  Ledger ledger_;
  std::vector<RouteTerms> routes_;
  bool closed_ = false;
};

}  // namespace semel
