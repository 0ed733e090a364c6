// Gives claims back that nobody stands behind. Called by proxy/settlement; each call holds the
// worker's gate, so that a worker ends after them.
#include "proxy/release_queue.h"

#include "io/clock.h"
#include "proxy/worker.h"

namespace semel::proxy {

void ReleaseQueue::add(const Attempt& attempt, GiveBack until,
                       std::chrono::nanoseconds lease_ends) {
  if (!worker_.site.disowned.add(attempt.key, attempt.token)) {
    worker_.metrics.disowned_dropped.add();
    return;
  }
  worker_.metrics.disowned.add();
  const bool is_bound = until == GiveBack::UntilLeaseEnds;
  waiting_.push_back({attempt, is_bound ? lease_ends : std::chrono::nanoseconds::max()});
  if (calls_ == 0) begin_call();
}

void ReleaseQueue::begin_call() {
  ++calls_;
  worker_.start(call());
}

Task<> ReleaseQueue::call() {
  struct Leave {
    std::size_t& calls;
    ~Leave() { --calls; }
  };
  const Leave leave{calls_};
  if (calls_ == 1) co_await rest();
  while (!waiting_.empty()) {
    Entry entry = waiting_.front();
    waiting_.pop_front();
    // Once in any case: what is known here is late news where a stop has outlasted the lease.
    if (entry.was_asked && boot_time() >= entry.given_up_at) {
      forget(entry);
      continue;
    }
    const bool answered = co_await ask(entry);
    if (answered) {
      forget(entry);
      pause_.begin_anew();
      if (calls_ < kCallsMax && calls_ < waiting_.size()) begin_call();
      continue;
    }
    entry.was_asked = true;
    waiting_.push_back(entry);
    // Of those that a failing store is asked by one goes on; who ends leaves the rest to the
    // leases.
    if (calls_ > 1 || worker_.is_ending()) break;
    co_await rest();
  }
}

/// @return true: nothing more is to be asked about it.
Task<bool> ReleaseQueue::ask(Entry entry) {
  const auto result = co_await worker_.site.store->release(entry.attempt);
  if (result.has_value() || !may_heal(result.error())) co_return true;
  worker_.metrics.store_errors[static_cast<std::size_t>(StoreOperation::Release)].add();
  co_return false;
}

Task<> ReleaseQueue::rest() {
  Worker::Timer timer(worker_.executor(), pause_.next(worker_.random));
  co_await timer.async_wait(kNoThrow);
}

void ReleaseQueue::forget(const Entry& entry) {
  worker_.site.disowned.remove(entry.attempt.key, entry.attempt.token);
  worker_.metrics.disowned.subtract(1);
}

}  // namespace semel::proxy
