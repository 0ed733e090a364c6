#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "stores/record.h"

namespace semel {

/// Until when, by lane and by the time of the lane's server, a call that broke off may still be
/// carried out. Each of them carries that time, and is refused later.
/// @thread Any.
class RedisGhosts {
 public:
  explicit RedisGhosts(std::size_t lanes) : until_(lanes) {}

  void note(std::size_t lane, StoreTime until) {
    std::atomic<StoreTime::rep>& latest = until_.at(lane);
    StoreTime::rep known = latest.load();
    while (known < until.count() && !latest.compare_exchange_weak(known, until.count())) continue;
  }
  /// Zero: there is none.
  [[nodiscard]] StoreTime until(std::size_t lane) const {
    return StoreTime(until_.at(lane).load());
  }

 private:
  std::vector<std::atomic<StoreTime::rep>> until_;
};

}  // namespace semel
