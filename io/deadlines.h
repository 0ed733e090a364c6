#pragma once

#include <chrono>

namespace semel {

/// Every deadline of one worker, swept by one coarse timer: a timer per operation would cost more
/// than the operation (docs/performance.md).
/// @thread One worker's; nothing here is shared.
class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;

  /// What expires. Linked into the sweep while armed; disarms itself at its end.
  class Entry {
   public:
    /// @param expire  Called once from the sweep when the time has come, already disarmed.
    Entry(void (*expire)(void* owner), void* owner) : expire_(expire), owner_(owner) {}
    ~Entry() { disarm(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    void disarm();
    [[nodiscard]] bool is_armed() const { return previous_ != nullptr; }

   private:
    friend class Deadlines;
    void (*expire_)(void*) = nullptr;
    void* owner_ = nullptr;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    Clock::time_point at_{};
  };

  Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  /// Arms `entry`, or moves it to another time. It fires within one sweep interval after `at`.
  void arm(Entry& entry, Clock::time_point at);
  /// The time of the last sweep: late by an interval at most, and free. For deadlines that are
  /// longer than that by far.
  [[nodiscard]] Clock::time_point coarse_now() const { return swept_; }
  /// True if nothing is armed.
  [[nodiscard]] bool is_idle() const { return head_.next_ == &head_; }
  /// Calls everything whose time has come. What is armed during the sweep waits for the next one.
  void sweep(Clock::time_point now);

 private:
  Entry head_;                      // A ring: head_ is its only fixed member.
  Entry cursor_{nullptr, nullptr};  // In the ring while it is swept: how far, and
  Entry end_{nullptr, nullptr};     // up to where; what is armed meanwhile lies behind it.
  Clock::time_point swept_ = Clock::now();
};

}  // namespace semel
