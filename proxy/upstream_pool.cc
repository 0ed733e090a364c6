#include "proxy/upstream_pool.h"

#include <algorithm>

namespace semel::proxy {

std::unique_ptr<Connection> UpstreamPool::take(std::size_t endpoint, Clock::duration age_max) {
  auto& waiting = idle_[endpoint];
  const auto now = Clock::now();
  while (!waiting.empty()) {
    Idle& newest = waiting.back();
    // The newest is the first that could be young enough: the rest are older still.
    if (now - newest.last_answer > age_max) return nullptr;
    auto connection = std::move(newest.connection);
    const bool usable = now < newest.usable_until && connection->is_idle_and_open();
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
  auto& waiting = idle_[endpoint];
  const auto place = std::upper_bound(
      waiting.begin(), waiting.end(), answered,
      [](Clock::time_point at, const Idle& idle) { return at < idle.last_answer; });
  waiting.insert(place, Idle{std::move(connection), answered, usable_until});
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
