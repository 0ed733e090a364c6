#include "stores/row_tally.h"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

/// Computed by a program of its own, from docs/record-format.md and the xxHash specification.
TEST(RowHash, IsThatOfThePublishedFormat) {
  constexpr char kStore[] = "0123456789abcdef0123456789abcdef";
  std::string key;
  for (int byte = 0; byte < 32; ++byte) key.push_back(static_cast<char>(byte));
  struct Row {
    std::string store_id;
    std::uint64_t seq;
    std::string entry;
    std::optional<std::uint64_t> response_bytes;
    std::uint64_t hash;
  };
  const Row rows[] = {
      {kStore, 1, "entry", std::nullopt, 0xbf1123110a6c10a9},
      {kStore, 1, "entry", 0, 0x77e8442b588db24a},
      {kStore, 1'099'511'627'776, "", 65'536, 0xf4a1bc59fa58966e},
      {"another", 1, "entry", std::nullopt, 0xb2ce93ed76b0ff8f},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RowHash(row.store_id).of(row.seq, key, row.entry, row.response_bytes), row.hash)
        << row.store_id << ' ' << row.seq;
  }
}

}  // namespace
}  // namespace semel
