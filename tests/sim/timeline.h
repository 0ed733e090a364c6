#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace semel::sim {

/// Nanoseconds since the world began. Never jumps.
using Time = std::chrono::nanoseconds;

/// What will happen, in the order of its time; at one time, in the order in which it was planned.
/// Nothing waits: the clock is moved to the next event.
class Timeline {
 public:
  [[nodiscard]] Time now() const { return now_; }
  /// A time that is over counts as now.
  void at(Time when, std::function<void()> event);
  void after(Time span, std::function<void()> event) { at(now_ + span, std::move(event)); }
  /// A reading of a clock costs a little: whoever only looks at it sees time pass.
  void spend(Time span) { now_ += span; }

  /// Lets the next event happen. @return false: none is left before `end`.
  bool step(Time end);
  /// Drops all that is planned.
  void clear();

 private:
  struct Event {
    Time when;
    std::uint64_t order;
    std::function<void()> happen;
  };
  /// True where `a` comes after `b`: the heap's top is the earliest.
  static bool is_later(const Event& a, const Event& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }
  std::vector<Event> heap_;
  std::uint64_t planned_ = 0;
  Time now_{0};
};

}  // namespace semel::sim
