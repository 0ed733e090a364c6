#include "proxy/key_quota.h"

namespace semel::proxy {
namespace {

std::chrono::minutes minute_of(KeyQuota::Clock::time_point now) {
  return std::chrono::floor<std::chrono::minutes>(now.time_since_epoch());
}

}  // namespace

void KeyQuota::turn_to(Clock::time_point now) {
  const auto minute = minute_of(now);
  if (minute <= minute_) return;  // Another worker may have looked at the clock a little later.
  minute_ = minute;
  taken_.clear();
}

bool KeyQuota::take(const std::string& tenant, std::size_t limit, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  turn_to(now);
  std::size_t& taken = taken_[sha256(tenant)];
  if (taken >= limit) return false;
  ++taken;
  return true;
}

void KeyQuota::give_back(const std::string& tenant, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  turn_to(now);
  const auto at = taken_.find(sha256(tenant));
  if (at == taken_.end()) return;
  if (--at->second == 0) taken_.erase(at);
}

std::chrono::seconds KeyQuota::until_next(Clock::time_point now) {
  const auto next = minute_of(now) + std::chrono::minutes(1);
  return std::chrono::ceil<std::chrono::seconds>(next - now.time_since_epoch());
}

}  // namespace semel::proxy
