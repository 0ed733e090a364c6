#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/claim.h"
#include "io/task.h"

namespace semel {

/// Followers of this process that wait for news of a key from another one.
/// @thread Any; a waiter resumes on the executor that it waits on.
class KeyWaits {
 public:
  /// More than these wait for their time alone: polling is the safety net.
  static constexpr std::size_t kWaitersMax = 65'536;

  /// Ends with the first wake() of `key`, and at `until` at the latest.
  [[nodiscard]] Task<void> wait(IdempotencyKey key, std::chrono::steady_clock::time_point until);
  void wake(const IdempotencyKey& key);
  /// News may have been missed: everybody looks for themselves.
  void wake_all();
  /// True if somebody waits for anything at all.
  [[nodiscard]] bool is_awaited() const;

 private:
  struct Waiter;
  mutable std::mutex mutex_;
  std::unordered_map<IdempotencyKey, std::vector<std::shared_ptr<Waiter>>, KeyHash> waiting_;
  std::size_t waiters_ = 0;
};

}  // namespace semel
