#include "proxy/agreement.h"

#include "core/check.h"

namespace semel::proxy {
namespace {

Agreement::Clock::rep end_of(Agreement::Clock::time_point asked) {
  return (asked + Agreement::kHolds).time_since_epoch().count();
}

}  // namespace

Agreement::Agreement(std::size_t routes, Sharing sharing)
    : routes_(routes),
      changed_(std::make_unique<std::atomic<bool>[]>(routes)),
      known_until_(sharing == Sharing::Alone ? Clock::time_point::max().time_since_epoch().count()
                                             : end_of(adopted_)) {}

bool Agreement::tell(std::span<const std::size_t> changed, Clock::time_point asked) {
  if (asked < adopted_) return false;
  for (std::size_t route = 0; route < routes_; ++route) {
    const bool is_next = !changed.empty() && changed.front() == route;
    if (is_next) changed = changed.subspan(1);
    changed_[route].store(is_next, std::memory_order_relaxed);
  }
  SEMEL_CHECK(changed.empty());
  known_until_.store(end_of(asked), std::memory_order_relaxed);
  return true;
}

}  // namespace semel::proxy
