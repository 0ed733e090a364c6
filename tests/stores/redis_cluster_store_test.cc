// A store whose lanes are spread over the nodes of a cluster is one store all the same.

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "stores/redis_topology.h"
#include "tests/stores/event_lines.h"
#include "tests/stores/redis_fixture.h"
#include "tests/support/deadline.h"
#include "tests/support/moved_wall.h"
#include "tests/support/redis_group.h"

namespace semel::testing {
namespace {

/// Of as many keys as reach every lane.
constexpr std::uint64_t kKeys = 200;

class RedisClusterStore : public ::testing::Test {
 protected:
  RedisClusterStore() {
    options_.url = cluster_.node(0).url();
    options_.cluster = true;
    options_.deadline = 30s;
    options_.state_dir = folder_.path() + "/state";
    options_.events.emplace();
    store_ = store_on(options_, StoreClock::real());
  }
  ~RedisClusterStore() override { store_->close(); }

  Attempt granted(const ClaimRequest& request) {
    const auto reply = run(store_->claim(request));
    const auto* grant = reply ? std::get_if<Granted>(&*reply) : nullptr;
    EXPECT_TRUE(grant) << (reply ? "another reply" : std::string(name(reply.error())));
    return {request.key, request.token, grant ? grant->fence : Fence{}};
  }

  RedisCluster cluster_{StandingRedis::quick_setup()};
  TemporaryFolder folder_;
  RedisOptions options_;
  std::unique_ptr<Store> store_;
};

TEST_F(RedisClusterStore, WhateverLaneARecordIsInItIsClaimedFoundListedAndForgotten) {
  std::vector<Attempt> attempts;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    attempts.push_back(granted(request_of(key, key)));
    EXPECT_TRUE(
        std::holds_alternative<Held>(run(store_->claim(request_of(key, 1000 + key))).value()));
  }
  for (std::uint64_t key = 0; key < kKeys; key += 2) {
    ASSERT_EQ(run(store_->record(attempts[key], response_of(200, std::to_string(key)))).value(),
              WriteReply::Done);
  }
  const auto found = run(store_->find(request_of(42, 42).reference)).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->response->body, "42");
  ListFilter filter;
  filter.limit = 7;
  std::vector<std::uint64_t> listed;
  do {
    const auto page = run(store_->list(filter)).value();
    for (const auto& view : page.records) listed.push_back(attempt_of(view.reference));
    filter.after = page.next;
  } while (!filter.after.empty());
  EXPECT_EQ(listed.size(), kKeys);
  EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), kKeys) << "each exactly once";
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end())) << "in the order of the claims";
  const StoreHealth health = run(store_->health());
  EXPECT_TRUE(health.up && !health.suspect) << health.remark;
  EXPECT_EQ(health.records, kKeys);
  EXPECT_EQ(run(store_->forget("acme")).value(), kKeys);
  EXPECT_EQ(run(store_->health()).records, kKeys / 2) << "what is open left a tombstone";
}

TEST_F(RedisClusterStore, AGapInOneLaneSkipsNothingOfTheOthers) {
  store_->close();
  options_.events->count = 32;  // Two to a lane.
  store_ = open_store(options_, StoreClock::real());
  const std::string begin = event_page(*store_).next;
  // The lane is the first byte of the key: five events in one of them, one in another.
  const auto in_lane = [](std::uint8_t lane, std::uint64_t number) {
    ClaimRequest request = request_of(number, number);
    request.key.bytes[0] = lane;
    return request;
  };
  for (std::uint64_t number = 1; number <= 5; ++number) granted(in_lane(3, number));
  granted(in_lane(9, 6));
  while (run(store_->sweep(100)).value().more) continue;
  EventFilter filter;
  filter.after = begin;
  const auto told = run(store_->events(filter));
  ASSERT_TRUE(told.has_value());
  const auto* gap = std::get_if<EventGap>(&*told);
  ASSERT_TRUE(gap) << "three of five are gone";
  auto lines = event_lines(*store_, gap->oldest);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (EventLines{"claimed 4", "claimed 5", "claimed 6"}));
}

TEST_F(RedisClusterStore, AClaimIsAnsweredByAnEarlierKeyInAnotherLane) {
  for (std::uint64_t key = 0; key < 40; ++key) {
    const Attempt before = granted(request_of(key, key));
    ASSERT_EQ(run(store_->record(before, response_of(200, "once"))).value(), WriteReply::Done);
    ClaimRequest raised = request_of(1000 + key, 1000 + key);
    raised.earlier = {{id_of<IdempotencyKey>(2000 + key), {}},
                      {request_of(key, key).key, request_of(key, key).bindings}};
    const auto reply = run(store_->claim(raised)).value();
    ASSERT_TRUE(std::holds_alternative<Completed>(reply)) << "key " << key;
    EXPECT_FALSE(run(store_->find(raised.key)).value());
  }
}

TEST_F(RedisClusterStore, EveryEventOfEveryLaneIsToldOnceAndOfOneKeyInOrder) {
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_EQ(run(store_->release(granted(request_of(key, key)))).value(), WriteReply::Done);
  }
  std::map<std::uint64_t, std::vector<TransitionKind>> told;
  for (const auto& event : all_events(*store_, "", 3)) {
    told[attempt_of(event.reference)].push_back(event.kind);
  }
  ASSERT_EQ(told.size(), kKeys);
  const std::vector<TransitionKind> both{TransitionKind::Claimed, TransitionKind::Released};
  for (const auto& [attempt, kinds] : told) EXPECT_EQ(kinds, both) << "attempt " << attempt;
}

TEST_F(RedisClusterStore, RoutesAreAdoptedAndTold) {
  const std::vector<RouteTerms> routes{route_today(24h, std::nullopt)};
  ASSERT_TRUE(run(store_->adopt_routes(routes)).has_value());
  EXPECT_EQ(run(store_->routes()).value(), routes);
}

