#include "proxy/upstream_pool.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace semel::proxy {

/// One that waits for a slot, in the frame of its coroutine. It leaves the queue with the frame.
struct UpstreamPool::Waiter {
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, Executor>;

  Waiter(UpstreamPool& joined, Executor executor)
      : pool(joined),
        place(pool.waiting_.insert(pool.waiting_.end(), this)),
        woken(executor, Timer::time_point::max()),
        deadline(&expire, this) {}
  ~Waiter() {
    if (has_slot) {
      pool.forget();
    } else if (is_queued) {
      pool.waiting_.erase(place);
    }
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  static void expire(void* self) { static_cast<Waiter*>(self)->woken.cancel(); }

  /// Hands a slot to the first of them.
  /// @param idle  Its connection; null in an empty one.
  static void serve_first(UpstreamPool& pool, std::size_t endpoint, Idle idle) {
    Waiter& first = *pool.waiting_.front();
    pool.waiting_.pop_front();
    first.is_queued = false;
    first.has_slot = true;
    first.endpoint = endpoint;
    first.handed = std::move(idle);
    first.woken.cancel();
  }

  UpstreamPool& pool;
  std::list<Waiter*>::iterator place;
  Timer woken;
  Deadlines::Entry deadline;
  bool is_queued = true;
  bool has_slot = false;  ///< Handed to it, and not yet passed on to its caller.
  std::size_t endpoint = 0;
  Idle handed;
};

std::unique_ptr<Connection> UpstreamPool::take(std::size_t endpoint, Clock::duration age_max) {
  auto& waiting = idle_[endpoint];
  const auto now = Clock::now();
  while (!waiting.empty()) {
    Idle& newest = waiting.back();
    // The newest is the first that could be young enough: the rest are older still.
    if (now - newest.last_answer > age_max) return nullptr;
    const bool usable = newest.is_usable(now);
    auto connection = std::move(newest.connection);
    waiting.pop_back();
    if (usable) return connection;
    forget();
  }
  return nullptr;
}

void UpstreamPool::give(std::size_t endpoint, std::unique_ptr<Connection> connection,
                        std::optional<std::chrono::seconds> announced, Clock::time_point answered) {
  connection->expires_never();
  auto usable_until = answered + kIdleMax;
  if (announced) usable_until = std::min(usable_until, answered + *announced - kAnnouncedMargin);
  if (is_retired_ || usable_until <= Clock::now()) {
    forget();
    return;
  }
  Idle idle{std::move(connection), answered, usable_until};
  if (!waiting_.empty()) {
    Waiter::serve_first(*this, endpoint, std::move(idle));
    return;
  }
  auto& waiting = idle_[endpoint];
  const auto place = std::upper_bound(
      waiting.begin(), waiting.end(), answered,
      [](Clock::time_point at, const Idle& other) { return at < other.last_answer; });
  waiting.insert(place, std::move(idle));
}

bool UpstreamPool::reserve() {
  if (open_ < open_max_) {
    ++open_;
    return true;
  }
  for (auto& waiting : idle_) {
    if (waiting.empty()) continue;
    waiting.erase(waiting.begin());  // Its slot passes to the caller.
    return true;
  }
  return false;
}

void UpstreamPool::forget() {
  if (waiting_.empty()) {
    --open_;
  } else {
    Waiter::serve_first(*this, 0, Idle());
  }
}

Task<std::optional<UpstreamPool::Handed>> UpstreamPool::wait(Executor executor,
                                                             Deadlines& deadlines,
                                                             Clock::time_point until,
                                                             Clock::duration age_max) {
  if (waiting_.size() >= kWaitingMax) co_return std::nullopt;
  Waiter waiter(*this, executor);
  deadlines.arm(waiter.deadline, until);
  co_await waiter.woken.async_wait(kNoThrow);
  if (!std::exchange(waiter.has_slot, false)) co_return std::nullopt;

  Handed handed;
  const auto now = Clock::now();
  Idle& idle = waiter.handed;
  if (idle.connection != nullptr && now - idle.last_answer <= age_max && idle.is_usable(now)) {
    handed.connection = std::move(idle.connection);
    handed.endpoint = waiter.endpoint;
  }
  co_return handed;
}

void UpstreamPool::retire() {
  is_retired_ = true;
  sweep(Clock::time_point::max());
}

void UpstreamPool::sweep(Clock::time_point now) {
  for (auto& waiting : idle_) {
    // Not in order: an upstream may have announced another time with each answer.
    open_ -= std::erase_if(waiting, [&](const Idle& idle) { return now >= idle.usable_until; });
  }
}

}  // namespace semel::proxy
