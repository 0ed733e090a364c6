// The store of one process: the ledger under one mutex, which is never held across a co_await.
#include "stores/memory_store.h"

#include <utility>

namespace semel {
namespace {

std::optional<MemoryEventLog> log_of(const MemoryOptions& options) {
  if (!options.events) return std::nullopt;
  return MemoryEventLog(*options.events);
}

}  // namespace

MemoryStore::MemoryStore(const MemoryOptions& options, StoreClock clock)
    : clock_(std::move(clock)),
      log_(log_of(options)),
      ledger_({options.records_max, options.bytes_max}, Ledger::Journal::Off,
              options.events ? Ledger::Telling::On : Ledger::Telling::Off) {}

template <class Step>
auto MemoryStore::locked(Step step)
    -> decltype(step(std::declval<Ledger&>(), std::declval<const Now&>())) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Fault::StoreUnreachable;
  const Now now{clock_.boot(), clock_.wall()};
  if (!log_) return step(ledger_, now);
  auto reply = step(ledger_, now);
  log_->append(ledger_.transitions(), now);
  ledger_.commit();
  return reply;
}

Task<Result<ClaimReply>> MemoryStore::claim(ClaimRequest request) {
  const StoreTime latest = later(clock_.boot(), request.not_after);
  co_return locked([&](Ledger& ledger, const Now& now) -> Result<ClaimReply> {
    if (now.time > latest) return Fault::StoreUnreachable;
    return ledger.claim(request, now);
  });
}

Task<Result<ClaimReply>> MemoryStore::supersede(ClaimRequest request, Attempt abandoned) {
  const StoreTime latest = later(clock_.boot(), request.not_after);
  co_return locked([&](Ledger& ledger, const Now& now) -> Result<ClaimReply> {
    if (now.time > latest) return Fault::StoreUnreachable;
    return ledger.supersede(request, abandoned, now);
  });
}

Task<Result<WriteReply>> MemoryStore::record(Attempt attempt, StoredResponsePtr response) {
  co_return locked([&](Ledger& ledger, const Now& now) {
    return ledger.record(attempt, std::move(response), now);
  });
}

Task<Result<WriteReply>> MemoryStore::release(Attempt attempt) {
  co_return locked([&](Ledger& ledger, const Now& now) { return ledger.release(attempt, now); });
}

Task<Result<WriteReply>> MemoryStore::mark_indeterminate(
    Attempt attempt, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status) {
  co_return locked([&](Ledger& ledger, const Now& now) {
    return ledger.mark_indeterminate(attempt, reason, upstream_status, now);
  });
}

Task<Result<std::optional<RecordView>>> MemoryStore::find(IdempotencyKey key) {
  co_return locked([&](Ledger& ledger, const Now& now) { return ledger.find(key, now); });
}

Task<Result<std::optional<RecordView>>> MemoryStore::find(Reference reference) {
  co_return locked([&](Ledger& ledger, const Now& now) { return ledger.find(reference, now); });
}

Task<Result<RecordPage>> MemoryStore::list(ListFilter filter) {
  co_return locked([&](Ledger& ledger, const Now& now) -> Result<RecordPage> {
    return ledger.list(filter, now);
  });
}

Task<Result<ResolveReply>> MemoryStore::resolve(Reference reference, Resolution resolution) {
  co_return locked(
      [&](Ledger& ledger, const Now& now) { return ledger.resolve(reference, resolution, now); });
}

Task<Result<std::size_t>> MemoryStore::forget(std::string tenant) {
  co_return locked([&](Ledger& ledger, const Now& now) -> Result<std::size_t> {
    if (log_) log_->forget(tenant);
    return ledger.forget(tenant, now);
  });
}

Task<Result<std::vector<RouteTerms>>> MemoryStore::routes() {
  co_return locked([&](Ledger&, const Now&) -> Result<std::vector<RouteTerms>> { return routes_; });
}

Task<Result<void>> MemoryStore::adopt_routes(std::vector<RouteTerms> routes) {
  co_return locked([&](Ledger& ledger, const Now&) -> Result<void> {
    ledger.adopt(routes);
    routes_ = std::move(routes);
    return {};
  });
}

Task<Result<SweepReport>> MemoryStore::sweep(std::size_t limit) {
  co_return locked([&](Ledger& ledger, const Now& now) -> Result<SweepReport> {
    SweepReport report = ledger.sweep(limit, now);
    if (log_ && log_->trim(limit, now)) report.more = true;
    return report;
  });
}

Task<StoreHealth> MemoryStore::health() {
  const std::lock_guard lock(mutex_);
  StoreHealth health;
  health.up = !closed_;
  health.durability = "volatile";
  ledger_.describe(health);
  co_return health;
}

Task<Result<bool>> MemoryStore::acknowledge() { co_return false; }

Task<Result<std::variant<EventPage, EventGap>>> MemoryStore::events(EventFilter filter) {
  using Told = std::variant<EventPage, EventGap>;
  co_return locked([&](Ledger&, const Now&) -> Result<Told> {
    if (!log_) return Told(EventPage{});
    return log_->read(filter);
  });
}

void MemoryStore::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace semel
