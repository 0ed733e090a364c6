#include "proxy/key_quota.h"

#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;

constexpr KeyQuota::Clock::time_point at(std::chrono::seconds since) {
  return KeyQuota::Clock::time_point(since);
}

TEST(KeyQuota, EachTenantHasItsOwnInEachMinute) {
  KeyQuota quota;
  EXPECT_TRUE(quota.take("acme", 2, at(60s)));
  EXPECT_TRUE(quota.take("acme", 2, at(90s)));
  EXPECT_FALSE(quota.take("acme", 2, at(119s)));
  EXPECT_TRUE(quota.take("globex", 2, at(119s)));
  EXPECT_TRUE(quota.take("acme", 2, at(120s)));
}

TEST(KeyQuota, WhatIsGivenBackMayBeTakenAgainOnce) {
  KeyQuota quota;
  ASSERT_TRUE(quota.take("acme", 1, at(60s)));
  quota.give_back("acme", at(61s));
  EXPECT_TRUE(quota.take("acme", 1, at(62s)));
  EXPECT_FALSE(quota.take("acme", 1, at(63s)));
  quota.give_back("nobody", at(63s));
  EXPECT_TRUE(quota.take("nobody", 1, at(64s)));
  EXPECT_FALSE(quota.take("nobody", 1, at(64s)));
}

TEST(KeyQuota, AClockThatIsReadALittleEarlierDoesNotEndTheMinute) {
  KeyQuota quota;
  ASSERT_TRUE(quota.take("acme", 1, at(120s)));
  EXPECT_FALSE(quota.take("acme", 1, at(119s)));
  EXPECT_FALSE(quota.take("acme", 1, at(121s)));
}

TEST(KeyQuota, TheNextMinuteIsOneToSixtySecondsAway) {
  EXPECT_EQ(KeyQuota::until_next(at(60s)), 60s);
  EXPECT_EQ(KeyQuota::until_next(at(119s)), 1s);
  EXPECT_EQ(KeyQuota::until_next(at(119s) + 999ms), 1s);
}

}  // namespace
}  // namespace semel::proxy
