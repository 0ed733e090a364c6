#pragma once

#include <algorithm>

namespace semel::proxy {

/// Keeps retries from becoming a storm: each request earns a part of a retry, each retry spends
/// one.
/// @thread One worker's, one per route.
class RetryBudget {
 public:
  explicit RetryBudget(int percent)
      : earned_(percent / 100.0), saved_(percent > 0 ? kReserve : 0) {}
  void earn() { saved_ = std::min(saved_ + earned_, kReserve * 10); }
  [[nodiscard]] bool spend() {
    if (saved_ < 1) return false;
    saved_ -= 1;
    return true;
  }

 private:
  // A quiet route may still retry a few times in a row.
  static constexpr double kReserve = 10;
  double earned_;
  double saved_;
};

}  // namespace semel::proxy
