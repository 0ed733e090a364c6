#include "stores/server_clock.h"

#include <algorithm>
#include <utility>

namespace semel {

using std::chrono::nanoseconds;

ServerClock::ServerClock(std::function<nanoseconds()> boot) : boot_(std::move(boot)) {}

bool ServerClock::observe(StoreTime server, nanoseconds asked) {
  const std::lock_guard lock(mutex_);
  const nanoseconds answered = boot_();
  const nanoseconds least = server - answered;
  const nanoseconds most = server - std::min(asked, answered);
  // Moved no further than the answer proves: one that waited long proves little.
  seen_ = seen_ ? std::clamp(*seen_, least, most) : least;
  if (!ceiling_) {
    ceiling_ = most;
    looked_at_ = answered;
    return true;
  }
  const nanoseconds allowed = allowed_at(answered);
  if (least > allowed + kLeap) return false;
  ceiling_ = std::min(std::max(*ceiling_, least), std::min(allowed, most));
  looked_at_ = answered;
  return true;
}

StoreTime ServerClock::now() const {
  const std::lock_guard lock(mutex_);
  return seen_ ? boot_() + *seen_ : StoreTime{0};
}

StoreTime ServerClock::latest() const {
  const std::lock_guard lock(mutex_);
  if (!ceiling_) return StoreTime::max();
  const nanoseconds boot = boot_();
  return boot + allowed_at(boot) + kLeap;
}

void ServerClock::forget() {
  const std::lock_guard lock(mutex_);
  ceiling_.reset();
}

nanoseconds ServerClock::allowed_at(nanoseconds boot) const {
  return *ceiling_ + (boot - looked_at_) / kDriftDivisor;
}

}  // namespace semel