TEST_F(RedisClusterStore, ALogThatKeepsFewerEventsThanThereAreLanesKeepsOneInEach) {
  store_->close();
  options_.events->count = 3;
  store_ = store_on(options_, StoreClock::real());
  for (std::uint64_t key = 0; key < kKeys; ++key) granted(request_of(key, key));
  sweep_all(*store_);
  EXPECT_EQ(all_events(*store_).size(), RedisTopology::kClusterLanes);
}

TEST_F(RedisClusterStore, ALaneThatLostEverythingGivesNoFenceAgainAndIsSuspect) {
  for (std::uint64_t key = 0; key < kKeys; ++key) granted(request_of(key, key));
  const Fence last = run(store_->health()).last_fence;
  ASSERT_GT(last, Fence{});
  const std::string marker = RedisNames("{semel:43}").marker();
  const RedisServer& owner = cluster_.node(cluster_.owner_of(redis_slot_of(marker)));
  const std::string lua =
      "for _, name in ipairs(redis.call('KEYS', '{semel:43}*')) do redis.call('DEL', name) end "
      "return redis.status_reply('OK')";
  owner.command({"EVAL", lua, "1", marker});
  const std::string said = RedisStore::create(options_, Execution::CarryOut);
  EXPECT_NE(said.find("1 of 16 markers"), std::string::npos) << said;
  EXPECT_NE(said.find("no fence up to " + std::to_string(last.value)), std::string::npos) << said;
  EXPECT_GT(std::stoull(owner.command({"HGET", marker, "fence"})), last.value);
  EXPECT_TRUE(run(store_->health()).suspect);
}

TEST_F(RedisClusterStore, AnInitThatWasInterruptedIsFinishedWithoutAnyDoubt) {
  const std::string marker = RedisNames("{semel:43}").marker();
  const RedisServer& owner = cluster_.node(cluster_.owner_of(redis_slot_of(marker)));
  owner.command({"DEL", marker});
  const std::string said = RedisStore::create(options_, Execution::CarryOut);
  EXPECT_EQ(said.find("suspect"), std::string::npos) << said;
  EXPECT_FALSE(run(store_->health()).suspect);
}

/// The nodes tell three times, and each its own.
class RedisClusterClocks : public ::testing::Test {
 protected:
  RedisClusterClocks() {
    options_.url = cluster_.node(0).url();
    options_.cluster = true;
    options_.state_dir = folder_.path() + "/state";
  }
  ~RedisClusterClocks() override {
    if (store_) store_->close();
  }
  static RedisSetup with(const MovedWall& wall) {
    RedisSetup setup = StandingRedis::quick_setup();
    setup.wall = &wall;
    return setup;
  }
  [[nodiscard]] Result<ClaimReply> claim(std::uint64_t key, std::uint64_t attempt) {
    return run(store_->claim(request_of(key, attempt)));
  }

  std::array<MovedWall, 3> walls_;
  RedisCluster cluster_{std::array{with(walls_[0]), with(walls_[1]), with(walls_[2])}};
  TemporaryFolder folder_;
  RedisOptions options_;
  std::unique_ptr<Store> store_;
};

TEST_F(RedisClusterClocks, ThatStandFarApartRefuseNothing) {
  for (const auto apart : {3s, 600s}) {
    walls_[1].move_to(apart);
    walls_[2].move_to(-apart);
    TemporaryFolder state;
    options_.state_dir = state.path() + "/state";
    store_ = store_on(options_, StoreClock::real());
    const std::uint64_t first = static_cast<std::uint64_t>(apart / 1s) * 1'000;
    for (std::uint64_t key = first; key < first + kKeys; ++key) {
      const auto reply = claim(key, key);
      ASSERT_TRUE(reply) << "key " << key << ", " << apart / 1s << " s: " << name(reply.error());
      ASSERT_TRUE(std::holds_alternative<Granted>(*reply));
      ASSERT_TRUE(std::holds_alternative<Held>(claim(key, key + 500).value()));
    }
    const StoreHealth health = run(store_->health());
    EXPECT_TRUE(health.up && !health.suspect) << health.remark;
    store_->close();
  }
}

TEST_F(RedisClusterClocks, ALaneThatMovesToANodeWhoseClockIsFarAheadEndsNoWindow) {
  walls_[1].move_to(48h);
  walls_[2].move_to(48h);
  store_ = store_on(options_, StoreClock::real());
  const RedisTopology lanes(RedisTopology::Kind::Cluster, Peer{});
  const auto lane_of = [&](std::uint64_t key) {
    return redis_lane(request_of(key, key).key, lanes.lanes());
  };
  // A key in a lane of the first node.
  std::uint64_t key = 0;
  while (cluster_.owner_of(redis_slot_of(lanes.tag(lane_of(key)))) != 0) ++key;
  const ClaimRequest request = request_of(key, key);
  const Attempt paid{request.key, request.token, std::get<Granted>(claim(key, key).value()).fence};
  ASSERT_EQ(run(store_->record(paid, response_of(200, "paid"))).value(), WriteReply::Done);
  const int slot = redis_slot_of(lanes.tag(lane_of(key)));
  cluster_.begin_move(slot, 1);
  cluster_.end_move(slot, 1);
  Result<ClaimReply> again = Fault::StoreTimeout;
  ASSERT_TRUE(eventually(
      [&] {
        again = claim(key, 1'000);
        return again.has_value();
      },
      milliseconds{20'000}));
  EXPECT_TRUE(std::holds_alternative<Completed>(*again)) << "it would be paid twice";
  EXPECT_TRUE(run(store_->health()).suspect);
}

}  // namespace
}  // namespace semel::testing
