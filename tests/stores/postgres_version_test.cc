// Which PostgreSQL an operator is told that nobody has tried.

#include <gtest/gtest.h>

#include "stores/postgres_meeting.h"
#include "stores/postgres_schema.h"
#include "stores/postgres_words.h"

namespace semel::testing {
namespace {

/// Of a store that is whole and empty.
PgRows met() {
  return {{{pg_int8(1), pg_int4(kPostgresFormat), "0123456789abcdef0123456789abcdef", std::nullopt,
            pg_int8(0), pg_int8(0), pg_int8(0)}}};
}

PgFacts facts_of(int version) {
  PgFacts facts;
  facts.version = version;
  return facts;
}

TEST(PostgresVersion, AnotherOneThanTheTestedIsRemarkedOnFromTheStart) {
  for (const int version : {140011, 160002}) {
    postgres::Meeting meeting({}, StoreClock::real());
    meeting.begin(facts_of(version), met(), meeting.boot());
    EXPECT_EQ(meeting.remark(), "postgres: the server is version " +
                                    std::to_string(version / 10'000) + "; Semel is tested with 15");
  }
}

TEST(PostgresVersion, OfTheTestedOneThereIsNothingToSay) {
  postgres::Meeting meeting({}, StoreClock::real());
  meeting.begin(facts_of(150014), met(), meeting.boot());
  EXPECT_EQ(meeting.remark(), "");
}

TEST(PostgresVersion, AServerThatTookItsPlaceIsRemarkedOnLikeTheFirst) {
  postgres::Meeting meeting({}, StoreClock::real());
  meeting.begin(facts_of(150014), met(), meeting.boot());
  ASSERT_TRUE(meeting.judge(facts_of(160002), met()).has_value());
  EXPECT_EQ(meeting.remark(), "postgres: the server is version 16; Semel is tested with 15");
  ASSERT_TRUE(meeting.judge(facts_of(150014), met()).has_value());
  EXPECT_EQ(meeting.remark(), "");
}

}  // namespace
}  // namespace semel::testing
