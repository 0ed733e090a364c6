#include "io/deadlines.h"

#include <gtest/gtest.h>

#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;

struct Owner {
  explicit Owner(std::vector<int>& log, int id) : log(log), id(id), entry(&Owner::expire, this) {}
  static void expire(void* self) {
    auto* owner = static_cast<Owner*>(self);
    owner->log.push_back(owner->id);
    if (owner->victim != nullptr) owner->victim->entry.disarm();
    if (owner->rearm != nullptr) owner->rearm->arm(owner->entry, {});
  }
  std::vector<int>& log;
  int id;
  Owner* victim = nullptr;
  Deadlines* rearm = nullptr;
  Deadlines::Entry entry;
};

TEST(Deadlines, FireOnceWhenTheirTimeHasCome) {
  Deadlines deadlines;
  std::vector<int> log;
  Owner early(log, 1), late(log, 2);
  const auto start = Deadlines::Clock::time_point{} + 1h;
  deadlines.arm(early.entry, start + 10ms);
  deadlines.arm(late.entry, start + 20ms);
  deadlines.sweep(start);
  EXPECT_TRUE(log.empty());
  deadlines.sweep(start + 10ms);
  EXPECT_EQ(log, std::vector<int>({1}));
  deadlines.sweep(start + 1s);
  EXPECT_EQ(log, std::vector<int>({1, 2}));
  deadlines.sweep(start + 2s);
  EXPECT_EQ(log.size(), 2u);
}

TEST(Deadlines, OneThatIsMovedFiresAtItsNewTime) {
  Deadlines deadlines;
  std::vector<int> log;
  Owner one(log, 1);
  const auto start = Deadlines::Clock::time_point{} + 1h;
  deadlines.arm(one.entry, start);
  deadlines.arm(one.entry, start + 50ms);
  deadlines.sweep(start + 10ms);
  EXPECT_TRUE(log.empty());
  deadlines.sweep(start + 50ms);
  EXPECT_EQ(log, std::vector<int>({1}));
}

TEST(Deadlines, ACallbackMayDisarmAnyOther) {
  Deadlines deadlines;
  std::vector<int> log;
  Owner first(log, 1), second(log, 2), third(log, 3);
  first.victim = &second;
  for (Owner* owner : {&first, &second, &third}) deadlines.arm(owner->entry, {});
  deadlines.sweep(Deadlines::Clock::time_point{} + 1s);
  EXPECT_EQ(log, std::vector<int>({1, 3}));
}

TEST(Deadlines, WhatIsArmedDuringASweepWaitsForTheNext) {
  Deadlines deadlines;
  std::vector<int> log;
  Owner again(log, 1);
  again.rearm = &deadlines;
  deadlines.arm(again.entry, {});
  deadlines.sweep(Deadlines::Clock::time_point{} + 1s);
  EXPECT_EQ(log.size(), 1u);
  again.rearm = nullptr;
  deadlines.sweep(Deadlines::Clock::time_point{} + 2s);
  EXPECT_EQ(log.size(), 2u);
}

TEST(Deadlines, AnEntryLeavesTheSweepWhenItEnds) {
  Deadlines deadlines;
  std::vector<int> log;
  {
    Owner gone(log, 1);
    deadlines.arm(gone.entry, {});
  }
  deadlines.sweep(Deadlines::Clock::time_point{} + 1s);
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace semel
