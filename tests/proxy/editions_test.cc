#include "proxy/editions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/route_pattern.h"
#include "proxy/server.h"
#include "tests/io/loop.h"
#include "tests/proxy/scripted_store.h"

namespace semel::proxy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScriptedStore;
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
      {"events", [](config::Config& c) { c.events.emplace(); }},
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
    AsksOn as_often = [this] { return questions_left-- > 0; };
    return loop.run(adopt_routes(*store, config, std::move(acknowledged), std::move(as_often)));
  }
  std::vector<RouteTerms> remembered() { return loop.run(store->routes()).value(); }

  testing::Loop loop;
  int questions_left = 0;
  std::unique_ptr<ScriptedStore> store = std::make_unique<ScriptedStore>();
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
    AsksOn never = [] { return false; };
    EXPECT_THAT(loop.run(adopt_routes(*store, raised, {}, std::move(never))), IsEmpty());
    ASSERT_EQ(raised.routes[0].earlier.size(), 1u);
    EXPECT_EQ(raised.routes[0].earlier[0]->key_version, std::nullopt);
    EXPECT_EQ(raised.routes[0].earlier[0]->key.run, std::nullopt);
  }
}

TEST_F(AdoptRoutes, AStoreThatCannotSayWhatItRememberedIsNoPermission) {
  ASSERT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  store->close();
  EXPECT_THAT(adopt(with_book(Policy::Effectful)),
              ElementsAre(AllOf(StartsWith("semel.yaml: the store cannot say under which routes"),
                                EndsWith("reload, or start, again once the store answers"))));
}

ScriptedStore::Routes times_out() { return Fault::StoreTimeout; }
ScriptedStore::Routes is_overfull() { return Fault::StoreUnreachable; }
ScriptedStore::Routes is_broken() { return Fault::StoreBroken; }
ScriptedStore::Routes is_corrupt() { return Fault::RecordCorrupt; }
ScriptedStore::Routes has_none() { return std::vector<RouteTerms>(); }

TEST_F(AdoptRoutes, AStoreThatTookThemAndDidNotSaySoIsAskedUntilItDoes) {
  questions_left = 100;
  store->adopting_says = Fault::StoreTimeout;
  store->routes_say = {has_none, times_out, is_overfull, times_out};
  EXPECT_THAT(adopt(with_book(Policy::Effectful)), IsEmpty());
  EXPECT_EQ(store->asked_for_routes, 5);
}

TEST_F(AdoptRoutes, AStoreThatDidNotTakeThemAndDidNotSaySoIsAskedUntilItDoes) {
  questions_left = 100;
  store->adopting_says = Fault::StoreTimeout;
  store->adopts = false;
  store->routes_say = {has_none, times_out};
  EXPECT_THAT(adopt(with_book(Policy::Effectful)),
              ElementsAre(StartsWith("semel.yaml: the store did not take the new routes")));
  EXPECT_EQ(store->asked_for_routes, 3);
}

TEST_F(AdoptRoutes, WhatAStoreNeverSaidIsCalledUnknown) {
  const auto is_unknown =
      ElementsAre(StartsWith("semel.yaml: the store has not said whether it took the new routes"));
  store->adopting_says = Fault::StoreTimeout;
  questions_left = 2;
  store->routes_say = {has_none, times_out, times_out};
  EXPECT_THAT(adopt(with_book(Policy::Effectful)), is_unknown);
  EXPECT_THAT(store->routes_say, IsEmpty());
  questions_left = 100;
  store->routes_say = {has_none, is_broken};
  EXPECT_THAT(adopt(with_book(Policy::Effectful)), is_unknown);
  EXPECT_THAT(store->routes_say, IsEmpty());
}

TEST_F(AdoptRoutes, WhatCannotBeReadIsReplacedOnceEveryKeyedRouteIsAcknowledged) {
  config::Config two = with_book(Policy::Effectful);
  two.routes.push_back(two.routes[0]);
  two.routes[1].name = "brief";
  two.routes.push_back(two.routes[0]);
  two.routes[2].name = "plain";
  two.routes[2].policy = Policy::None;
  const auto corrupt = [&](std::vector<std::string> acknowledged) {
    store->routes_say = {is_corrupt};
    return adopt(two, std::move(acknowledged));
  };
  const auto names_the_cure =
      AllOf(StartsWith("semel.yaml: "), HasSubstr("serve --acknowledge book --acknowledge brief,"),
            HasSubstr("POST /-/reload?acknowledge=book&acknowledge=brief)"));
  EXPECT_THAT(corrupt({}), ElementsAre(names_the_cure));
  EXPECT_THAT(corrupt({"book"}), ElementsAre(names_the_cure));
  EXPECT_THAT(corrupt({"book", "brief", "plain"}),
              ElementsAre(StartsWith("acknowledge plain: there is no keyed route")));
  EXPECT_THAT(remembered(), IsEmpty()) << "nothing was taken";
  EXPECT_THAT(corrupt({"brief", "book"}), IsEmpty());
  EXPECT_EQ(remembered(), terms_of(two.routes));
}

