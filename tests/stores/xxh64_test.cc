#include "stores/xxh64.h"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

/// Computed with libxxhash 0.8.1.
TEST(Xxh64, HashesAsTheReferenceLibraryDoes) {
  struct Row {
    std::string bytes;
    std::uint64_t seed;
    std::uint64_t hash;
  };
  const Row rows[] = {
      {"", 0, 0xef46db3751d8e999},
      {"a", 0, 0xd24ec4f1a98c6e5b},
      {"abc", 0, 0x44bc2cf5ad770999},
      {"Nobody inspects the spammish repetition", 0, 0xfbcea83c8a378bf1},
      {"", 1, 0xd5afba1336a3be4b},
      {"abc", 0x9e3779b185ebca8d, 0x7e49c9d7e85a4ab6},
      {"0123456789abcdef0123456789abcde", 7, 0x9bfbacf6829bf320},
      {"0123456789abcdef0123456789abcdef", 7, 0xf3bfb9ba5c7df996},
      {all_bytes(), 0xffffffffffffffff, 0x9fd2bfcee8985e7f},
  };
  for (const Row& row : rows) EXPECT_EQ(xxh64(row.bytes, row.seed), row.hash) << row.bytes;
}

}  // namespace
}  // namespace semel
