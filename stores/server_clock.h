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
/// An answer's time lies between the question and the answer, so what the server is ahead of us by
/// is known as an interval. The most that it may be ahead by goes down to that interval at once,
/// and up to it by no more than clocks drift.
///
/// @thread Any.
/// @source spec 9, "Clocks".
class ServerClock {
 public:
  /// More than this ahead of what our own clock allows is a leap.
  static constexpr std::chrono::seconds kLeap{5};
  /// How fast two clocks may drift apart: 1 ms a second, as two do that NTP slews against each
  /// other.
  static constexpr int kDriftDivisor = 1'000;

  /// @param boot  Our own clock: CLOCK_BOOTTIME.
  explicit ServerClock(std::function<std::chrono::nanoseconds()> boot);

  /// @param server  Its time, as an answer carries it: since 1970.
  /// @param asked   Our own time when the question was sent.
  /// @return false: it has leapt ahead. latest() does not follow it.
  [[nodiscard]] bool observe(StoreTime server, std::chrono::nanoseconds asked);
  /// Its time now, as far as we know: what it said last, a leap or not, and what has passed since.
  /// Zero before the first observation.
  [[nodiscard]] StoreTime now() const;
  /// The latest time that it may have without having leapt; a call carries it, and a server whose
  /// clock is later lets nothing expire. The end of time before the first observation.
  [[nodiscard]] StoreTime latest() const;
  /// An operator has looked at it: the next observation is taken as it is. What it said last is
  /// known still.
  void forget();

 private:
  [[nodiscard]] std::chrono::nanoseconds allowed_at(std::chrono::nanoseconds boot) const;

  const std::function<std::chrono::nanoseconds()> boot_;
  mutable std::mutex mutex_;
  std::optional<std::chrono::nanoseconds> seen_;     ///< What it is ahead of our own by.
  std::optional<std::chrono::nanoseconds> ceiling_;  ///< The most that it may be, at `looked_at_`.
  std::chrono::nanoseconds looked_at_{0};            ///< By our own clock.
};

}  // namespace semel
