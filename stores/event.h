#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/claim_reply.h"

namespace semel {

/// What became of a record, in one step.
enum class TransitionKind : std::uint8_t {
  Claimed,        ///< absent, expired, freed or an abandoned IDEMPOTENT claim -> in_flight.
  Completed,      ///< A recorded answer, also a late one.
  Released,       ///< Nothing took effect: absent.
  Indeterminate,  ///< The outcome is unknown.
  Resolved,       ///< An operator said what happened: completed, or freed.
  Expired,        ///< The window passed, and the record is gone.
};
[[nodiscard]] std::string_view name(TransitionKind kind);
[[nodiscard]] std::optional<TransitionKind> transition_kind_of(std::string_view word);

/// One transition of one record, written down in the same transaction as the transition itself.
struct TransitionEvent {
  std::string position;  ///< Opaque, visible ASCII without spaces: what `after` may name.
  TransitionKind kind = TransitionKind::Claimed;
  IdempotencyKey key;
  Reference reference;
  Fence fence;
  Policy policy = Policy::Effectful;
  std::string tenant;
  std::string route;
  std::optional<IndeterminateReason> reason;  ///< Of Indeterminate.
  std::optional<std::uint16_t> status;  ///< Completed: the answer's. Indeterminate: the upstream's.
  std::optional<bool> happened;         ///< Of Resolved.
  std::chrono::system_clock::time_point at;  ///< By the store's clock.
};

/// How much of the log is kept; what is older than either goes with the sweep.
struct EventRetention {
  std::chrono::seconds age{std::chrono::hours(7 * 24)};
  std::size_t count = 1'000'000;
};

struct EventFilter {
  std::string after;        ///< A position; empty: from the oldest that is kept.
  std::size_t limit = 100;  ///< 1-1000.
};

/// Of one key in the order in which they happened, each at least once, none before it is durable.
struct EventPage {
  std::vector<TransitionEvent> events;
  std::string next;  ///< The position to ask from next; that of `after` where nothing is new. Empty
                     ///< only where the log is off.
};

/// `after` is older than what is kept.
struct EventGap {
  std::string oldest;  ///< The position just before the oldest event that is kept: go on from here.
};

}  // namespace semel
