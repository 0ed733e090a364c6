#include "proxy/disowned_claims.h"

namespace semel::proxy {

bool DisownedClaims::add(const IdempotencyKey& key, const ClaimToken& token) {
  const std::lock_guard lock(mutex_);
  if (tokens_.size() >= kMax) return false;
  tokens_.emplace(key, token);
  count_.store(tokens_.size(), std::memory_order_relaxed);
  return true;
}

void DisownedClaims::remove(const IdempotencyKey& key, const ClaimToken& token) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = tokens_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second != token) continue;
    tokens_.erase(at);
    break;
  }
  count_.store(tokens_.size(), std::memory_order_relaxed);
}

std::vector<ClaimToken> DisownedClaims::on(const IdempotencyKey& key) const {
  std::vector<ClaimToken> found;
  if (count_.load(std::memory_order_relaxed) == 0) return found;
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = tokens_.equal_range(key);
  for (auto at = begin; at != end; ++at) found.push_back(at->second);
  return found;
}

}  // namespace semel::proxy
