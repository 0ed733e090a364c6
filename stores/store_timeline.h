#pragma once

#include <string>

#include "stores/record.h"
#include "stores/store.h"

namespace semel {

/// What a file remembers of the clocks, so that a store's time goes on where it stood.
struct TimeAnchor {
  std::string boot_id;               ///< Of the boot in which it was written.
  std::chrono::nanoseconds boot{0};  ///< The boot clock then.
  StoreTime store{0};                ///< The store's time then.
};

/// The time of a store that outlives its process: within one boot it advances with the boot clock,
/// across boots it goes on from the later of what was stored and the wall clock, never backward.
/// @thread Any: nothing changes after construction.
/// @source spec 9, "Clocks".
class StoreTimeline {
 public:
  StoreTimeline(const TimeAnchor& last, StoreClock clock, std::string boot_id);

  [[nodiscard]] Now now() const;
  /// @param at  A time that now() gave: what a later process goes on from.
  [[nodiscard]] TimeAnchor anchor(const Now& at) const;

 private:
  StoreClock clock_;
  std::string boot_id_;
  std::chrono::nanoseconds boot_start_;
  StoreTime store_start_;
};

/// The kernel's name for this boot.
[[nodiscard]] std::string current_boot_id();

}  // namespace semel
