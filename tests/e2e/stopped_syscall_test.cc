// The program itself, stopped before the N-th call of one kind until its lease has ended, for N =
// 1, 2, 3, ... until an exchange runs through: the laws of guarantee 11.3 hold at every one of
// these places.
#include <gtest/gtest.h>

#include <deque>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/fault_rig.h"

namespace semel::testing {
namespace {

constexpr int kFarTooMany = 100;
/// With brief times a loaded machine may come too late for the dispatch, as for the store.
const std::set<std::string> kSlow = {"store-unavailable", "upstream-unreachable"};
constexpr Scene kBookingOnce = {"booking", CrashSite::kEffectful, "short"};

/// @return true: the call came through without a stop.
bool runs_on(FaultRig& rig, Syscall call, int nth) {
  const std::string run = rig.next_run(kBookingOnce);
  SCOPED_TRACE(run + ": stopped at " + name(call) + " " + std::to_string(nth));
  SemelProcess& semel = rig.gateway.semel;
  rig.strikes.arm(call, kStop, nth);
  std::future<Response> pending =
      std::async(std::launch::async, [&rig, &run] { return rig.ask(kBookingOnce, run); });
  const auto is_over = [&] {
    return pending.wait_for(milliseconds{0}) == std::future_status::ready;
  };
  EXPECT_TRUE(eventually([&] { return rig.strikes.has_struck() || is_over(); }));
  const bool stopped = rig.strikes.disarm();
  if (stopped) {
    EXPECT_TRUE(eventually([&] { return semel.is_stopped(); }));
    std::this_thread::sleep_for(brief_times().lease);  // What the stop is about.
    semel.sigcont();
  }
  const Response first = pending.get();
  const int before = rig.tool.effects_of(run);
  const Response retry = rig.ask_past(kSlow, kBookingOnce, run);
  std::printf("%s %d: %s, then %s\n", name(call), nth, told(first).c_str(), told(retry).c_str());
  EXPECT_LE(rig.tool.effects_of(run), 1) << "the promise";
  if (told(retry) == "executed") {
    EXPECT_EQ(before, 0) << "a second run";
  }
  if (told(first) == "executed") {
    EXPECT_EQ(told(retry), "replayed") << "an answer that was given is durable";
    EXPECT_TRUE(retry.body == first.body);
  }
  if (told(first) == "store-unavailable") {
    EXPECT_EQ(told(retry), "executed") << "a call that was not dispatched leaves nothing unknown";
  }
  const Response again = rig.ask_past(kSlow, kBookingOnce, run);
  EXPECT_EQ(told(again), told(retry) == "executed" ? "replayed" : told(retry));
  return !stopped;
}

TEST(StoppedSyscall, PastTheLeaseAtNoneOfThemACallRunsTwice) {
  std::deque<FaultRig> rigs;
  std::vector<std::function<void()>> jobs;
  for (const Syscall call : {Syscall::Accept, Syscall::Recv, Syscall::Pwrite, Syscall::Fdatasync,
                             Syscall::Socket, Syscall::Connect, Syscall::Send, Syscall::EpollCtl}) {
    FaultRig& rig = rigs.emplace_back(brief_times());
    jobs.emplace_back([&rig, call] {
      int nth = 1;
      while (nth < kFarTooMany && !runs_on(rig, call, nth)) ++nth;
      EXPECT_GT(nth, 1) << "a call does without " << name(call);
      EXPECT_LT(nth, kFarTooMany) << name(call);
    });
  }
  run_together(jobs);
}

}  // namespace
}  // namespace semel::testing
