#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "stores/record.h"

namespace semel {

/// What a server's clock says, judged by our own, which never jumps. The two may drift apart
/// slowly; a leap ahead would end leases and windows that are still running.
///
/// @thread Any.
/// @source spec 9, "Clocks".
class ServerClock {
 public:
  /// More than this ahead of what our own clock allows is a leap.
  static constexpr std::chrono::seconds kLeap{5};

  /// @param boot  Our own clock: CLOCK_BOOTTIME.
  explicit ServerClock(std::function<std::chrono::nanoseconds()> boot);

  /// @param server  Its time, as an answer carries it: since 1970.
  /// @param asked   Our own time when the question was sent.
  /// @return false: it has leapt ahead. What it said is not taken over.
  [[nodiscard]] bool observe(StoreTime server, std::chrono::nanoseconds asked);
  /// Its time now, as far as we know. Zero before the first observation.
  [[nodiscard]] StoreTime now() const;
  /// The latest time that it may have without having leapt; a call carries it, and a server whose
  /// clock is later lets nothing expire. The end of time before the first observation.
  [[nodiscard]] StoreTime latest() const;
  /// An operator has looked at it: the next observation is taken as it is.
  void forget();

 private:
  const std::function<std::chrono::nanoseconds()> boot_;
  mutable std::mutex mutex_;
  std::optional<std::chrono::nanoseconds> ahead_;  ///< Of our own, when last looked at.
  std::chrono::nanoseconds looked_at_{0};          ///< By our own clock.
};

}  // namespace semel
