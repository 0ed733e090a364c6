// A store whose lanes are spread over the nodes of a cluster is one store all the same.

#include <algorithm>
#include <set>
#include <vector>

#include "tests/stores/event_lines.h"
#include "tests/stores/redis_fixture.h"
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

}  // namespace
}  // namespace semel::testing
