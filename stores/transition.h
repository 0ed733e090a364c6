#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "stores/claim_terms.h"
#include "stores/event.h"

namespace semel {

/// A transition as the ledger notes it, with the names that many share beside it.
struct Transition {
  TransitionKind kind = TransitionKind::Claimed;
  IdempotencyKey key;
  Reference reference;
  Fence fence;
  ClaimTermsPtr terms;  ///< As the record has them: after forget() without the tenant.
  std::optional<IndeterminateReason> reason;
  std::optional<std::uint16_t> status;
  std::optional<bool> happened;
  std::chrono::system_clock::time_point at;
};

/// The same as it is told.
[[nodiscard]] TransitionEvent event_of(const Transition& transition, std::string position);

}  // namespace semel
