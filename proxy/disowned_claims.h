#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/claim.h"

namespace semel::proxy {

/// Claims of this process that may stand in the store and that nobody stands behind: their answer
/// never came, or their release did not get through. No such attempt has an effect under way, so
/// whoever claims the key next may take its place instead of waiting for the lease to end, or for
/// an operator once it has ended.
/// @thread Any.
/// @source spec 6, "A claim whose answer is unknown is never dispatched".
class DisownedClaims {
 public:
  /// Some 14 MB of memory.
  static constexpr std::size_t kMax = 100'000;

  /// @return false: there is no room, and nothing was added.
  [[nodiscard]] bool add(const IdempotencyKey& key, const ClaimToken& token);
  /// The store has said what became of it.
  void remove(const IdempotencyKey& key, const ClaimToken& token);
  /// Those on `key`, nearly always none.
  [[nodiscard]] std::vector<ClaimToken> on(const IdempotencyKey& key) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<IdempotencyKey, ClaimToken, KeyHash> tokens_;
  std::atomic<std::size_t> count_{0};  ///< So that a healthy store costs no lock.
};

}  // namespace semel::proxy
