// The links to more than one server: replicas that have to have it, sentinels that name the
// primary, a cluster whose slots move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "stores/redis_topology.h"
#include "tests/stores/redis_links.h"
#include "tests/support/redis_group.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using ::testing::HasSubstr;
using testing::kAppend;
using testing::kCount;
using testing::Links;
using testing::redis_options;
using testing::RedisCluster;
using testing::RedisServer;
using testing::RedisSetup;
using testing::RunningWorker;
using testing::SentinelServer;
using testing::SentinelSetup;

RedisSetup replica_of(const RedisServer& primary) {
  RedisSetup setup;
  setup.replica_of = primary.port();
  return setup;
}

/// True once the replica has everything and the primary counts on it.
bool follows(const RedisServer& primary, const RedisServer& replica) {
  return eventually([&] { return replica.info("master_link_status") == "up"; }) &&
         primary.command({"WAIT", "1", "4000"}) == "1";
}

class RedisGroupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed() || !SentinelServer::is_installed()) {
      GTEST_SKIP() << "no redis-server or no redis-sentinel here";
    }
  }
};

TEST_F(RedisGroupsTest, NothingIsToldBeforeAsManyReplicasHaveItAsWereAskedFor) {
  RedisServer primary;
  RedisServer replica(replica_of(primary));
  ASSERT_TRUE(follows(primary, replica));
  RedisOptions options = redis_options(primary.url());
  options.wait_replicas = 1;
  options.deadline = 2s;
  Links links(options);
  ASSERT_TRUE(links.append());
  EXPECT_EQ(replica.command({"LLEN", links.list()}), "1");

  replica.pause();
  EXPECT_EQ(links.append().error(), Fault::StoreTimeout);
  EXPECT_EQ(primary.command({"LLEN", links.list()}), "2");
  // What somebody else wrote and the replica has not is not told either.
  EXPECT_EQ(links.run(kCount, {links.list()}, {}).error(), Fault::StoreTimeout);
  replica.resume();
  EXPECT_TRUE(eventually([&] { return links.run(kCount, {links.list()}, {}).has_value(); }));
}

TEST_F(RedisGroupsTest, AFailOverIsFollowedAndWhatWasToldIsThere) {
  RedisServer primary;
  RedisServer replica(replica_of(primary));
  ASSERT_TRUE(follows(primary, replica));
  SentinelSetup setup;
  setup.master_port = primary.port();
  const SentinelServer sentinel(setup);
  ASSERT_TRUE(sentinel.knows(1, 0));

  RedisOptions options = redis_options("redis://ignored.invalid:1");
  options.sentinel_master = setup.master;
  options.sentinels = {"127.0.0.1:1", "127.0.0.1:" + std::to_string(sentinel.port())};
  options.wait_replicas = 1;
  Links links(options);
  const auto length_at = [&](RedisServer& server) {
    return std::stoi(server.command({"LLEN", links.list()}));
  };
  ASSERT_TRUE(eventually([&] { return links.append().has_value(); })) << links.links->remark();
  const int told = length_at(primary);
  EXPECT_GE(told, 1);
  primary.kill9();
  ASSERT_TRUE(eventually([&] { return sentinel.master_port() == replica.port(); }, 20s));
  // The promoted one has no replica: what is asked of it is carried out, and not told as safe.
  ASSERT_TRUE(eventually(
      [&] { return links.append().error() == Fault::StoreTimeout && length_at(replica) > told; }));
}

TEST_F(RedisGroupsTest, APrimaryThatWasDemotedWhileItStoodStillIsNotWrittenTo) {
  RedisServer primary;
  RedisServer replica(replica_of(primary));
  ASSERT_TRUE(follows(primary, replica));
  SentinelSetup setup;
  setup.master_port = primary.port();
  const SentinelServer sentinel(setup);
  ASSERT_TRUE(sentinel.knows(1, 0));
  RedisOptions options = redis_options("redis://127.0.0.1");
  options.sentinel_master = setup.master;
  options.sentinels = {"127.0.0.1:" + std::to_string(sentinel.port())};
  Links links(options);
  ASSERT_TRUE(links.append()) << links.links->remark();
  ASSERT_TRUE(eventually([&] { return replica.command({"LLEN", links.list()}) == "1"; }));

  primary.pause();
  ASSERT_TRUE(eventually([&] { return sentinel.master_port() == replica.port(); }, 20s));
  // The call may have gone to whoever stood still; those behind it do not.
  ASSERT_TRUE(eventually([&] { return links.append().has_value(); }));
  const std::string before = replica.command({"LLEN", links.list()});
  primary.resume();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(links.append());
  EXPECT_EQ(std::stoi(replica.command({"LLEN", links.list()})), std::stoi(before) + 20);
}

