#include "stores/piece_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace semel {
namespace {

struct Taken {
  unsigned char* bytes;
  std::size_t size;
  unsigned char filling;
};

Taken take(PiecePool& pool, std::size_t size, std::size_t number) {
  const Taken taken{static_cast<unsigned char*>(pool.take(size)), size,
                    static_cast<unsigned char>(number)};
  std::memset(taken.bytes, taken.filling, size);
  return taken;
}

TEST(PiecePool, NoTwoPiecesOverlapWhateverTheirSizes) {
  PiecePool pool;
  std::vector<Taken> all;
  for (std::size_t size = 1; size <= PiecePool::kPieceMax; size += 7) {
    all.push_back(take(pool, size, all.size()));
    all.push_back(take(pool, PiecePool::kPieceMax, all.size()));
  }
  for (const Taken& each : all) {
    for (std::size_t i = 0; i < each.size; ++i) ASSERT_EQ(each.bytes[i], each.filling);
  }
}

TEST(PiecePool, EveryPieceIsAlignedForAnything) {
  PiecePool pool;
  for (const std::size_t size : {1, 31, 33, 4'097}) {
    const auto address = reinterpret_cast<std::uintptr_t>(pool.take(size));
    EXPECT_EQ(address % alignof(std::max_align_t), 0u) << size;
  }
}

TEST(PiecePool, WhatWasGivenBackIsTakenAgainForItsSize) {
  PiecePool pool;
  void* const small = pool.take(40);
  void* const large = pool.take(400);
  pool.give_back(small, 40);
  pool.give_back(large, 400);
  EXPECT_EQ(pool.take(400), large);
  EXPECT_EQ(pool.take(40), small);
  EXPECT_NE(pool.take(40), small);
}

}  // namespace
}  // namespace semel
