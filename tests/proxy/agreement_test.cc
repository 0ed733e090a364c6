#include "proxy/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace semel::proxy {
namespace {

using Clock = Agreement::Clock;
using Places = std::vector<std::size_t>;

TEST(Agreement, OfAStoreThatNobodySharesHoldsForGood) {
  const Agreement agreement(2, Agreement::Sharing::Alone);
  EXPECT_FALSE(agreement.is_changed(0));
  EXPECT_FALSE(agreement.is_changed(1));
  EXPECT_TRUE(agreement.is_known(Clock::now() + std::chrono::hours(24 * 365)));
}

TEST(Agreement, HoldsForAWhileFromTheQuestionOn) {
  Agreement agreement(1, Agreement::Sharing::WithOthers);
  const auto now = Clock::now();
  EXPECT_TRUE(agreement.is_known(now));
  EXPECT_FALSE(agreement.is_known(now + Agreement::kHolds));
  const auto asked = now + std::chrono::hours(1);
  EXPECT_TRUE(agreement.tell(Places{}, asked));
  EXPECT_TRUE(agreement.is_known(asked + Agreement::kHolds - std::chrono::nanoseconds(1)));
  EXPECT_FALSE(agreement.is_known(asked + Agreement::kHolds));
}

TEST(Agreement, IsOfEachRouteByItself) {
  Agreement agreement(4, Agreement::Sharing::WithOthers);
  const auto changed = [&agreement] {
    Places places;
    for (std::size_t route = 0; route < 4; ++route) {
      if (agreement.is_changed(route)) places.push_back(route);
    }
    return places;
  };
  for (const Places& told : {Places{0, 2}, Places{3}, Places{0, 1, 2, 3}, Places{}}) {
    EXPECT_TRUE(agreement.tell(told, Clock::now()));
    EXPECT_EQ(changed(), told);
  }
}

TEST(Agreement, WhatWasSeenBeforeTheRoutesWereAdoptedSaysNothingOfThem) {
  const auto before = Clock::now() - std::chrono::nanoseconds(1);
  Agreement agreement(1, Agreement::Sharing::WithOthers);
  EXPECT_FALSE(agreement.tell(Places{0}, before));
  EXPECT_FALSE(agreement.is_changed(0));
}

}  // namespace
}  // namespace semel::proxy
