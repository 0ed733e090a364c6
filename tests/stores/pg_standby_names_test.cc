// What PostgreSQL waits for, read from its setting. The rows are the examples of its manual
// ("synchronous_standby_names", 20.6.2) and of its own tests (src/test/recovery/t/007_sync_rep.pl).

#include "stores/pg_standby_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/postgres_grade.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
  const char* setting;
  std::size_t count;
  std::vector<std::string> names;
  bool are_all_waited_for;
};

const std::vector<Row> kTaken = {
    {"s1", 1, {"s1"}, true},
    {"  s1\t", 1, {"s1"}, true},
    {"s1, s2", 1, {"s1", "s2"}, false},
    {"*", 1, {"*"}, false},
    {"\"*\"", 1, {"*"}, false},
    {"1 (s1)", 1, {"s1"}, true},
    {"2 (s1, s2)", 2, {"s1", "s2"}, true},
    {"3(s1,s2)", 3, {"s1", "s2"}, true},
    {"1 (s1, s2)", 1, {"s1", "s2"}, false},
    {"3 (s1, s2, s3, s4)", 3, {"s1", "s2", "s3", "s4"}, false},
    {"FIRST 2 (s1, s2)", 2, {"s1", "s2"}, true},
    {"FIRST 1 (s1, s2)", 1, {"s1", "s2"}, false},
    {"first 2 (s1, *)", 2, {"s1", "*"}, false},
    {"2(*)", 2, {"*"}, false},
    {"ANY 1 (s1, s2)", 1, {"s1", "s2"}, false},
    {"ANY 2 (s1, s2)", 2, {"s1", "s2"}, true},
    {"ANY 2(*)", 2, {"*"}, false},
    {"aNy 1 (s1)", 1, {"s1"}, true},
    {R"("any")", 1, {"any"}, true},
    {R"(ANY 2 ("a, b", "say ""hi"""))", 2, {"a, b", R"(say "hi")"}, true},
    {"Berlin", 1, {"berlin"}, true},
    {"_a$1", 1, {"_a$1"}, true},
    {"z\xC3\xBCrich", 1, {"z\xC3\xBCrich"}, true},
    {"7", 1, {"7"}, true},
    {"1, 2", 1, {"1", "2"}, false},
    {"2 (1, 2)", 2, {"1", "2"}, true},
};

constexpr const char* kRefused[] = {"s1,",     ",s1",          "s1 s2",     "2 s1, s2",     "2 (s1",
                                    "2 (s1,)", "2 ()",         "()",        "ANY (s1, s2)", "ANY",
                                    "FIRST",   "ANY 1",        "0 (s1)",    "1 (s1) s2",    "\"s1",
                                    "s-1",     "ANY any (s1)", "1 (2 (s1))"};

TEST(PgStandbyNames, SayHowManyOfWhomACommitWaitsFor) {
  for (const Row& row : kTaken) {
    SCOPED_TRACE(row.setting);
    const auto parsed = parse_standby_names(row.setting);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->count, row.count);
    EXPECT_EQ(parsed->names, row.names);
    EXPECT_EQ(parsed->are_all_waited_for(), row.are_all_waited_for);
  }
}

TEST(PgStandbyNames, WhatPostgresWouldNotTakeIsNone) {
  EXPECT_FALSE(parse_standby_names(""));
  for (const char* setting : kRefused) EXPECT_FALSE(parse_standby_names(setting)) << setting;
}

/// The same rows before the server itself.
TEST(PgStandbyNames, TheServerTakesAndRefusesTheSame) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresServer server;
  const auto takes = [&](std::string_view setting) {
    std::string literal;
    for (const char c : setting) literal += c == '\'' ? "''" : std::string(1, c);
    try {
      server.sql("ALTER SYSTEM SET synchronous_standby_names = '" + literal + "'");
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  for (const Row& row : kTaken) EXPECT_TRUE(takes(row.setting)) << row.setting;
  for (const char* setting : kRefused) EXPECT_FALSE(takes(setting)) << setting;
}

std::string grade_with(const std::string& names, const std::string& commit = "on") {
  PgFacts facts;
  facts.fsync = "on";
  facts.full_page_writes = "on";
  facts.synchronous_commit = commit;
  facts.synchronous_standby_names = names;
  facts.standbys = 2;
  return postgres::grade_in_words(facts);
}

TEST(PostgresGrade, AllThatAreNamedHaveWhatACommitWaitedForThemAllFor) {
  EXPECT_EQ(grade_with("a"), "fsync per commit, and on a");
  EXPECT_EQ(grade_with("ANY 2 (a, b)"), "fsync per commit, and on ANY 2 (a, b)");
  EXPECT_EQ(grade_with("a", "remote_write"),
            "fsync per commit, and on a as far as its system's memory");
}

TEST(PostgresGrade, FewerThanAllIsAWeakerGradeInWords) {
  for (const char* names : {"a, b", "FIRST 1 (a, b)", "ANY 1 (a, b)", "1 (a, b)"}) {
    EXPECT_EQ(grade_with(names), "fsync per commit, and on 1 of 2 standbys (" + std::string(names) +
                                     "); another one may lack the latest when it is promoted");
  }
  EXPECT_EQ(grade_with("*"),
            "fsync per commit, and on 1 of any standbys (*); another one may lack the latest when "
            "it is promoted");
  EXPECT_THAT(grade_with("ANY 2 (a, b, c)", "remote_write"),
              HasSubstr("on 2 of 3 standbys (ANY 2 (a, b, c)) as far as its system's memory; "));
}

TEST(PostgresGrade, WithoutAWaitNoStandbyIsPromisedAnything) {
  EXPECT_EQ(grade_with(""), "fsync per commit; standbys may lack the latest when one is promoted");
  EXPECT_EQ(grade_with("a", "local"),
            "fsync per commit; standbys may lack the latest when one is promoted");
}

}  // namespace
}  // namespace semel::testing
