#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tests/sim/dice.h"
#include "tests/sim/fiber.h"
#include "tests/sim/timeline.h"

namespace semel::sim {

/// What becomes of a process at one of the points where the world may interfere.
struct Fate {
  enum class What : std::uint8_t { GoOn, Pause, Kill };
  What what = What::GoOn;
  Time span{0};  ///< Of a pause.
};

/// One process of the simulated machine: a fiber that sleeps where it would wait for its kernel.
/// Nothing is left of it once it was killed but the memory that it held.
class Process {
 public:
  /// @param id       From 1.
  /// @param on_dead  Called when it has ended, by itself or killed; its descriptors are closed
  ///                 there.
  Process(Timeline& timeline, Dice& dice, std::uint16_t id, std::function<void()> program,
          std::function<void()> on_dead);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Whose code runs; null: the world's own.
  [[nodiscard]] static Process* current();

  [[nodiscard]] std::uint16_t id() const { return id_; }
  [[nodiscard]] bool is_alive() const { return alive_; }
  [[nodiscard]] bool is_paused() const { return paused_; }

  void start();
  /// From outside: ends a wait().
  void wake();
  /// From inside: sleeps until wake() or until `until`.
  void wait(Time until);
  /// From inside: suffers it. Does not return from a kill.
  void suffer(Fate fate);
  /// From outside: at the next point where it may be stopped, or at once where it sleeps.
  void doom(Fate fate);
  /// From inside, at a point where it may be stopped: what was planned from outside happens.
  void stopping_point();

  /// What the history is to know of it.
  std::function<void(const Fate&)> on_fate;
  std::function<void()> on_resumed;

  Time last_boot_reading{-1};  ///< When it last looked at CLOCK_BOOTTIME.
  Time last_pause_began{-1};

 private:
  void schedule(Time when);
  void run();
  void die();

  Timeline& timeline_;
  Dice& dice_;
  const std::uint16_t id_;
  std::unique_ptr<Fiber> fiber_;
  std::function<void()> on_dead_;
  Fate doomed_;
  std::uint64_t turn_ = 0;  ///< Of the planned resumption that counts.
  bool alive_ = true;
  bool waiting_ = false;
  bool paused_ = false;
  bool woken_ = false;
  bool killed_ = false;
};

}  // namespace semel::sim
