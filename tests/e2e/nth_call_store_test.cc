// The N-th call that the program makes on the files of its store where no single exchange makes it:
// while it starts, and while the write-ahead log is carried into the database.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/e2e/fault_rig.h"

namespace semel::testing {
namespace {

/// A disk may be slow for a moment.
const std::set<std::string> kSlow = {"store-unavailable"};
constexpr Scene kBookingOnce = {"booking", CrashSite::kEffectful, "short"};
constexpr Syscall kOfTheStore[] = {Syscall::Open,      Syscall::Pread,    Syscall::Pwrite,
                                   Syscall::Fdatasync, Syscall::Fsync,    Syscall::Ftruncate,
                                   Syscall::Fallocate, Syscall::CloseFile};

/// Every place up to the fortieth, and then those that are a quarter further on: each start reads
/// what the ones before have left.
int next_place(int nth) { return nth < 40 ? nth + 1 : nth + nth / 4; }

bool starts(FaultRig& rig) {
  try {
    rig.gateway.semel.start();
    return true;
  } catch (const std::runtime_error&) {
    return false;  // It was killed, or says what it could not do, and ends.
  }
}

/// Kills the program between a claim and its dispatch, and strikes the start that follows.
/// @return Whether the blow struck.
bool strike_a_start(FaultRig& rig, const Place& place, const std::string& settled) {
  SCOPED_TRACE(std::string(place.blow.name) + " at " + name(place.call) + " " +
               std::to_string(place.nth));
  std::string run;
  rig.strikes.arm(Syscall::Connect, kKills[0], 1);
  EXPECT_TRUE(eventually([&] {
    run = rig.next_run(kBookingOnce);
    return told(rig.ask(kBookingOnce, run)) == "cut";
  }));
  EXPECT_TRUE(rig.strikes.disarm());
  rig.gateway.semel.wait();

  rig.strikes.arm(place.call, place.blow, place.nth);
  const bool is_up = starts(rig);
  const bool struck = rig.strikes.disarm();
  if (is_up && !place.kills()) {
    const std::string word = told(rig.ask(kBookingOnce, run));
    EXPECT_TRUE(word == "indeterminate" || word == "store-unavailable") << word;
  }
  if (struck) rig.start_again();
  EXPECT_EQ(told(rig.ask_past(kSlow, kBookingOnce, run)), "indeterminate");
  EXPECT_EQ(rig.tool.effects_of(run), 0);
  EXPECT_EQ(told(rig.ask_past(kSlow, kBookingOnce, settled)), "replayed");
  EXPECT_EQ(rig.tool.effects_of(settled), 1);
  return struck;
}

TEST(NthCallOfAStart, WhateverFailsTheNextStartKnowsAllThatWasKnown) {
  int faults = 0;
  int keyed_calls = 0;
  int second_effects = 0;
  for (const Syscall call : kOfTheStore) {
    FaultRig rig;
    const std::string settled = rig.next_run(kBookingOnce);
    EXPECT_EQ(told(rig.ask_past(kSlow, kBookingOnce, settled)), "executed");
    for (const Blow& blow : all_blows_of(call)) {
      int struck = 0;
      for (int nth = 1; nth <= last_nth_call(); nth = next_place(nth)) {
        if (!strike_a_start(rig, {call, blow, nth}, settled)) break;
        ++struck;
      }
      faults += struck;
      std::printf("  %-16s %-18s %d places\n", name(call), blow.name, struck);
    }
    keyed_calls += rig.keyed_calls;
    second_effects += rig.tool.second_effects();
  }
  std::printf("nth-call: scene=start faults=%d keyed_calls=%d double_effects=%d\n", faults,
              keyed_calls, second_effects);
  EXPECT_EQ(second_effects, 0) << "the promise";
  EXPECT_GT(faults, 50) << "a start that makes so few calls is none";
}

TEST(NthCallOfACheckpoint, WhateverFailsNoAnswerIsLostAndNothingRunsTwice) {
  // More than the log holds before it is carried over, in thousands of calls: of these, every one
  // that is so much further on than the one before.
  const Scene huge = {"checkpoint", CrashSite::kEffectful, "huge"};
  const int step = last_nth_call() > 40 ? 10 : 400;  // Per cent.
  CallTimes times = ample_times();
  times.yaml += "    record: {max_body: 16MiB}\n";
  int faults = 0;
  int keyed_calls = 0;
  int second_effects = 0;
  for (const Syscall call : {Syscall::Pread, Syscall::Pwrite, Syscall::Fdatasync}) {
    for (const Blow& blow : all_blows_of(call)) {
      FaultRig rig(times);
      int nth = 1;
      while (rig.strike(huge, {call, blow, nth}, false)) nth += std::max(1, nth * step / 100);
      rig.expect_nothing_is_forgotten();
      std::printf("  %-16s %-18s %d places to %d\n", name(call), blow.name, rig.faults, nth);
      faults += rig.faults;
      keyed_calls += rig.keyed_calls;
      second_effects += rig.second_effects;
    }
  }
  std::printf("nth-call: scene=checkpoint faults=%d keyed_calls=%d double_effects=%d\n", faults,
              keyed_calls, second_effects);
  EXPECT_GT(faults, 30) << "a checkpoint that makes so few calls is none";
}

}  // namespace
}  // namespace semel::testing
