#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "core/check.h"

namespace semel {

/// Counts the coroutines that a worker has started and not yet seen the end of, so that a shutdown
/// waits for the last effect to be settled.
/// @thread One worker's.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { SEMEL_CHECK(held_ == 0); }

  /// Held by whoever is inside.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) { ++gate.held_; }
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  [[nodiscard]] Pass enter() { return Pass(*this); }
  [[nodiscard]] std::size_t held() const { return held_; }
  /// @param emptied  Called each time the last pass is given back.
  void on_empty(std::function<void()> emptied) { emptied_ = std::move(emptied); }

 private:
  void leave() {
    if (--held_ == 0 && emptied_) emptied_();
  }
  std::size_t held_ = 0;
  std::function<void()> emptied_;
};

}  // namespace semel
