// How a store in PostgreSQL is made, what its role needs, and what is no store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;

class PostgresInit : public ::testing::Test {
 protected:
  PostgresOptions options(const std::string& role = {}) {
    PostgresOptions options = options_on(server_);
    if (!role.empty()) {
      options.url =
          "postgres://" + role + "@127.0.0.1:" + std::to_string(server_.port()) + "/postgres";
    }
    return options;
  }
  /// The sentence with which it is not opened; empty: it is.
  std::string refusal(const PostgresOptions& options) {
    try {
      open_store(options, StoreClock::real())->close();
      return "";
    } catch (const StoreError& error) {
      return error.what();
    }
  }
  bool has_schema() {
    return server_.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'semel'") == "1";
  }

  PostgresServer server_;
};

TEST_F(PostgresInit, AStoreThatWasNeverMadeIsNoPermissionAndTheSentenceNamesTheCure) {
  EXPECT_THAT(refusal(options()), HasSubstr("run `semel store init CONFIG`"));
  EXPECT_FALSE(has_schema()) << "opening makes nothing";
}

TEST_F(PostgresInit, InitMakesAStoreOnceAndLeavesItAsItIsThen) {
  EXPECT_THAT(init_store(options()), HasSubstr("created the schema semel"));
  EXPECT_EQ(refusal(options()), "");
  const std::string id = server_.sql("SELECT store_id FROM semel.store");
  EXPECT_THAT(init_store(options()), HasSubstr("left as it is"));
  EXPECT_EQ(server_.sql("SELECT store_id FROM semel.store"), id);
}

TEST_F(PostgresInit, WhatIsShownIsTheSqlAndNothingIsChanged) {
  const std::string shown = init_store(options(), Execution::Show);
  EXPECT_THAT(shown, HasSubstr("CREATE SCHEMA semel;"));
  EXPECT_THAT(shown, HasSubstr("CREATE FUNCTION semel.claim("));
  EXPECT_FALSE(has_schema());
  server_.sql(shown);
  EXPECT_EQ(refusal(options()), "") << "what was shown is what init does";
}

TEST_F(PostgresInit, ASchemaOfThatNameThatIsNotOursIsLeftAlone) {
  server_.sql("CREATE SCHEMA semel; CREATE TABLE semel.theirs (id int)");
  EXPECT_THROW(static_cast<void>(init_store(options())), StoreError);
  EXPECT_EQ(server_.sql("SELECT count(*) FROM pg_class WHERE relnamespace = 'semel'::regnamespace"),
            "1")
      << "all or nothing";
}

TEST_F(PostgresInit, AStoreOfANewerFormatIsRefused) {
  static_cast<void>(init_store(options()));
  server_.sql("UPDATE semel.store SET format = 99");
  EXPECT_THAT(refusal(options()), HasSubstr("format 99"));
  EXPECT_THROW(static_cast<void>(init_store(options())), StoreError);
}

/// The statements that docs/operations.md gives for a role that serves.
std::string documented_grants() {
  std::ifstream page(SEMEL_SOURCE_DIR "/docs/operations.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string all = text.str();
  static const std::regex kBlock("```sql\n(GRANT [^`]*)```");
  std::smatch found;
  return std::regex_search(all, found, kBlock) ? found[1].str() : "";
}

TEST_F(PostgresInit, ARoleWithoutRightsIsToldSoAndOneWithTheDocumentedOnesServes) {
  static_cast<void>(init_store(options()));
  server_.sql("CREATE ROLE semel_serving LOGIN");
  EXPECT_THAT(refusal(options("semel_serving")), HasSubstr("the role needs"));
  const std::string grants = documented_grants();
  ASSERT_FALSE(grants.empty()) << "docs/operations.md says what to grant";
  server_.sql(grants);
  const auto store = open_store(options("semel_serving"), StoreClock::real());
  const auto request = request_of(1, 1);
  const auto claimed = run(store->claim(request));
  ASSERT_TRUE(claimed.has_value() && std::holds_alternative<Granted>(*claimed));
  const Attempt holder{request.key, request.token, std::get<Granted>(*claimed).fence};
  EXPECT_EQ(run(store->record(holder, response_of(200, "done"))).value(), WriteReply::Done);
  EXPECT_TRUE(run(store->adopt_routes({route_today(24h, std::nullopt)})).has_value());
  EXPECT_TRUE(run(store->sweep(100)).has_value());
  EXPECT_TRUE(run(store->forget("acme")).has_value());
  EXPECT_TRUE(run(store->health()).up);
  EXPECT_TRUE(run(store->acknowledge()).has_value());
  store->close();
}

TEST_F(PostgresInit, AStandbyIsRefused) {
  static_cast<void>(init_store(options()));
  const PostgresServer standby(server_, {});
  EXPECT_THAT(refusal(options_on(standby)), HasSubstr("standby"));
}

TEST_F(PostgresInit, TheGradeSaysWhatTheServerPromises) {
  static_cast<void>(init_store(options()));
  const auto grade = [&] {
    const auto store = open_store(options(), StoreClock::real());
    const std::string words = run(store->health()).durability;
    store->close();
    return words;
  };
  EXPECT_EQ(grade(), "fsync per commit");
  server_.sql("ALTER SYSTEM SET synchronous_commit = off");
  server_.restart();
  EXPECT_THAT(grade(), HasSubstr("synchronous_commit is off"));
  server_.sql("ALTER SYSTEM SET fsync = off");
  server_.restart();
  EXPECT_THAT(grade(), HasSubstr("none: fsync is off"));
}

}  // namespace
}  // namespace semel::testing
