#include "stores/pg_session.h"

#include <gmock/gmock.h>

#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;

class PgSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
    options.url = server().url();
    server().sql("DROP TABLE IF EXISTS made");
  }
  static PostgresServer& server() {
    static PostgresServer shared;
    return shared;
  }
  template <class Body>
  static PgError error_of(Body body) {
    try {
      body();
    } catch (const PgError& error) {
      return error;
    }
    return PgError("nothing was thrown", "");
  }

  PostgresOptions options;
};

TEST_F(PgSessionTest, AScriptIsCarriedOutWholeOrNotAtAll) {
  PgSession session(options);
  session.run("CREATE TABLE public.made (id int); INSERT INTO public.made VALUES (1), (2)");
  const auto error = error_of([&] {
    session.run(
        "INSERT INTO public.made VALUES (3); SELECT 1 / 0; "
        "INSERT INTO public.made VALUES (4)");
  });
  EXPECT_EQ(error.sqlstate(), "22012");
  EXPECT_EQ(server().sql("SELECT count(*) FROM made"), "2");
}

TEST_F(PgSessionTest, AStatementIsAskedWithItsParameters) {
  const PgStatement sum{"sum",
                        "SELECT $1 + $2, $3",
                        PgStatement::Kind::Read,
                        {PgType::Int8, PgType::Int8, PgType::Text}};
  PgSession session(options);
  const std::vector<PgValue> params{pg_int8(2), pg_int8(40), "words"};
  const PgRows found = session.ask(sum, params);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(pg_integer(found.rows[0].at(0)), 42);
  EXPECT_EQ(found.rows[0].at(1), "words");
}

TEST_F(PgSessionTest, WhatIsNotThereIsToldByItsCode) {
  PgSession session(options);
  const PgStatement missing{"missing", "SELECT semel.nothing()", PgStatement::Kind::Read, {}};
  EXPECT_EQ(error_of([&] { (void)session.ask(missing, {}); }).sqlstate(), "3F000");
  // The session goes on.
  EXPECT_NO_THROW(session.run("SELECT 1"));
}

TEST_F(PgSessionTest, AServerThatIsNotThereIsSaidToBeSo) {
  PostgresServer gone;
  gone.stop();
  options.url = gone.url();
  const auto error = error_of([&] { const PgSession session(options); });
  EXPECT_THAT(error.what(), HasSubstr("refused"));
  EXPECT_EQ(error.sqlstate(), "");
}

TEST_F(PgSessionTest, AServerThatEndsInTheMiddleIsAnError) {
  PostgresServer mortal;
  options.url = mortal.url();
  PgSession session(options);
  mortal.kill9();
  EXPECT_THAT(error_of([&] { session.run("SELECT 1"); }).what(), HasSubstr("store.postgres: "));
}

TEST_F(PgSessionTest, AStandbyIsNoPlaceForAStore) {
  PostgresServer standby(server(), PostgresSetup{});
  options.url = standby.url();
  EXPECT_THAT(error_of([&] { const PgSession session(options); }).what(), HasSubstr("standby"));
}

TEST_F(PgSessionTest, ItWaitsLongerForALockThanACallDoes) {
  const PgStatement timeout{
      "timeout", "SELECT current_setting('lock_timeout')", PgStatement::Kind::Read, {}};
  PgSession session(options);
  EXPECT_EQ(session.ask(timeout, {}).rows.at(0).at(0), "10s");
}

}  // namespace
}  // namespace semel::testing
