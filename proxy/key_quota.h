#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "core/digest.h"

namespace semel::proxy {

/// How many new keys each tenant has taken in this minute: `limits.new_keys_per_tenant`. Minutes
/// are those of the steady clock, and each begins with nothing taken.
/// @thread Any.
class KeyQuota {
 public:
  using Clock = std::chrono::steady_clock;

  /// @return false: the tenant has taken `limit` keys, and this one was not counted.
  [[nodiscard]] bool take(const std::string& tenant, std::size_t limit, Clock::time_point now);
  /// What was taken was no new key after all.
  void give_back(const std::string& tenant, Clock::time_point now);
  /// Until the next minute begins, 1-60.
  [[nodiscard]] static std::chrono::seconds until_next(Clock::time_point now);

 private:
  /// With the mutex held.
  void turn_to(Clock::time_point now);

  std::mutex mutex_;
  std::chrono::minutes minute_{0};
  /// By a hash of the tenant: what a client chooses takes the same room however long it is.
  std::map<Sha256Bytes, std::size_t> taken_;
};

}  // namespace semel::proxy
