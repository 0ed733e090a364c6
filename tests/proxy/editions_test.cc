#include "proxy/editions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/route_pattern.h"
#include "stores/open.h"
#include "tests/io/loop.h"

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

config::Config some_config() {
  config::Config config;
  config.file = "semel.yaml";
  config.listen.address.host = "127.0.0.1";
  config.listen.address.port = 8080;
  config.metrics = config.listen.address;
  config.admin = config::Admin{config.listen.address, ""};
  config.store = config::SqliteStore{"./semel.db"};
  return config;
}

config::Config with_book(Policy policy) {
  config::Config config = some_config();
  Route& book = config.routes.emplace_back();
  book.name = "book";
  book.methods = {"POST"};
  book.pattern = "/book";
  book.segments = std::get<std::vector<PatternSegment>>(parse_pattern(book.pattern));
  book.policy = policy;
  book.key.tenant = ValueSource{ValueSource::From::Header, "X-Tenant-Id"};
  book.file = config.file;
  book.line = 3;
  return config;
}

TEST(NeedingRestart, IsNothingThatAReloadTakes) {
  config::Config wanted = some_config();
  wanted.listen.authorities = {"gateway.test"};
  wanted.limits.connections = 1;
  wanted.limits.idle_timeout *= 2;
  wanted.upstreams.emplace_back().name = "more";
  wanted.routes.emplace_back().name = "more";
  EXPECT_THAT(needing_restart(some_config(), wanted), IsEmpty());
}

struct Change {
  const char* key;
  void (*change)(config::Config&);
};

TEST(NeedingRestart, IsSaidOfARaisedKeyVersion) {
  config::Config wanted = with_book(Policy::Effectful);
  wanted.routes[0].key_version = 1;
  EXPECT_THAT(needing_restart(with_book(Policy::Effectful), wanted),
              ElementsAre(StartsWith("semel.yaml:3: route book: key: version: a reload")));
}

TEST(NeedingRestart, IsSaidOfEachKeyByItsName) {
  const Change kChanges[] = {
      {"listen.address", [](config::Config& c) { c.listen.address.port = 8081; }},
      {"listen.tls", [](config::Config& c) { c.listen.tls.emplace(); }},
      {"metrics", [](config::Config& c) { c.metrics.reset(); }},
      {"admin", [](config::Config& c) { c.admin->address.host = "::1"; }},
      {"admin", [](config::Config& c) { c.admin->token = "another"; }},
      {"store", [](config::Config& c) { c.store = config::SqliteStore{"./other.db"}; }},
      {"store", [](config::Config& c) { c.store = config::MemoryStore{}; }},
      {"workers", [](config::Config& c) { c.workers = 3; }},
      {"state_dir", [](config::Config& c) { c.state_dir = "./elsewhere"; }},
      {"access_log", [](config::Config& c) { c.access_log.reset(); }},
  };
  for (const Change& row : kChanges) {
    config::Config wanted = some_config();
    row.change(wanted);
    EXPECT_THAT(needing_restart(some_config(), wanted),
                ElementsAre(StartsWith(std::string("semel.yaml: ") + row.key + ": a reload")));
  }
}

class AdoptRoutes : public ::testing::Test {
 protected:
  std::vector<std::string> adopt(config::Config config,
                                 std::vector<std::string> acknowledged = {}) {
    return loop.run(adopt_routes(*store, config, std::move(acknowledged)));
  }
  std::vector<RouteTerms> remembered() { return loop.run(store->routes()).value(); }

  testing::Loop loop;
  std::unique_ptr<Store> store = open_store(MemoryOptions{}, StoreClock::real());
};

TEST_F(AdoptRoutes, ANewStoreTakesWhatItIsGiven) {
  EXPECT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  EXPECT_EQ(remembered(), terms_of(with_book(Policy::Effectful).routes));
}

TEST_F(AdoptRoutes, WhatFreesKeysIsTakenOnceItIsAcknowledged) {
  ASSERT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  EXPECT_THAT(adopt(with_book(Policy::Idempotent)),
              ElementsAre(StartsWith("semel.yaml:3: route book: the policy was EFFECTFUL")));
  EXPECT_EQ(remembered(), terms_of(with_book(Policy::Effectful).routes)) << "nothing was taken";
  EXPECT_THAT(adopt(with_book(Policy::Idempotent), {"book"}), IsEmpty());
  EXPECT_EQ(remembered(), terms_of(with_book(Policy::Idempotent).routes));
  EXPECT_THAT(adopt(with_book(Policy::Idempotent), {"book"}),
              ElementsAre(StartsWith("acknowledge book: no change")));
  EXPECT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty()) << "more is taken silently";
}

TEST_F(AdoptRoutes, ARaisedKeyVersionIsTakenAndTheOneBeforeIsKnownToTheRoute) {
  ASSERT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  for (int start = 0; start < 2; ++start) {
    config::Config raised = with_book(Policy::Effectful);
    raised.routes[0].key_version = 1;
    raised.routes[0].key.run = ValueSource{ValueSource::From::Header, "X-Run-Id"};
    EXPECT_THAT(loop.run(adopt_routes(*store, raised, {})), IsEmpty());
    ASSERT_EQ(raised.routes[0].earlier.size(), 1u);
    EXPECT_EQ(raised.routes[0].earlier[0]->key_version, std::nullopt);
    EXPECT_EQ(raised.routes[0].earlier[0]->key.run, std::nullopt);
  }
}

TEST_F(AdoptRoutes, AStoreThatCannotSayWhatItRememberedIsNoPermission) {
  ASSERT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  store->close();
  EXPECT_THAT(adopt(with_book(Policy::Effectful)),
              ElementsAre(StartsWith("semel.yaml: the store cannot say under which routes")));
}

}  // namespace
}  // namespace semel::proxy
