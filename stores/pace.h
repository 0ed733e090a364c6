#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace semel {

/// Lets one of those who ask go on, now and then.
/// @thread Any.
class Pace {
 public:
  explicit Pace(std::chrono::seconds span) : span_(span) {}

  /// True for the first who asks, and then for one in each span.
  [[nodiscard]] bool is_due() {
    using std::chrono::duration_cast;
    const auto now =
        duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch());
    std::int64_t last = last_;
    if (last != kNever && now.count() - last < span_.count()) return false;
    return last_.compare_exchange_strong(last, now.count());
  }

 private:
  static constexpr std::int64_t kNever = -1;

  const std::chrono::seconds span_;
  std::atomic<std::int64_t> last_{kNever};  ///< Seconds of the steady clock.
};

}  // namespace semel
