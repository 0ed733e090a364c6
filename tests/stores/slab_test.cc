#include "stores/slab.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace semel {
namespace {

TEST(Slab, GivesEachTakerASlotOfItsOwn) {
  Slab<int> slab;
  std::set<Slot> slots;
  for (int n = 0; n < 5'000; ++n) {
    const Slot slot = slab.take();
    slab[slot] = n;
    EXPECT_TRUE(slots.insert(slot).second);
  }
  EXPECT_EQ(slab.size(), 5'000u);
}

TEST(Slab, NothingMovesWhileItGrows) {
  Slab<int> slab;
  const int* first = &slab[slab.take()];
  for (int n = 0; n < 5'000; ++n) static_cast<void>(slab.take());
  EXPECT_EQ(first, &slab[0]);
}

TEST(Slab, WhatWasGivenBackIsEmptiedAndTakenAgainFirst) {
  Slab<std::shared_ptr<int>> slab;
  const auto kept = std::make_shared<int>(1);
  const Slot slot = slab.take();
  static_cast<void>(slab.take());
  slab[slot] = kept;
  slab.give_back(slot);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(slab.size(), 1u);
  EXPECT_EQ(slab.take(), slot);
  EXPECT_EQ(slab[slot], nullptr);
}

}  // namespace
}  // namespace semel
