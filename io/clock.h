#pragma once

#include <chrono>
#include <ctime>

namespace semel {

/// CLOCK_BOOTTIME: never jumps, goes on in suspend. What leases and `dispatch_by` are measured
/// with.
[[nodiscard]] inline std::chrono::nanoseconds boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace semel
