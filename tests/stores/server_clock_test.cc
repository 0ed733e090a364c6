#include "stores/server_clock.h"

#include <gtest/gtest.h>

#include "tests/stores/requests.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A server that is an hour ahead of our own clock, and answers 2 ms after it was asked.
class ServerClockTest : public ::testing::Test {
 protected:
  static constexpr nanoseconds kAhead = 1h;
  static constexpr nanoseconds kRoundTrip = 2ms;

  [[nodiscard]] nanoseconds boot() const { return boot_(); }
  /// A call now, whose answer is 1 ms of the server's on the way; `off` is how far its clock is
  /// from where it was.
  bool hear(nanoseconds off, nanoseconds round_trip = kRoundTrip) {
    const nanoseconds asked = boot();
    time_.advance(round_trip);
    return clock_.observe(asked + round_trip / 2 + kAhead + off, asked);
  }
  /// How far ahead of us it may be at the most, beyond the hour.
  [[nodiscard]] nanoseconds allowed() const {
    return clock_.latest() - boot() - ServerClock::kLeap - kAhead;
  }

  testing::MovedClock time_;
  std::function<nanoseconds()> boot_ = time_.clock().boot;
  ServerClock clock_{boot_};
};

TEST_F(ServerClockTest, NothingIsKnownBeforeTheFirstAnswer) {
  EXPECT_EQ(clock_.now(), StoreTime{0});
  EXPECT_EQ(clock_.latest(), StoreTime::max());
}

TEST_F(ServerClockTest, GoesOnWithOurOwnBetweenTwoAnswers) {
  ASSERT_TRUE(hear(0s));
  const StoreTime then = clock_.now();
  EXPECT_LE(then, boot() + kAhead);
  EXPECT_GE(then, boot() + kAhead - kRoundTrip);
  time_.advance(10s);
  EXPECT_EQ(clock_.now(), then + 10s);
}

TEST_F(ServerClockTest, MoreThanFiveSecondsAheadIsALeapAndLessIsNone) {
  ASSERT_TRUE(hear(0s));
  EXPECT_TRUE(hear(4'990ms));
  EXPECT_FALSE(hear(5'010ms));
  EXPECT_FALSE(hear(1h));
  EXPECT_LE(allowed(), kRoundTrip) << "a leap is not taken over, however often it is said";
  EXPECT_TRUE(hear(0s)) << "and is over once the server's clock is back";
}

TEST_F(ServerClockTest, WhatItSaysLastIsItsTimeALeapOrNot) {
  ASSERT_TRUE(hear(0s));
  ASSERT_FALSE(hear(1h));
  EXPECT_GE(clock_.now(), boot() + kAhead + 1h - kRoundTrip);
  EXPECT_LE(clock_.now(), boot() + kAhead + 1h);
}

TEST_F(ServerClockTest, IsTakenDownAtOnceAndLetUpByAMillisecondASecond) {
  ASSERT_TRUE(hear(4s));
  ASSERT_TRUE(hear(0s));
  EXPECT_LE(allowed(), kRoundTrip);
  ASSERT_TRUE(hear(4s));
  EXPECT_LE(allowed(), kRoundTrip) << "what it went back by is not given back at once";

  const nanoseconds before = allowed();
  time_.advance(100s);
  EXPECT_EQ(allowed(), before + 100ms);
  ASSERT_TRUE(hear(4s));
  EXPECT_GE(allowed(), before + 100ms);
  EXPECT_LE(allowed(), before + 101ms);
}

TEST_F(ServerClockTest, ADayOfDriftIsNoLeap) {
  ASSERT_TRUE(hear(0s));
  nanoseconds drift{0};
  for (int minute = 0; minute < 24 * 60; ++minute) {
    time_.advance(1min);
    drift += 50ms;  // 833 ppm
    ASSERT_TRUE(hear(drift)) << minute;
  }
  EXPECT_FALSE(hear(drift + 5'100ms)) << "and hides none";
}

TEST_F(ServerClockTest, ManySmallStepsAheadAreALeapInTheEnd) {
  ASSERT_TRUE(hear(0s));
  nanoseconds off{0};
  int steps = 0;
  while (hear(off) && steps < 100) {
    off += 1s;
    ++steps;
    time_.advance(1s);
  }
  EXPECT_GE(steps, 5);
  EXPECT_LE(steps, 6);
}

TEST_F(ServerClockTest, AnAnswerThatWaitedLongProvesLittle) {
  ASSERT_TRUE(hear(0s));
  const StoreTime now = clock_.now() - boot();
  const StoreTime latest = clock_.latest() - boot();
  // Stopped for a minute between the question and the answer.
  ASSERT_TRUE(hear(0s, 1min));
  EXPECT_EQ(clock_.now() - boot(), now);
  EXPECT_EQ(clock_.latest() - boot(), latest);
  // It is neither a leap nor a way to hide one.
  EXPECT_TRUE(hear(0s));
  EXPECT_FALSE(hear(5'010ms));
}

TEST_F(ServerClockTest, AFirstAnswerThatWaitedLongIsNoLeapOfTheSecond) {
  ASSERT_TRUE(hear(0s, 1min));
  EXPECT_TRUE(hear(0s));
  EXPECT_LE(allowed(), kRoundTrip);
}

TEST_F(ServerClockTest, AfterAnOperatorsWordTheNextAnswerIsTakenAsItIs) {
  ASSERT_TRUE(hear(0s));
  ASSERT_FALSE(hear(1h));
  const StoreTime now = clock_.now();
  clock_.forget();
  EXPECT_EQ(clock_.now(), now) << "claims that are asked before the next answer are not late";
  EXPECT_EQ(clock_.latest(), StoreTime::max());
  EXPECT_TRUE(hear(1h));
  EXPECT_GE(allowed(), 1h);
  EXPECT_TRUE(hear(1h));
}

}  // namespace
}  // namespace semel
