#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace semel::testing {

using std::chrono::milliseconds;

/// A point in time that a wait may not pass. Every wait of the tests has one.
class Deadline {
 public:
  explicit Deadline(milliseconds from_now) : at_(std::chrono::steady_clock::now() + from_now) {}

  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() >= at_; }
  /// What is left, for poll(2): 0 once it has passed.
  [[nodiscard]] int left() const {
    const auto left = std::chrono::ceil<milliseconds>(at_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
  }

 private:
  std::chrono::steady_clock::time_point at_;
};

/// Asks `holds` again and again until it is true. @return false if it was not within `patience`.
template <class Condition>
[[nodiscard]] bool eventually(Condition holds, milliseconds patience = milliseconds{10'000}) {
  const Deadline deadline(patience);
  while (!holds()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(milliseconds{2});
  }
  return true;
}

}  // namespace semel::testing
