#include "stores/redis_epoch.h"

namespace semel {

bool SentinelEpoch::follow(std::uint64_t epoch, const std::function<void()>& go) {
  const std::lock_guard lock(mutex_);
  is_behind_ = epoch < latest_;
  if (is_behind_) return false;
  go();
  if (epoch > latest_ && note_) note_(epoch);
  latest_ = epoch;
  return true;
}

bool SentinelEpoch::forget() {
  const std::lock_guard lock(mutex_);
  if (!is_behind_) return false;
  is_behind_ = false;
  latest_ = 0;
  if (note_) note_(0);
  return true;
}

std::uint64_t SentinelEpoch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace semel
