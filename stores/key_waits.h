#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "core/claim.h"
#include "io/task.h"

namespace semel {

/// Followers of this process that wait for news of a key from another one.
/// @thread Any; a waiter resumes on the executor that it waits on.
class KeyWaits {
 public:
  /// More than these wait for their time alone: polling is the safety net.
  static constexpr std::size_t kWaitersMax = 65'536;

  KeyWaits();

  /// Ends with the first wake() of `key` that comes after the call, and at `until` at the latest.
  [[nodiscard]] Task<void> wait(IdempotencyKey key, std::chrono::steady_clock::time_point until);
  void wake(const IdempotencyKey& key);
  /// News may have been missed: everybody looks for themselves.
  void wake_all();
  /// True if somebody waits for anything at all.
  [[nodiscard]] bool is_awaited() const;

 private:
  struct Waiter;
  struct Board;
  class Place;

  const std::shared_ptr<Board> board_;  ///< A coroutine that is never resumed may outlive us.
};

}  // namespace semel
