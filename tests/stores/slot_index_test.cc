#include "stores/slot_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace semel {
namespace {

Slot find_exactly(const SlotIndex& index, std::uint32_t hash, Slot slot) {
  return index.find(hash, [slot](Slot other) { return other == slot; });
}

TEST(SlotIndex, AnEmptyOneFindsNothing) {
  const SlotIndex index;
  EXPECT_EQ(index.find(7, [](Slot) { return true; }), kNoSlot);
}

TEST(SlotIndex, EverySlotIsFoundHoweverOftenTheTableGrew) {
  SlotIndex index;
  constexpr Slot kSlots = 300'000;  // More than a large page has room for.
  for (Slot slot = 0; slot < kSlots; ++slot) index.insert(slot * 2654435761u, slot);
  EXPECT_EQ(index.size(), kSlots);
  for (Slot slot = 0; slot < kSlots; ++slot) {
    ASSERT_EQ(index.find(slot * 2654435761u, [](Slot) { return true; }), slot);
  }
}

TEST(SlotIndex, SlotsUnderOneHashAreToldApartByTheCaller) {
  SlotIndex index;
  for (Slot slot = 0; slot < 200; ++slot) index.insert(42, slot);
  for (Slot slot = 0; slot < 200; slot += 2) index.erase(42, slot);
  for (Slot slot = 0; slot < 200; ++slot) {
    EXPECT_EQ(find_exactly(index, 42, slot), slot % 2 == 0 ? kNoSlot : slot) << slot;
  }
}

TEST(SlotIndex, OnlySlotsOfThatVeryHashAreShownToTheCaller) {
  SlotIndex index;
  index.insert(1, 10);
  index.insert(65, 11);  // The same bucket of the first 64.
  const Slot none = index.find(65, [](Slot slot) {
    EXPECT_EQ(slot, 11u);
    return false;
  });
  EXPECT_EQ(none, kNoSlot);
}

TEST(SlotIndex, ARunThatGoesRoundTheEndSurvivesErasures) {
  SlotIndex index;
  for (Slot slot = 0; slot < 10; ++slot) index.insert(60, slot);
  for (Slot slot = 0; slot < 10; ++slot) index.insert(1, 100 + slot);
  for (Slot slot = 0; slot < 10; ++slot) index.erase(60, slot);
  for (Slot slot = 0; slot < 10; ++slot) EXPECT_EQ(find_exactly(index, 1, 100 + slot), 100 + slot);
}

TEST(SlotIndex, AgreesWithAMapThroughALongRandomLife) {
  std::mt19937 random(1);
  SlotIndex index;
  std::map<Slot, std::uint32_t> standing;
  for (int step = 0; step < 50'000; ++step) {
    const auto slot = static_cast<Slot>(random() % 500);
    const auto at = standing.find(slot);
    if (at == standing.end()) {
      const auto hash = static_cast<std::uint32_t>(random() % 64);  // Crowded on purpose.
      index.insert(hash, slot);
      standing.emplace(slot, hash);
    } else {
      ASSERT_EQ(find_exactly(index, at->second, slot), slot);
      index.erase(at->second, slot);
      ASSERT_EQ(find_exactly(index, at->second, slot), kNoSlot);
      standing.erase(at);
    }
    ASSERT_EQ(index.size(), standing.size());
  }
}

}  // namespace
}  // namespace semel