TEST_F(RedisGroupsTest, SentinelsThatNobodyAnswersForAreSaidSo) {
  RedisOptions options = redis_options("redis://127.0.0.1");
  options.sentinel_master = "semel";
  options.sentinels = {"127.0.0.1:1"};
  Links links(options);
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(links.links->remark(), HasSubstr("no sentinel names a primary 'semel'"));
}

class RedisClusterLinkTest : public RedisGroupsTest {
 protected:
  RedisOptions options() {
    RedisOptions options = redis_options(cluster.node(1).url());
    options.cluster = true;
    options.deadline = 5s;
    return options;
  }
  Result<RedisReply> append(Links& links, std::size_t lane, const std::string& what) {
    return RunningWorker::wait_for(links.start(kAppend, lane, {links.list(lane)}, {what}));
  }
  std::string content(Links& links, std::size_t lane) {
    const int slot = redis_slot_of(links.list(lane));
    return cluster.node(cluster.owner_of(slot)).command({"LRANGE", links.list(lane), "0", "-1"});
  }
  RedisCluster cluster;
};

TEST_F(RedisClusterLinkTest, EachLaneIsAskedWhereItIs) {
  Links links(options());
  ASSERT_EQ(links.links->lanes(), 16U);
  std::set<std::size_t> owners;
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const auto reply = append(links, lane, "x");
    ASSERT_TRUE(reply) << lane << links.links->remark();
    EXPECT_EQ(reply->integer, 1);
    EXPECT_EQ(content(links, lane), "x");
    owners.insert(cluster.owner_of(redis_slot_of(links.list(lane))));
  }
  EXPECT_EQ(owners.size(), 3U);
  EXPECT_EQ(links.links->facts().size(), 3U);
}

TEST_F(RedisClusterLinkTest, ASlotThatMovesWhileCallsRunLosesNothingAndDoesNothingTwice) {
  Links links(options());
  const std::size_t lane = 5;
  const int slot = redis_slot_of(links.list(lane));
  const std::size_t from = cluster.owner_of(slot);
  const std::size_t to = (from + 1) % 3;
  std::atomic<bool> ends{false};
  std::string expected;
  int told = 0;
  std::thread caller([&] {
    for (int i = 0; !ends; ++i) {
      const std::string what = std::to_string(i);
      const auto reply = append(links, lane, what);
      if (!reply) {
        ADD_FAILURE() << name(reply.error());
        return;
      }
      if (reply->integer != ++told) ADD_FAILURE() << reply->integer << reply->text;
      expected += (i == 0 ? "" : "\n") + what;
    }
  });
  for (const std::size_t target : {to, from, to}) {
    cluster.begin_move(slot, target);
    cluster.end_move(slot, target);
  }
  ends = true;
  caller.join();
  EXPECT_GT(told, 0);
  EXPECT_EQ(content(links, lane), expected);
  EXPECT_EQ(cluster.owner_of(slot), to);
}

TEST_F(RedisClusterLinkTest, AKeyThatIsNotThereIsMadeWhereItsSlotIsOnItsWayTo) {
  Links links(options());
  const std::size_t lane = 9;
  const int slot = redis_slot_of(links.list(lane));
  const std::size_t to = (cluster.owner_of(slot) + 1) % 3;
  cluster.begin_move(slot, to);
  for (int i = 1; i <= 3; ++i) {
    const auto reply = append(links, lane, "x");
    ASSERT_TRUE(reply) << name(reply.error());
    EXPECT_EQ(reply->integer, i);
  }
  cluster.end_move(slot, to);
  EXPECT_EQ(content(links, lane), "x\nx\nx");
}

TEST_F(RedisClusterLinkTest, ACallWhoseKeysArePartlyOnTheirWayWaitsForThem) {
  Links links(options());
  const std::size_t lane = 2;
  const int slot = redis_slot_of(links.list(lane));
  const std::size_t to = (cluster.owner_of(slot) + 1) % 3;
  ASSERT_TRUE(append(links, lane, "x"));
  cluster.begin_move(slot, to);
  const RedisScript both{"redis.call('RPUSH', KEYS[1], 'y') return redis.call('INCR', KEYS[2])"};
  auto call = links.start(both, lane, {links.list(lane), links.list(lane) + ":new"}, {});
  EXPECT_EQ(call.wait_for(100ms), std::future_status::timeout);
  cluster.end_move(slot, to);
  const auto reply = RunningWorker::wait_for(std::move(call));
  ASSERT_TRUE(reply) << name(reply.error());
  EXPECT_EQ(reply->integer, 1);
  EXPECT_EQ(content(links, lane), "x\ny");
}

