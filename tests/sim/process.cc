#include "tests/sim/process.h"

#include <utility>

#include "core/check.h"

namespace semel::sim {
namespace {

using std::chrono::microseconds;

Process* running = nullptr;

/// From the news to the process that waits for it.
constexpr microseconds kWakeLeast{2};
constexpr microseconds kWakeMost{60};

}  // namespace

Process::Process(Timeline& timeline, Dice& dice, std::uint16_t id, std::function<void()> program,
                 std::function<void()> on_dead)
    : timeline_(timeline),
      dice_(dice),
      id_(id),
      fiber_(std::make_unique<Fiber>(std::move(program))),
      on_dead_(std::move(on_dead)) {}

Process* Process::current() { return running; }

void Process::start() { schedule(timeline_.now()); }

/// The last plan counts: an earlier one finds that the turn has passed.
void Process::schedule(Time when) {
  const std::uint64_t turn = ++turn_;
  timeline_.at(when, [this, turn] {
    if (alive_ && turn == turn_) run();
  });
}

void Process::run() {
  waiting_ = false;
  if (std::exchange(paused_, false) && on_resumed) on_resumed();
  running = this;
  fiber_->resume();
  running = nullptr;
  if (killed_ || fiber_->has_ended()) die();
}

void Process::die() {
  alive_ = false;
  ++turn_;
  fiber_.reset();
  on_dead_();
}

void Process::wake() {
  if (!waiting_ || woken_) return;
  woken_ = true;
  schedule(timeline_.now() + dice_.between(kWakeLeast, kWakeMost));
}

void Process::wait(Time until) {
  SEMEL_CHECK(running == this);
  stopping_point();
  waiting_ = true;
  woken_ = false;
  if (until != Time::max()) schedule(until);
  fiber_->yield();
  stopping_point();
}

void Process::suffer(Fate fate) {
  SEMEL_CHECK(running == this);
  if (fate.what == Fate::What::GoOn) return;
  if (on_fate) on_fate(fate);
  if (fate.what == Fate::What::Kill) {
    killed_ = true;
  } else {
    paused_ = true;
    last_pause_began = timeline_.now();
    schedule(timeline_.now() + fate.span);
  }
  fiber_->yield();
}

void Process::doom(Fate fate) {
  if (!alive_ || paused_) return;
  if (fate.what == Fate::What::Kill && waiting_) {
    if (on_fate) on_fate(fate);
    die();
    return;
  }
  doomed_ = fate;
  if (waiting_) wake();
}

void Process::stopping_point() { suffer(std::exchange(doomed_, Fate{})); }

}  // namespace semel::sim
