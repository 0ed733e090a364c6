#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

/// What a store in a file keeps of the routes under which its keys were made.
class SqliteRoutes : public SqliteFixture {};

TEST_F(SqliteRoutes, RoutesAreAdoptedWhileAClaimOfTheProcessBeforeIsOpen) {
  init();
  open();
  auto request = request_of(1, 1);
  request.policy = Policy::Idempotent;
  granted(request);
  reopen();
  EXPECT_TRUE(run(store_->adopt_routes({route_today(1h, 2h)})).has_value());
  granted(request_of(2, 2));
}

TEST_F(SqliteRoutes, TheRoutesAndTheirWindowsSurvive) {
  init();
  open();
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once"));
  const std::vector<RouteTerms> today = {route_today(1h, std::nullopt)};
  ASSERT_TRUE(run(store_->adopt_routes(today)).has_value());
  reopen();
  EXPECT_EQ(run(store_->routes()).value(), today);
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  EXPECT_TRUE(find(brief.key));
}

TEST_F(SqliteRoutes, AFileFromBeforeThereWereRoutesOpensAsOneWithout) {
  init();
  sql("DROP TABLE routes");
  open();
  EXPECT_TRUE(run(store_->routes()).value().empty());
  const std::vector<RouteTerms> today = {route_today(1h, 2h)};
  ASSERT_TRUE(run(store_->adopt_routes(today)).has_value());
  reopen();
  EXPECT_EQ(run(store_->routes()).value(), today);
}

TEST_F(SqliteRoutes, RoutesThatCannotBeReadAreNoEmptyOnes) {
  init();
  open();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(1h, 2h)})).has_value());
  close();
  sql("UPDATE routes SET terms = substr(terms, 1, length(terms) - 1)");
  open();
  EXPECT_EQ(run(store_->routes()).error(), Fault::RecordCorrupt);
  ASSERT_TRUE(run(store_->adopt_routes({})).has_value());
  EXPECT_TRUE(run(store_->routes()).value().empty()) << "adopting is what mends it";
}

TEST_F(SqliteRoutes, RoutesAskedBehindAnAdoptionAreTheAdoptedOnes) {
  init();
  open();
  // While the one before is written to the disk the next ones gather, and share a transaction.
  for (int hours = 1; hours <= 50; ++hours) {
    const std::vector<RouteTerms> today = {route_today(std::chrono::hours(hours), std::nullopt)};
    const LentContext io;
    std::optional<Result<ClaimReply>> claimed;
    std::optional<Result<void>> adopted;
    std::optional<Result<std::vector<RouteTerms>>> told;
    const auto seed = static_cast<std::uint8_t>(hours);
    asio::co_spawn(*io, keep(store_->claim(request_of(seed, seed)), claimed), asio::detached);
    asio::co_spawn(*io, keep(store_->adopt_routes(today), adopted), asio::detached);
    asio::co_spawn(*io, keep(store_->routes(), told), asio::detached);
    io->run();
    ASSERT_TRUE(adopted && adopted->has_value());
    ASSERT_TRUE(told && told->has_value());
    EXPECT_EQ(told->value(), today);
  }
}

}  // namespace
}  // namespace semel::testing
