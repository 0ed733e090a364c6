#include "stores/pg_value.h"

#include <gmock/gmock.h>

#include <limits>

namespace semel::testing {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;

// The bytes are what PostgreSQL 15 itself sends: `COPY (SELECT ...) TO STDOUT (FORMAT binary)`.
TEST(PgValue, IntegersAreBigEndian) {
  EXPECT_EQ(pg_int8(1), "\0\0\0\0\0\0\0\1"s);
  EXPECT_EQ(pg_int8(-2), "\xff\xff\xff\xff\xff\xff\xff\xfe"s);
  EXPECT_EQ(pg_int4(258), "\0\0\1\2"s);
  EXPECT_EQ(pg_int2(-1), "\xff\xff"s);
  EXPECT_EQ(pg_bool(true), "\1"s);
}

TEST(PgValue, AnIntegerIsReadInTheWidthInWhichItCame) {
  EXPECT_EQ(pg_integer("\0\0\0\0\0\0\0\1"s), 1);
  EXPECT_EQ(pg_integer("\x80\0\0\0\0\0\0\0"s), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(pg_integer("\xff\xff\xff\xfe"s), -2);
  EXPECT_EQ(pg_integer("\x7f\xff"s), 32'767);
  EXPECT_EQ(pg_integer("\1"s), 1);
  EXPECT_EQ(pg_integer("\0"s), 0);
}

TEST(PgValue, WhatIsNoIntegerIsNone) {
  EXPECT_EQ(pg_integer(std::nullopt), std::nullopt);
  EXPECT_EQ(pg_integer(""), std::nullopt);
  EXPECT_EQ(pg_integer("123"), std::nullopt);
  EXPECT_EQ(pg_integer("123456789"), std::nullopt);
}

TEST(PgValue, AnArrayIsSpelledAsTheServerSpellsIt) {
  const std::vector<PgValue> values{"ab", std::nullopt, ""};
  const std::string spelled =
      "\0\0\0\1\0\0\0\1\0\0\0\x11\0\0\0\3\0\0\0\1"s
      "\0\0\0\2ab\xff\xff\xff\xff\0\0\0\0"s;
  EXPECT_EQ(pg_array(PgType::Bytea, values), spelled);
  EXPECT_THAT(*pg_elements(spelled), ElementsAre("ab", std::nullopt, ""));
  const std::string empty = "\0\0\0\0\0\0\0\0\0\0\0\x14"s;
  EXPECT_EQ(pg_array(PgType::Int8, {}), empty);
  EXPECT_THAT(*pg_elements(empty), ElementsAre());
}

TEST(PgValue, AnArrayThatIsCutOrHasMoreIsNone) {
  const std::string whole = *pg_array(PgType::Text, std::vector<PgValue>{"abc", "d"});
  ASSERT_TRUE(pg_elements(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(pg_elements(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(pg_elements(whole + "x"));
  EXPECT_FALSE(pg_elements(std::nullopt));
  EXPECT_FALSE(pg_elements("\0\0\0\2\0\0\0\0\0\0\0\x14\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1"s));
}

}  // namespace
}  // namespace semel::testing
