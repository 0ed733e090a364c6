#include "config/units.h"

#include <gtest/gtest.h>

namespace semel::config {
namespace {

using std::chrono::milliseconds;

TEST(Units, DurationsOfTheSpecificationAreRead) {
  struct Row {
    const char* text;
    std::int64_t milliseconds;
  };
  for (const Row& row : {Row{"250ms", 250}, Row{"30s", 30'000}, Row{"5m", 300'000},
                         Row{"24h", 86'400'000}, Row{"7d", 604'800'000}, Row{"0s", 0}}) {
    EXPECT_EQ(parse_duration(row.text), milliseconds(row.milliseconds)) << row.text;
  }
}

TEST(Units, WhatIsNoDurationIsRefused) {
  for (const char* text : {"", "30", "s", "030s", "1.5s", "-1s", "+1s", "30 s", "30S", "1h30m",
                           "1w", "99999999999999999999s", "36601d", "0x10s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Units, SizesOfTheSpecificationAreRead) {
  EXPECT_EQ(parse_size("64KiB"), 65'536u);
  EXPECT_EQ(parse_size("1MiB"), 1'048'576u);
  EXPECT_EQ(parse_size("2GiB"), 2'147'483'648u);
  EXPECT_EQ(parse_size("512B"), 512u);
}

TEST(Units, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "64", "64KB", "64kib", "1M", "1.5MiB", "-1B", "1025GiB"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(Units, IntegersHaveNoSignAndNoLeadingZero) {
  EXPECT_EQ(parse_integer("0"), 0u);
  EXPECT_EQ(parse_integer("18446744073709551615"), 18'446'744'073'709'551'615u);
  for (const char* text :
       {"", "010", "00", "-1", "+1", "1 ", "0x1", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Units, DurationsAndSizesAreSaidShortly) {
  EXPECT_EQ(to_text(milliseconds(0)), "0s");
  EXPECT_EQ(to_text(milliseconds(1'500)), "1500ms");
  EXPECT_EQ(to_text(milliseconds(125'000)), "125s");
  EXPECT_EQ(to_text(milliseconds(600'000)), "10m");
  EXPECT_EQ(to_text(milliseconds(86'400'000)), "24h");
  EXPECT_EQ(to_text(milliseconds(604'800'000)), "7d");
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(size_text(1'048'576), "1MiB");
  EXPECT_EQ(size_text(1'048'577), "1048577B");
}

}  // namespace
}  // namespace semel::config
