#include "stores/fence_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace semel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Slot> slots_after(const FenceOrder& order, std::uint64_t fence) {
  std::vector<Slot> slots;
  order.visit_after(Fence{fence}, [&](Slot slot) {
    slots.push_back(slot);
    return true;
  });
  return slots;
}

TEST(FenceOrder, ShowsWhatIsBehindACursorInOrder) {
  FenceOrder order;
  for (const std::uint64_t fence : {1, 5, 9}) {
    order.insert(Fence{fence}, static_cast<Slot>(fence * 10));
  }
  EXPECT_THAT(slots_after(order, 0), ElementsAre(10, 50, 90));
  EXPECT_THAT(slots_after(order, 5), ElementsAre(90));
  EXPECT_THAT(slots_after(order, 6), ElementsAre(90));
  EXPECT_THAT(slots_after(order, UINT64_MAX), IsEmpty());
}

TEST(FenceOrder, StopsWhenTheVisitorHasEnough) {
  FenceOrder order;
  for (std::uint64_t fence = 1; fence <= 5; ++fence) order.insert(Fence{fence}, 0);
  int seen = 0;
  order.visit_after(Fence{0}, [&](Slot) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

TEST(FenceOrder, WhatComesBackLaterStandsWhereItStood) {
  FenceOrder order;
  for (std::uint64_t fence = 1; fence <= 5; ++fence) order.insert(Fence{fence}, Slot(fence));
  order.erase(Fence{3}, 3);
  order.erase(Fence{1}, 1);
  order.insert(Fence{3}, 33);
  order.insert(Fence{1}, 11);
  EXPECT_THAT(slots_after(order, 0), ElementsAre(11, 2, 33, 4, 5));
}

TEST(FenceOrder, ADamagedFileMayShowOneFenceTwice) {
  FenceOrder order;
  order.insert(Fence{7}, 1);
  order.insert(Fence{7}, 2);
  order.erase(Fence{7}, 1);
  EXPECT_THAT(slots_after(order, 0), ElementsAre(2));
}

TEST(FenceOrder, AgreesWithAMapThroughALongRandomLife) {
  std::mt19937 random(2);
  FenceOrder order;
  std::map<std::uint64_t, Slot> standing;
  std::uint64_t fence = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (standing.empty() || random() % 100 < 52) {
      fence += 1 + random() % 3;
      order.insert(Fence{fence}, static_cast<Slot>(step));
      standing.emplace(fence, static_cast<Slot>(step));
    } else {
      auto at = standing.lower_bound(random() % (fence + 1));
      if (at == standing.end()) at = standing.begin();
      order.erase(Fence{at->first}, at->second);
      standing.erase(at);
    }
    ASSERT_EQ(order.size(), standing.size());
    if (step % 500 != 0) continue;
    std::vector<Slot> expected;
    const std::uint64_t cursor = random() % (fence + 1);
    for (auto at = standing.upper_bound(cursor); at != standing.end(); ++at) {
      expected.push_back(at->second);
    }
    ASSERT_EQ(slots_after(order, cursor), expected);
  }
}

}  // namespace
}  // namespace semel
