// Writes the end of a claim into the store, now or behind the reply. Called by proxy/exchange,
// proxy/late_call and proxy/shadow.
#include "proxy/settlement.h"

#include <cstdio>

#include "io/clock.h"
#include "proxy/fail_point.h"
#include "proxy/settling_pause.h"
#include "proxy/worker.h"

namespace semel::proxy {
namespace {

/// An operator ruled, and the tool's own answer says otherwise: somebody has to look at it.
void report_contradiction(const Attempt& attempt) {
  std::fprintf(stderr,
               "semel: error: the tool answered a call of which an operator had said that it did "
               "not happen (key %s, fence %llu)\n",
               std::string(hex_of(attempt.key).view().substr(0, 8)).c_str(),
               static_cast<unsigned long long>(attempt.fence.value));
}

}  // namespace

/// One record or mark that goes on after its exchange: no more of them than calls that were let
/// through. Everything by value: the exchange is gone.
struct Settlement::Behind {
  Worker* worker = nullptr;
  StoreOperation operation = StoreOperation::Record;
  Attempt attempt;
  StoredResponsePtr response;
  IndeterminateReason reason = IndeterminateReason::Unrecorded;
  std::optional<std::uint16_t> status;
  std::chrono::nanoseconds lease_ends{0};
};

Event Settlement::conclude(StoreOperation operation, const Result<WriteReply>& result,
                           std::chrono::steady_clock::time_point asked) {
  const auto index = static_cast<std::size_t>(operation);
  worker_.metrics.store_duration[index].observe(std::chrono::steady_clock::now() - asked);
  if (result.has_error()) {
    worker_.metrics.store_errors[index].add();
    return result.error() == Fault::StoreFull ? Event::NoRoom : Event::WriteFailed;
  }
  if (is_against_word(*result)) report_contradiction(attempt_);
  if (is_done(*result)) return Event::Written;
  worker_.metrics.stale_writers.add();
  std::fprintf(stderr, "semel: stale_writer: %s of an attempt that no longer owns its record\n",
               std::string(name(operation)).c_str());
  return Event::WriteStale;
}

Task<Event> Settlement::record(StoredResponsePtr response) {
  const auto asked = std::chrono::steady_clock::now();
  fail_point(FailPoint::BeforeRecord);
  const auto result = co_await worker_.site.store->record(attempt_, response);
  fail_point(FailPoint::AfterRecord);
  const Event event = conclude(StoreOperation::Record, result, asked);
  if (event == Event::WriteFailed && may_heal(result.error())) {
    Behind behind{&worker_, StoreOperation::Record, attempt_, response, {}, {}, lease_ends_};
    worker_.start(go_on(std::move(behind)));
  }
  co_return event;
}

Task<Event> Settlement::record_bare(StoredResponsePtr response) {
  const Event event = co_await record(response);
  if (event == Event::NoRoom) {
    Behind behind{&worker_, StoreOperation::Record, attempt_, response, {}, {}, lease_ends_};
    worker_.start(go_on(std::move(behind)));
  }
  co_return event;
}

Task<Event> Settlement::release(GiveBack until) {
  const auto asked = std::chrono::steady_clock::now();
  const auto result = co_await worker_.site.store->release(attempt_);
  const Event event = conclude(StoreOperation::Release, result, asked);
  if (result.has_error() && may_heal(result.error())) disown(until);
  co_return event;
}

Task<Event> Settlement::mark(IndeterminateReason reason, std::optional<std::uint16_t> status) {
  worker_.metrics.indeterminate[static_cast<std::size_t>(reason)].add();
  return write_mark(reason, status);
}

Task<Event> Settlement::end_attempt() {
  // The outcome stays as it was first told and counted; the store takes this as the attempt's end.
  return write_mark(IndeterminateReason::Cut, std::nullopt);
}

Task<Event> Settlement::write_mark(IndeterminateReason reason,
                                   std::optional<std::uint16_t> status) {
  const auto asked = std::chrono::steady_clock::now();
  const auto result = co_await worker_.site.store->mark_indeterminate(attempt_, reason, status);
  const Event event = conclude(StoreOperation::Mark, result, asked);
  if (result.has_error() && may_heal(result.error())) {
    Behind behind{&worker_, StoreOperation::Mark, attempt_, nullptr, reason, status, lease_ends_};
    worker_.start(go_on(std::move(behind)));
  }
  co_return event;
}

void Settlement::disown(GiveBack until) { worker_.releases.add(attempt_, until, lease_ends_); }

Task<> Settlement::go_on(Behind behind) {
  Store& store = *behind.worker->site.store;
  Worker::Timer timer(behind.worker->executor());
  SettlingPause pause;
  // Once in any case: what is known here is late news where a stop has outlasted the lease.
  for (bool once = false; !behind.worker->is_ending(); once = true) {
    if (once && boot_time() >= behind.lease_ends) break;
    timer.expires_after(pause.next(behind.worker->random));
    co_await timer.async_wait(kNoThrow);

    Result<WriteReply> result = Fault::StoreUnreachable;
    if (behind.operation == StoreOperation::Record) {
      result = co_await store.record(behind.attempt, behind.response);
    } else {
      result = co_await store.mark_indeterminate(behind.attempt, behind.reason, behind.status);
    }
    if (result.has_value() && is_against_word(*result)) report_contradiction(behind.attempt);
    if (result.has_value() || !may_heal(result.error())) co_return;
    behind.worker->metrics.store_errors[static_cast<std::size_t>(behind.operation)].add();
  }
  // A lease that ended in silence is an unknown outcome, whatever this process knows of it.
  if (behind.operation == StoreOperation::Record) {
    behind.worker->metrics.indeterminate[static_cast<std::size_t>(IndeterminateReason::Unrecorded)]
        .add();
    const auto marked = co_await store.mark_indeterminate(
        behind.attempt, IndeterminateReason::Unrecorded, behind.response->status);
    if (marked.has_error()) {
      behind.worker->metrics.store_errors[static_cast<std::size_t>(StoreOperation::Mark)].add();
    }
  }
}

}  // namespace semel::proxy
