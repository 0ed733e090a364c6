#include "io/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace semel {
namespace {

TEST(RandomBits, NoIdComesTwiceAlsoBeyondManyPages) {
  RandomBits random;
  std::set<ClaimToken> tokens;
  std::set<Reference> references;
  constexpr std::size_t kDraws = 5'000;  // Some forty pages.
  for (std::size_t i = 0; i < kDraws; ++i) {
    tokens.insert(random.token());
    references.insert(random.reference());
  }
  EXPECT_EQ(tokens.size(), kDraws);
  EXPECT_EQ(references.size(), kDraws);
}

TEST(RandomBits, TwoWorkersDrawDifferentIds) {
  RandomBits one, other;
  EXPECT_NE(one.token(), other.token());
}

TEST(RandomBits, EveryBitOfAnIdIsSometimesSetAndSometimesNot) {
  RandomBits random;
  std::array<std::uint8_t, 16> ever{};
  std::array<std::uint8_t, 16> always{};
  always.fill(0xFF);
  for (int i = 0; i < 400; ++i) {
    const ClaimToken token = random.token();
    for (std::size_t byte = 0; byte < token.bytes.size(); ++byte) {
      ever[byte] |= token.bytes[byte];
      always[byte] &= token.bytes[byte];
    }
  }
  for (std::size_t byte = 0; byte < ever.size(); ++byte) {
    EXPECT_EQ(ever[byte], 0xFF) << "byte " << byte;
    EXPECT_EQ(always[byte], 0) << "byte " << byte;
  }
}

TEST(RandomBits, NumbersUseAllSixtyFourBits) {
  RandomBits random;
  std::uint64_t ever = 0;
  for (int i = 0; i < 400; ++i) ever |= random.number();
  EXPECT_EQ(ever, ~std::uint64_t{0});
}

TEST(RandomBits, AWholePageIsGivenWhateverWasDrawnBefore) {
  RandomBits random;
  static_cast<void>(random.number());
  std::vector<std::uint8_t> page(4096);
  random.fill(page.data(), page.size());
  // 64 zeros in a row do not come about by chance.
  const std::vector<std::uint8_t> zeros(64);
  EXPECT_EQ(std::search(page.begin(), page.end(), zeros.begin(), zeros.end()), page.end());
}

TEST(RandomBitsDeathTest, MoreThanAPageIsABrokenProgram) {
  RandomBits random;
  std::vector<std::uint8_t> much(4097);
  EXPECT_DEATH(random.fill(much.data(), much.size()), "");
}

}  // namespace
}  // namespace semel
