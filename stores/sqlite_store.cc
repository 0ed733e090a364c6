// The store of one machine: callers queue their step, one thread runs a group of steps on the
// ledger, commits once, and wakes each worker once. What a step does is the ledger's business.
#include "stores/sqlite_store.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/this_coro.hpp>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

namespace semel {
namespace {

/// How many events are looked through in one transaction, at most.
constexpr std::size_t kForgetBatch = 10'000;

}  // namespace

template <class T, class Step>
class SqliteStore::Call final : public WaitingCall {
 public:
  Call(Executor executor, SqliteStore& store, Step step)
      : WaitingCall(std::move(executor)), store_(store), step_(std::move(step)) {}

  void run() override { reply_ = step_(*store_.ledger_, std::as_const(store_.group_now_)); }
  void fail(Fault fault) override { reply_ = fault; }
  Result<T> take_reply() {
    if (timed_out()) return Fault::StoreTimeout;
    return std::move(reply_);
  }

 private:
  SqliteStore& store_;
  Step step_;
  Result<T> reply_ = Fault::StoreUnreachable;
};

template <class T, class Step>
Task<Result<T>> SqliteStore::ask(Step step) {
  const Executor executor = co_await asio::this_coro::executor;
  auto call = std::make_shared<Call<T, Step>>(executor, *this, std::move(step));
  auto enqueue = [this, &call](auto handler) {
    call->on_settled(std::move(handler));
    queue_.push(call);
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(enqueue, kAwait);
  co_return call->take_reply();
}

SqliteStore::SqliteStore(const SqliteOptions& options, const StoreClock& clock)
    : ledger_(std::make_unique<DurableLedger>(options, clock)),
      queue_(options.deadline),
      writer_([this] { write(); }) {}

SqliteStore::~SqliteStore() { close(); }

void SqliteStore::close() {
  queue_.close();
  if (writer_.joinable()) writer_.join();
}

namespace {

/// Notes a store that was just made, unless another one is known. @return what there is to say.
std::string first_note(const SqliteOptions& options) {
  if (options.state_dir.empty()) return "";
  const WitnessFile witness(options.state_dir);
  const auto known = witness.read();
  if (!known || *known) {
    return "; " + witness.path() +
           " is the witness of another store: this one is suspect until `semel store acknowledge`";
  }
  // Opening it is what writes the note.
  const DurableLedger opened(options, StoreClock::real());
  return "";
}

}  // namespace

std::string SqliteStore::create(const SqliteOptions& options, const StoreClock& clock) {
  std::optional<FileLock> lock;
  if (std::filesystem::exists(options.path)) lock.emplace(options.path);
  std::random_device device;
  Random128<struct StoreIdTag> id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(device());
  SqliteLog::Meta meta;
  meta.anchor.boot_id = current_boot_id();
  meta.anchor.boot = clock.boot();
  meta.anchor.store = clock.wall().time_since_epoch();
  if (!SqliteLog::create(options.path, to_hex(id), meta)) {
    return options.path + " is a store already: it was left as it is";
  }
  lock.reset();
  return "created " + options.path + ", store " + to_hex(id) + first_note(options);
}

Acknowledged SqliteStore::acknowledge_closed(const SqliteOptions& options,
                                             const StoreClock& clock) {
  DurableLedger ledger(options, clock, DurableLedger::Mixed::Take);
  if (!ledger.watch().is_suspect()) {
    return {false, options.path + " is not suspect: there was nothing to acknowledge"};
  }
  const std::string remark = ledger.watch().remark();
  if (!ledger.acknowledge()) {
    throw StoreError(remark + "; the witness in " + options.state_dir +
                     " cannot be written: nothing was changed");
  }
  return {true, remark + "\nacknowledged: from now on " + options.path + " counts as it is"};
}

void SqliteStore::write() {
  for (;;) {
    const CallGroup& group = queue_.take();
    if (group.empty()) break;
    carry_out(group);
    queue_.answer();
    // A failure is remembered by the ledger and told to the next group.
    static_cast<void>(ledger_->tidy());
  }
}

void SqliteStore::carry_out(const CallGroup& group) {
  const auto done = commit_together(group);
  if (done || done.error() != Fault::StoreFull || group.size() == 1) return;
  // One body that does not fit must not refuse its neighbours: each on its own.
  for (const auto& call : group) {
    const CallGroup alone{call};
    static_cast<void>(commit_together(alone));
  }
}

Result<void> SqliteStore::commit_together(const CallGroup& group) {
  group_now_ = ledger_->now();
  for (const auto& call : group) {
    if (ledger_->broken()) {
      call->fail(Fault::StoreBroken);
    } else {
      call->run();
    }
  }
  const auto done = ledger_->commit(group_now_);
  if (!done) {
    for (const auto& call : group) call->fail(done.error());
  }
  return done;
}

Task<Result<ClaimReply>> SqliteStore::claim(ClaimRequest request) {
  const StoreTime latest = later(ledger_->now().time, request.not_after);
  auto step = [request = std::move(request), latest](DurableLedger& ledger,
                                                     const Now& now) -> Result<ClaimReply> {
    if (now.time > latest) return Fault::StoreUnreachable;
    ledger.keep_reserve(completion_cost(request));
    return ledger.with_body(request, ledger.records().claim(request, now));
  };
  return ask<ClaimReply>(std::move(step));
}

Task<Result<ClaimReply>> SqliteStore::supersede(ClaimRequest request, Attempt abandoned) {
  const StoreTime latest = later(ledger_->now().time, request.not_after);
  auto step = [request = std::move(request), abandoned, latest](
                  DurableLedger& ledger, const Now& now) -> Result<ClaimReply> {
    if (now.time > latest) return Fault::StoreUnreachable;
    ledger.keep_reserve(completion_cost(request));
    return ledger.with_body(request, ledger.records().supersede(request, abandoned, now));
  };
  return ask<ClaimReply>(std::move(step));
}

Task<Result<WriteReply>> SqliteStore::record(Attempt attempt, StoredResponsePtr response) {
  return ask<WriteReply>([attempt, response](DurableLedger& ledger, const Now& now) {
    return ledger.records().record(attempt, response, now);
  });
}

Task<Result<WriteReply>> SqliteStore::release(Attempt attempt) {
  return ask<WriteReply>([attempt](DurableLedger& ledger, const Now& now) {
    return ledger.records().release(attempt, now);
  });
}

Task<Result<WriteReply>> SqliteStore::mark_indeterminate(
    Attempt attempt, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status) {
  return ask<WriteReply>([attempt, reason, upstream_status](DurableLedger& ledger, const Now& now) {
    return ledger.records().mark_indeterminate(attempt, reason, upstream_status, now);
  });
}

Task<Result<std::optional<RecordView>>> SqliteStore::find(IdempotencyKey key) {
  return ask<std::optional<RecordView>>([key](DurableLedger& ledger, const Now& now) {
    return ledger.with_body(ledger.records().find(key, now));
  });
}

Task<Result<std::optional<RecordView>>> SqliteStore::find(Reference reference) {
  return ask<std::optional<RecordView>>([reference](DurableLedger& ledger, const Now& now) {
    return ledger.with_body(ledger.records().find(reference, now));
  });
}

Task<Result<RecordPage>> SqliteStore::list(ListFilter filter) {
  return ask<RecordPage>([filter = std::move(filter)](DurableLedger& ledger, const Now& now) {
    return Result<RecordPage>(ledger.records().list(filter, now));
  });
}

Task<Result<ResolveReply>> SqliteStore::resolve(Reference reference, Resolution resolution) {
  return ask<ResolveReply>([reference, resolution](DurableLedger& ledger, const Now& now) {
    return ledger.records().resolve(reference, resolution, now);
  });
}

Task<Result<std::size_t>> SqliteStore::forget(std::string tenant) {
  // A log may be long: what is there already is looked through in parts, so that nobody waits for
  // all of it.
  std::uint64_t looked_through = 0;
  for (std::optional<std::uint64_t> last = 0; last;) {
    auto part = [tenant, looked_through](DurableLedger& ledger, const Now&) {
      return ledger.events().forget(tenant, looked_through, kForgetBatch);
    };
    auto done = co_await ask<std::optional<std::uint64_t>>(std::move(part));
    if (!done) co_return done.error();
    last = *done;
    looked_through = last.value_or(looked_through);
  }
  auto step = [tenant = std::move(tenant), looked_through](DurableLedger& ledger, const Now& now) {
    Ledger& records = ledger.records();
    const std::size_t forgotten = records.forget(tenant, now);
    ledger.events().forget_rest(tenant, looked_through, records.transitions().size());
    ledger.reclaim_all();
    return Result<std::size_t>(forgotten);
  };
  co_return co_await ask<std::size_t>(std::move(step));
}

Task<Result<std::vector<RouteTerms>>> SqliteStore::routes() {
  return ask<std::vector<RouteTerms>>(
      [](DurableLedger& ledger, const Now&) { return ledger.routes(); });
}

Task<Result<void>> SqliteStore::adopt_routes(std::vector<RouteTerms> routes) {
  return ask<void>([routes = std::move(routes)](DurableLedger& ledger, const Now&) {
    ledger.adopt(routes);
    return Result<void>();
  });
}

Task<Result<SweepReport>> SqliteStore::sweep(std::size_t limit) {
  return ask<SweepReport>([limit](DurableLedger& ledger, const Now& now) -> Result<SweepReport> {
    ledger.keep_reserve(0);
    SweepReport report = ledger.records().sweep(limit, now);
    if (ledger.reclaim(limit)) report.more = true;
    const auto trimmed = ledger.events().trim(limit, now);
    if (!trimmed) return trimmed.error();
    if (*trimmed) report.more = true;
    return report;
  });
}

Task<Result<std::variant<EventPage, EventGap>>> SqliteStore::events(EventFilter filter) {
  using Told = std::variant<EventPage, EventGap>;
  return ask<Told>([filter = std::move(filter)](DurableLedger& ledger, const Now&) {
    return ledger.events().read(filter);
  });
}

Task<StoreHealth> SqliteStore::health() {
  auto described = co_await ask<StoreHealth>([](DurableLedger& ledger, const Now&) {
    StoreHealth health;
    ledger.describe(health);
    return Result<StoreHealth>(std::move(health));
  });
  StoreHealth health;
  if (described) health = *std::move(described);
  health.durability = "fsync per group";
  co_return health;
}

Task<Result<bool>> SqliteStore::acknowledge() {
  // A group may be run a second time; that it was suspect is then still true.
  auto was_suspect = std::make_shared<bool>(false);
  return ask<bool>([was_suspect](DurableLedger& ledger, const Now&) -> Result<bool> {
    const auto done = ledger.acknowledge();
    if (!done) return done.error();
    *was_suspect = *was_suspect || *done;
    return *was_suspect;
  });
}

}  // namespace semel
