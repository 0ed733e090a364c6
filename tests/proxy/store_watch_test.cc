#include "proxy/store_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/route_pattern.h"
#include "tests/io/loop.h"
#include "tests/proxy/exposition.h"
#include "tests/proxy/scripted_store.h"

namespace semel::proxy {
namespace {

using semel::testing::Exposition;
using semel::testing::ExpositionReader;
using semel::testing::ScriptedStore;
using ::testing::HasSubstr;
using ::testing::Not;

config::Config shared_config() {
  config::Config config;
  config.file = "semel.yaml";
  config.store = config::RedisStore{"redis://127.0.0.1:1", 0, {}, {}, false};
  for (const char* name : {"book", "pay"}) {
    Route& route = config.routes.emplace_back();
    route.name = name;
    route.pattern = std::string("/") + name;
    route.segments = std::get<std::vector<PatternSegment>>(parse_pattern(route.pattern));
    route.methods = {"POST"};
    route.policy = Policy::Effectful;
  }
  return config;
}

Exposition page_of(const Site& site) {
  return ExpositionReader(site.metrics.render(StoreHealth{})).take();
}

/// One of two replicas, whose store is also the other one's.
class StoreWatchTest : public ::testing::Test {
 protected:
  StoreWatchTest() { EXPECT_TRUE(loop_.run(editions_.begin(*store_, {})).empty()); }
  void look() { loop_.run(watch_.look()); }
  /// As another replica's start or reload does.
  void adopt(const std::vector<Route>& routes) {
    ASSERT_TRUE(loop_.run(site_.store->adopt_routes(terms_of(routes))));
  }
  [[nodiscard]] bool is_changed(std::size_t route) const {
    return editions_.running()->agreement.is_changed(route);
  }
  [[nodiscard]] double mismatch(const std::string& route) const {
    const Exposition page = page_of(site_);
    return page["semel_route_digest_mismatch{route=\"" + route + "\"}"];
  }
  std::string logged() {
    std::string text = log_.str();
    log_.str("");
    return text;
  }

  semel::testing::Loop loop_;
  std::ostringstream log_;
  ScriptedStore* store_ = new ScriptedStore;
  Site site_{shared_config(), std::unique_ptr<Store>(store_), 1, -1};
  Editions editions_{loop_.executor(), shared_config(), {}, log_};
  StoreWatch watch_{site_, editions_, site_.metrics.shard(0), log_};
};

TEST_F(StoreWatchTest, WhileAllAgreeNothingIsSaid) {
  look();
  look();
  EXPECT_EQ(logged(), "");
  EXPECT_FALSE(is_changed(0));
  EXPECT_EQ(mismatch("book"), 0) << "told, once it is known";
  EXPECT_TRUE(editions_.running()->agreement.is_known(Agreement::Clock::now()));
}

TEST_F(StoreWatchTest, ARouteThatAnotherReplicaChangesIsToldOnceAndSoIsItsEnd) {
  std::vector<Route> theirs = shared_config().routes;
  theirs[1].policy = Policy::Idempotent;
  adopt(theirs);
  look();
  EXPECT_FALSE(is_changed(0));
  EXPECT_TRUE(is_changed(1));
  EXPECT_EQ(mismatch("book"), 0);
  EXPECT_EQ(mismatch("pay"), 1);
  EXPECT_THAT(logged(), HasSubstr("semel: route pay: another replica has changed it"));
  look();
  EXPECT_EQ(logged(), "");

  adopt(shared_config().routes);
  look();
  EXPECT_FALSE(is_changed(1));
  EXPECT_EQ(mismatch("pay"), 0);
  EXPECT_THAT(logged(), HasSubstr("semel: route pay: the store remembers it as it is here again"));
}

TEST_F(StoreWatchTest, WhatCannotBeSeenChangesNothingAndIsCounted) {
  store_->routes_say.emplace_back([] { return Fault::StoreUnreachable; });
  look();
  EXPECT_FALSE(is_changed(0));
  EXPECT_EQ(logged(), "");
  const Exposition page = page_of(site_);
  EXPECT_EQ(page[R"(semel_store_errors_total{operation="routes"})"], 1);
}

TEST_F(StoreWatchTest, AStoreThatBecomesSuspectIsToldOnceAndSoIsItsEnd) {
  StoreHealth health;
  health.up = true;
  watch_.tell(health);
  EXPECT_EQ(logged(), "");
  health.suspect = true;
  health.remark = "the store is suspect: it has lost claims";
  watch_.tell(health);
  watch_.tell(health);
  EXPECT_EQ(logged(), "semel: the store is suspect: it has lost claims\n");
  watch_.tell(StoreHealth{});
  EXPECT_EQ(logged(), "semel: the store is down\n") << "and so it is not whole again";
  watch_.tell(health);
  EXPECT_EQ(logged(), "semel: the store is up again\n");
  health.suspect = false;
  health.remark.clear();
  watch_.tell(health);
  watch_.tell(health);
  EXPECT_EQ(logged(), "semel: the store is no longer suspect\n");
}

TEST_F(StoreWatchTest, AnOutageIsToldOnceWithItsReasonAndSoIsItsEnd) {
  StoreHealth health;
  health.remark = "127.0.0.1:5432: Connection refused";
  watch_.tell(health);
  watch_.tell(health);
  EXPECT_EQ(logged(), "semel: the store is down: 127.0.0.1:5432: Connection refused\n");
  health = {};
  health.up = true;
  watch_.tell(health);
  watch_.tell(health);
  EXPECT_EQ(logged(), "semel: the store is up again\n");
}

TEST_F(StoreWatchTest, AStoreThatIsMadeAnewBesideAProcessSaysWhatEndsTheRefusals) {
  adopt({});
  look();
  EXPECT_TRUE(is_changed(0));
  const std::string told = logged();
  EXPECT_THAT(told, HasSubstr("semel: route book: the store remembers no route"));
  EXPECT_THAT(told, HasSubstr("SIGHUP"));
  EXPECT_THAT(told, Not(HasSubstr("another replica")));
  EXPECT_TRUE(watch_.remembers_nothing()) << "and nobody is ready meanwhile";
  adopt(shared_config().routes);
  look();
  EXPECT_FALSE(watch_.remembers_nothing());
  EXPECT_THAT(logged(), HasSubstr("route book: the store remembers it as it is here again"));
}

TEST_F(StoreWatchTest, ARouteThatIsChangedForAnotherReasonNowIsToldAnew) {
  std::vector<Route> theirs = shared_config().routes;
  theirs[1].policy = Policy::Idempotent;
  adopt(theirs);
  look();
  EXPECT_THAT(logged(), HasSubstr("route pay: another replica has changed it"));
  adopt({});
  look();
  EXPECT_THAT(logged(), HasSubstr("route pay: the store remembers no route"));
  adopt(theirs);
  look();
  EXPECT_THAT(logged(), HasSubstr("route pay: another replica has changed it"));
}

TEST_F(StoreWatchTest, AStoreThatNobodySharesIsNotAskedForItsRoutes) {
  config::Config config = shared_config();
  config.store = config::SqliteStore{"./semel.db"};
  const Editions alone(loop_.executor(), config, {}, log_);
  StoreWatch watch(site_, alone, site_.metrics.shard(0), log_);
  const int before = store_->asked_for_routes;
  loop_.run(watch.look());
  EXPECT_EQ(store_->asked_for_routes, before);
}

}  // namespace
}  // namespace semel::proxy
