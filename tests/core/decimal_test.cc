// Expected values: the arithmetic of a reader. The published vectors (key_vectors.jsonl) repeat it
// with Python's decimal module.
#include "core/decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

std::string canonical(std::string_view number) {
  std::string out;
  append_canonical_decimal(number, out);
  return out;
}

TEST(Decimal, EverySpellingOfANumberHasOneCanonicalForm) {
  struct Row {
    std::string_view spelling;
    std::string_view canonical;
  };
  const Row rows[] = {
      {"2", "2e0"},
      {"2.0", "2e0"},
      {"2e0", "2e0"},
      {"20e-1", "2e0"},
      {"0.2E+1", "2e0"},
      {"-2", "-2e0"},
      {"0", "0e0"},
      {"-0", "0e0"},
      {"-0.0e5", "0e0"},
      {"0e999999999999999999999", "0e0"},
      {"0.1", "1e-1"},
      {"1e-1", "1e-1"},
      {"0.10000000000000000000", "1e-1"},
      {"0.00120", "12e-4"},
      {"1200", "12e2"},
      {"1e0000000000000000000000003", "1e3"},
      {"10203.040", "1020304e-2"},
      {"9007199254740993", "9007199254740993e0"},
      {"9007199254740992", "9007199254740992e0"},
      {"1e10000", "1e10000"},
      {"100e10000", "1e10002"},
      {"0.1e-10000", "1e-10001"},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(is_keyable_number(row.spelling)) << row.spelling;
    EXPECT_EQ(canonical(row.spelling), row.canonical) << row.spelling;
  }
}

TEST(Decimal, BoundsAreCountedAsWritten) {
  EXPECT_TRUE(is_keyable_number(std::string(1000, '9')));
  EXPECT_FALSE(is_keyable_number(std::string(1001, '9')));
  EXPECT_TRUE(is_keyable_number("0." + std::string(998, '0') + "1"));
  EXPECT_FALSE(is_keyable_number("0." + std::string(999, '0') + "1"));
  EXPECT_TRUE(is_keyable_number("-1e-10000"));
  EXPECT_FALSE(is_keyable_number("-1e-10001"));
  EXPECT_FALSE(is_keyable_number("1E+10001"));
  EXPECT_FALSE(is_keyable_number("1e1000000000000000000000000000"));
}

TEST(Decimal, AZeroIsAZeroWhateverItsLength) {
  EXPECT_TRUE(is_keyable_number("0." + std::string(5000, '0') + "e-99999999999"));
  EXPECT_EQ(canonical("-0." + std::string(5000, '0') + "e-99999999999"), "0e0");
}

TEST(Decimal, ReadsTheGrammarOfJsonAndNoMore) {
  struct Row {
    std::string_view text;
    std::size_t length;
  };
  const Row rows[] = {{"", 0},     {"-", 0},   {"+1", 0},   {".5", 0},     {"5.", 0},
                      {"5.e1", 0}, {"1e", 0},  {"1e+", 0},  {"01", 0},     {"-01", 0},
                      {"00", 0},   {"NaN", 0}, {"0", 1},    {"-0", 2},     {"0.5", 3},
                      {"1e5,", 3}, {"12]", 2}, {"0x10", 1}, {"1.5E-07", 7}};
  for (const Row& row : rows) EXPECT_EQ(number_length(row.text), row.length) << row.text;
}

}  // namespace
}  // namespace semel
