#include "proxy/site.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace semel::proxy {
namespace {

TEST(BufferBudget, GrantsUpToItsLastByte) {
  BufferBudget budget(100);
  const auto first = budget.take(60);
  EXPECT_TRUE(first.is_granted());
  EXPECT_FALSE(budget.take(41).is_granted());
  EXPECT_TRUE(budget.take(40).is_granted());
}

TEST(BufferBudget, WhatIsHeldNoMoreMayBeTakenAgain) {
  BufferBudget budget(100);
  {
    const auto all = budget.take(100);
    EXPECT_FALSE(budget.take(1).is_granted());
  }
  EXPECT_TRUE(budget.take(100).is_granted());
}

TEST(BufferBudget, WhatIsHeldStaysWhenLessIsAllowed) {
  BufferBudget budget(100);
  {
    const auto held = budget.take(80);
    budget.allow(50);
    EXPECT_FALSE(budget.take(1).is_granted());
  }
  EXPECT_FALSE(budget.take(51).is_granted());
  EXPECT_TRUE(budget.take(50).is_granted());
}

TEST(BufferBudget, ARefusalTakesNothing) {
  BufferBudget budget(100);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(budget.take(101).is_granted());
  EXPECT_TRUE(budget.take(100).is_granted());
}

TEST(BufferBudget, NoNumberIsLargeEnoughToWrapAround) {
  BufferBudget budget(100);
  const auto some = budget.take(50);
  EXPECT_FALSE(budget.take(std::numeric_limits<std::size_t>::max()).is_granted());
  EXPECT_FALSE(budget.take(std::numeric_limits<std::size_t>::max() - 49).is_granted());
  EXPECT_TRUE(budget.take(50).is_granted());
}

TEST(BufferBudget, AShareThatIsHandedOnIsGivenBackOnce) {
  BufferBudget budget(100);
  {
    auto first = budget.take(100);
    BufferBudget::Share second = std::move(first);
    EXPECT_TRUE(second.is_granted());
    EXPECT_FALSE(first.is_granted());
    BufferBudget::Share third;
    third = std::move(second);
    EXPECT_FALSE(budget.take(1).is_granted());
  }
  EXPECT_TRUE(budget.take(100).is_granted());
  EXPECT_FALSE(budget.take(101).is_granted());
}

TEST(BufferBudget, WorkersThatTakeAtOnceNeverHoldMoreThanThereIs) {
  constexpr std::size_t kAll = 10;
  BufferBudget budget(kAll);
  std::atomic<std::size_t> held{0};
  std::atomic<bool> exceeded{false};
  const auto work = [&] {
    for (int i = 0; i < 20'000; ++i) {
      const auto share = budget.take(3);
      if (!share.is_granted()) continue;
      if (held.fetch_add(3) + 3 > kAll) exceeded = true;
      held.fetch_sub(3);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_FALSE(exceeded);
  EXPECT_TRUE(budget.take(kAll).is_granted()) << "nothing was lost";
}

TEST(ConnectionBudget, EachAddressHasItsShare) {
  ConnectionBudget budget(100, 2);
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_FALSE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.2"));
}

TEST(ConnectionBudget, AllAddressesTogetherHaveTheirLimit) {
  ConnectionBudget budget(3, 2);
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.2"));
  EXPECT_FALSE(budget.take("192.0.2.3"));
}

TEST(ConnectionBudget, WhatIsGivenBackMayBeTakenAgain) {
  ConnectionBudget budget(2, 1);
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.2"));
  budget.give_back("192.0.2.1");
  EXPECT_FALSE(budget.take("192.0.2.2"));
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_FALSE(budget.take("192.0.2.3"));
}

TEST(ConnectionBudget, WhatIsOpenStaysWhenLessIsAllowed) {
  ConnectionBudget budget(3, 3);
  EXPECT_TRUE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.1"));
  budget.allow(2, 1);
  EXPECT_FALSE(budget.take("192.0.2.2"));
  budget.give_back("192.0.2.1");
  EXPECT_FALSE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.2"));
}

TEST(ConnectionBudget, ARefusalTakesNothing) {
  ConnectionBudget budget(2, 1);
  EXPECT_TRUE(budget.take("192.0.2.1"));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(budget.take("192.0.2.1"));
  EXPECT_TRUE(budget.take("192.0.2.2"));
}

}  // namespace
}  // namespace semel::proxy