TEST_F(RedisClusterLinkTest, ANodeThatIsGoneTakesOnlyItsOwnLanesAlong) {
  RedisOptions hasty = options();
  hasty.deadline = 1s;
  Links links(hasty);
  for (std::size_t lane = 0; lane < 16; ++lane) ASSERT_TRUE(append(links, lane, "x"));
  // Long before the others would call the cluster broken.
  cluster.node(2).kill9();
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const bool is_gone = lane >= 11;
    EXPECT_EQ(append(links, lane, "y").has_value(), !is_gone) << lane;
  }
  cluster.node(2).restart();
  ASSERT_TRUE(cluster.is_whole());
  for (std::size_t lane = 0; lane < 16; ++lane) {
    EXPECT_TRUE(eventually([&] { return append(links, lane, "z").has_value(); })) << lane;
  }
}

TEST_F(RedisGroupsTest, ANodeOfAClusterIsNotTakenForASingleServer) {
  RedisSetup setup;
  setup.is_in_cluster = true;
  const RedisServer node(setup);
  Links links(redis_options(node.url()));
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(links.links->remark(), HasSubstr("say `cluster: true`"));
}

/// What a subscription has heard.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> messages;
  std::atomic<int> gaps{0};
  bool has(const std::string& message) {
    const std::lock_guard lock(mutex);
    return std::ranges::find(messages, message) != messages.end();
  }
};

void subscribe(Links& links, const std::shared_ptr<Heard>& heard) {
  const auto on_message = [heard](std::string_view channel, std::string_view text) {
    const std::lock_guard lock(heard->mutex);
    heard->messages.push_back(std::string(channel) + '=' + std::string(text));
  };
  links.links->subscribe(links.worker.executor(), {"{semel}:news", "other"}, on_message,
                         [heard] { ++heard->gaps; });
}

TEST_F(RedisGroupsTest, WhatIsPublishedIsHeardAlsoAfterTheServerWasAway) {
  RedisServer server;
  Links links(redis_options(server.url()));
  const auto heard = std::make_shared<Heard>();
  subscribe(links, heard);
  ASSERT_TRUE(eventually([&] { return heard->gaps == 1; }));
  ASSERT_TRUE(
      eventually([&] { return server.command({"PUBLISH", "{semel}:news", "one"}) == "1"; }));
  ASSERT_TRUE(eventually([&] { return server.command({"PUBLISH", "other", "two"}) == "1"; }));
  server.command({"PUBLISH", "third", "no"});
  EXPECT_TRUE(
      eventually([&] { return heard->has("{semel}:news=one") && heard->has("other=two"); }));
  server.restart();
  // Once when it is lost, and once when it is back.
  ASSERT_TRUE(eventually([&] { return heard->gaps == 3; }));
  ASSERT_TRUE(eventually([&] { return server.command({"PUBLISH", "other", "three"}) == "1"; }));
  EXPECT_TRUE(eventually([&] { return heard->has("other=three"); }));
  EXPECT_FALSE(heard->has("third=no"));
}

TEST_F(RedisGroupsTest, ASubscriptionToAServerThatFallsSilentIsMadeAnew) {
  RedisServer server;
  RedisHooks hooks;
  hooks.silence = 200ms;
  Links links(redis_options(server.url()), std::move(hooks));
  const auto heard = std::make_shared<Heard>();
  subscribe(links, heard);
  ASSERT_TRUE(eventually([&] { return heard->gaps == 1; }));
  const auto pings = [&] {
    const std::string stats = server.command({"INFO", "commandstats"});
    static constexpr std::string_view kName = "cmdstat_ping:calls=";
    const auto at = stats.find(kName);
    return at == std::string::npos ? 0 : std::atoi(stats.c_str() + at + kName.size());
  };
  // It is asked whether it is there, and it is.
  const int before = pings();
  ASSERT_TRUE(eventually([&] { return pings() >= before + 3; }));
  EXPECT_EQ(heard->gaps, 1);
  server.pause();
  ASSERT_TRUE(eventually([&] { return heard->gaps == 2; }));
  server.resume();
  ASSERT_TRUE(eventually([&] { return heard->gaps == 3; }));
  server.command({"PUBLISH", "other", "again"});
  EXPECT_TRUE(eventually([&] { return heard->has("other=again"); }));
}

TEST_F(RedisClusterLinkTest, WhatOneNodePublishesIsHeardOnWhicheverIsListenedTo) {
  Links links(options());
  const auto heard = std::make_shared<Heard>();
  subscribe(links, heard);
  ASSERT_TRUE(eventually([&] { return heard->gaps >= 1; }));
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string word = "from " + std::to_string(i);
    EXPECT_TRUE(eventually([&] {
      cluster.node(i).command({"PUBLISH", "other", word});
      return heard->has("other=" + word);
    })) << i;
  }
}

}  // namespace
}  // namespace semel