TEST_F(AdoptRoutes, AFileWithoutKeyedRoutesReplacesNothingThatCannotBeRead) {
  store->routes_say = {is_corrupt};
  EXPECT_THAT(adopt(some_config()), ElementsAre(HasSubstr("a file with the keyed routes")));
}

TEST(Serve, EndsWhereTheFirstComparisonThrows) {
  auto store = std::make_unique<ScriptedStore>();
  store->routes_say = {[]() -> ScriptedStore::Routes { throw std::runtime_error("no memory"); }};
  Beginning beginning;
  beginning.config = with_book(Policy::Effectful);
  beginning.config.access_log.reset();
  beginning.config.metrics.reset();
  beginning.config.admin.reset();
  beginning.store = std::move(store);
  std::ostringstream log;
  try {
    static_cast<void>(serve(std::move(beginning), log));
    ADD_FAILURE() << "it served";
  } catch (const std::runtime_error& failure) {
    EXPECT_STREQ(failure.what(), "no memory");
  }
}

/// An edition that runs, and a file that says another timeout.
class Renewal : public ::testing::Test {
 protected:
  static config::Config with_timeout(std::chrono::seconds timeout) {
    config::Config config = with_book(Policy::Effectful);
    config.routes[0].timeout = timeout;
    return config;
  }
  ReloadReport renew() {
    Editions::HandOut give = [](std::shared_ptr<const Edition>) -> Task<> { co_return; };
    return loop.run(editions.renew(site, std::move(give), {}));
  }

  testing::Loop loop;
  std::ostringstream log;
  std::chrono::seconds wanted{1};
  std::unique_ptr<ScriptedStore> opened = std::make_unique<ScriptedStore>();
  ScriptedStore& store = *opened;
  Site site{with_timeout(std::chrono::seconds{9}), std::move(opened), 1, -1};
  Editions editions{loop.executor(), with_timeout(std::chrono::seconds{9}),
                    [this] { return with_timeout(wanted); }, log};
};

TEST_F(Renewal, AnEarlierEditionCountsAsLongAsItIsHeld) {
  auto held = editions.running();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(renew().done);
    EXPECT_EQ(editions.longest_timeout(), std::chrono::seconds{9});
  }
  held.reset();
  EXPECT_EQ(editions.longest_timeout(), std::chrono::seconds{1});
}

TEST_F(Renewal, WhatIsThrownIsARefusalAndTheNextOneHasItsTurn) {
  store.routes_say = {[]() -> ScriptedStore::Routes { throw std::runtime_error("no memory"); }};
  const ReloadReport refused = renew();
  EXPECT_FALSE(refused.done);
  EXPECT_THAT(refused.text, HasSubstr("no memory"));
  EXPECT_EQ(editions.longest_timeout(), std::chrono::seconds{9});
  EXPECT_TRUE(renew().done);
}

Task<> wait_for(Worker::Timer& timer) { co_await timer.async_wait(kNoThrow); }

TEST(Editions, AReloadThatTheEndLeavesSuspendedTouchesNothingThatIsGone) {
  Site site(with_book(Policy::Effectful), std::make_unique<ScriptedStore>(), 1, -1);
  std::ostringstream log;
  alignas(Editions) std::array<unsigned char, sizeof(Editions)> room{};
  std::array<unsigned char, sizeof(Editions)> left{};
  {
    testing::Loop loop;
    Editions& editions = *new (room.data()) Editions(
        loop.executor(), with_book(Policy::Effectful), [] { return with_book(Policy::Effectful); },
        log);
    Worker::Timer never(loop.executor(), Worker::Timer::time_point::max());
    Editions::HandOut hang = [&never](const auto&) { return wait_for(never); };
    const auto first = loop.start(editions.renew(site, hang, {}));
    const auto second = loop.start(editions.renew(site, hang, {}));
    EXPECT_FALSE(first.has_ended());
    EXPECT_FALSE(second.has_ended());
    editions.~Editions();
    left = room;
  }
  EXPECT_EQ(room, left);
}

}  // namespace
}  // namespace semel::proxy
