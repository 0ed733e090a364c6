#include "stores/store.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <ctime>

namespace semel {

Task<void> Store::await_change(IdempotencyKey, std::chrono::steady_clock::time_point until) {
  using Clock = std::chrono::steady_clock;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer(
      co_await asio::this_coro::executor, until);
  co_await timer.async_wait(kNoThrow);
}

Task<Result<std::variant<EventPage, EventGap>>> Store::events(EventFilter) {
  std::variant<EventPage, EventGap> nothing;
  co_return nothing;
}

std::string_view name(IndeterminateReason reason) {
  switch (reason) {
    case IndeterminateReason::Timeout:
      return "timeout";
    case IndeterminateReason::Cut:
      return "cut";
    case IndeterminateReason::Malformed:
      return "malformed";
    case IndeterminateReason::UpstreamStatus:
      return "upstream_status";
    case IndeterminateReason::OwnerLost:
      return "owner_lost";
    case IndeterminateReason::Unrecorded:
      return "unrecorded";
    case IndeterminateReason::Internal:
      return "internal";
  }
  return "unknown";
}

StoreClock StoreClock::real() {
  StoreClock clock;
  clock.boot = [] {
    timespec at{};
    ::clock_gettime(CLOCK_BOOTTIME, &at);
    return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
  };
  clock.wall = [] {
    // The tick's time is good enough for people to read, and costs a fifth.
    timespec at{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &at);
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec)));
  };
  return clock;
}

}  // namespace semel
