// Which servers are spoken to, as whom, and what they are known to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "stores/redis_store.h"
#include "tests/stores/fake_redis.h"
#include "tests/stores/redis_links.h"
#include "tests/support/redis_server.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::FakeRedis;
using ::testing::HasSubstr;
using testing::kAppend;
using testing::Links;
using ::testing::Not;
using testing::redis_options;
using testing::RedisServer;
using testing::RedisSetup;

class RedisAdmissionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "no redis-server here";
  }
};

TEST_F(RedisAdmissionTest, AServerThatBeginsToEvictIsLeft) {
  RedisServer server;
  RedisHooks hooks;
  hooks.look_every = 20ms;
  Links links(redis_options(server.url()), std::move(hooks));
  ASSERT_TRUE(links.answers());
  server.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  ASSERT_TRUE(eventually([&] { return !links.answers(); }));
  EXPECT_TRUE(
      eventually([&] { return links.links->remark().find("allkeys-lru") != std::string::npos; }));
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(eventually([&] { return links.answers(); }));
}

TEST_F(RedisAdmissionTest, WhatAServerPromisesIsReadAgain) {
  RedisServer server;
  RedisHooks hooks;
  hooks.look_every = 20ms;
  Links links(redis_options(server.url()), std::move(hooks));
  ASSERT_TRUE(links.answers());
  ASSERT_EQ(links.links->facts().at(0).fsync, "always");
  server.command({"CONFIG", "SET", "appendfsync", "no"});
  EXPECT_TRUE(eventually([&] { return links.links->facts().at(0).fsync == "no"; }));
  EXPECT_TRUE(links.answers());
}

TEST_F(RedisAdmissionTest, AServerThatEvictsIsRefused) {
  RedisSetup setup;
  setup.maxmemory = "20mb";
  setup.maxmemory_policy = "volatile-lru";
  RedisServer server(setup);
  Links links(redis_options(server.url()));
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(links.links->remark(), HasSubstr("volatile-lru"));
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(eventually([&] { return links.answers(); }));
}

TEST_F(RedisAdmissionTest, AReplicaIsRefused) {
  const RedisServer primary;
  RedisSetup setup;
  setup.replica_of = primary.port();
  const RedisServer replica(setup);
  Links links(redis_options(replica.url()));
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(links.links->remark(), HasSubstr("replica"));
}

std::string what_is_told(const std::function<void()>& action) {
  try {
    action();
    return "nothing";
  } catch (const StoreError& error) {
    return error.what();
  }
}

TEST_F(RedisAdmissionTest, AUserOfAnAccessListIsLetInWithItsPasswordAndNotWithoutIt) {
  RedisSetup setup;
  setup.users = {"user default off", "user semel on >p@ss:w%rd ~* &* +@all"};
  const RedisServer server(setup);
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  Links good(redis_options("redis://semel:p%40ss%3Aw%25rd@" + host));
  EXPECT_TRUE(good.answers());
  Links bad(redis_options("redis://semel:wrong@" + host));
  EXPECT_EQ(bad.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(bad.links->remark(), HasSubstr("does not let us in"));
  EXPECT_THAT(bad.links->remark(), Not(HasSubstr("wrong@")));
  Links nobody(redis_options("redis://" + host));
  EXPECT_EQ(nobody.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(nobody.links->remark(), HasSubstr("asks for a password"));
  const auto start = [&] {
    const RedisStore store(redis_options("redis://" + host), StoreClock::real());
  };
  EXPECT_THAT(what_is_told(start), HasSubstr("asks for a password"));
}

/// With `rename-command AUTH ""` a server does not know the word, and says so with its arguments.
RedisSetup without_auth() {
  RedisSetup setup;
  setup.settings = {"rename-command AUTH \"\""};
  return setup;
}

TEST_F(RedisAdmissionTest, AServerThatDoesNotKnowAUTHIsQuotedWithoutThePassword) {
  const RedisServer server(without_auth());
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  for (const char* const login : {":s3cr3t-pw@", "semel:s3cr3t-pw@"}) {
    Links links(redis_options("redis://" + std::string(login) + host));
    EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
    EXPECT_THAT(links.links->remark(), HasSubstr("does not let us in: ERR"));
    EXPECT_THAT(links.links->remark(), Not(HasSubstr("s3cr3t")));
  }
}

TEST_F(RedisAdmissionTest, NorDoesAListenerTellThePassword) {
  const RedisServer server(without_auth());
  Links links(redis_options("redis://:s3cr3t-pw@127.0.0.1:" + std::to_string(server.port())));
  links.links->subscribe(links.worker.executor(), {"news"}, [](auto, auto) {}, [] {});
  ASSERT_TRUE(eventually([&] { return !links.links->remark().empty(); }));
  EXPECT_THAT(links.links->remark(), HasSubstr("lets nobody listen: ERR"));
  EXPECT_THAT(links.links->remark(), Not(HasSubstr("s3cr3t")));
}

/// What something in between may answer to AUTH.
TEST(RedisLogin, WhateverTheServerSaysToItThePasswordIsNotTold) {
  for (const char* const answer :
       {"-ERR unknown command `AUTH`, with args beginning with: `s3cr3t-pw`, \r\n",
        "-ERR AUTH s3cr3t-pw: no such backend\r\n", "-s3cr3t-pw is no password\r\n",
        "-s3cr3t-pw\r\n", "-WRONGPASS s3cr3t-pw\r\n", "-\r\n"}) {
    SCOPED_TRACE(answer);
    const FakeRedis server([&](const FakeRedis::Words&) { return std::string(answer); });
    std::string url = server.url();
    Links links(redis_options(url.insert(url.find("//") + 2, ":s3cr3t-pw@")));
    EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
    EXPECT_THAT(links.links->remark(), HasSubstr("does not let us in"));
    EXPECT_THAT(links.links->remark(), Not(HasSubstr("s3cr3t")));
  }
}

TEST_F(RedisAdmissionTest, AUserWhoMayNotAskForTheConfigurationIsEnough) {
  RedisSetup setup;
  setup.users = {"user default on nopass ~* &* +@all",
                 "user semel on >secret ~{semel}* &* +@all -config -client"};
  const RedisServer server(setup);
  Links links(redis_options("redis://semel:secret@127.0.0.1:" + std::to_string(server.port())));
  ASSERT_TRUE(links.answers());
  ASSERT_EQ(links.links->facts().size(), 1U);
  EXPECT_EQ(links.links->facts()[0].eviction, "noeviction");
  EXPECT_TRUE(links.links->facts()[0].has_aof);
  EXPECT_EQ(links.links->facts()[0].fsync, "");
}

TEST_F(RedisAdmissionTest, InsideTlsOnlyAServerWithACertificateThatIsTrustedIsSpokenTo) {
  RedisSetup setup;
  setup.has_tls = true;
  const RedisServer server(setup);
  RedisOptions options = redis_options(server.tls_url());
  options.tls_ca = server.certificates().ca;
  Links trusting(options);
  EXPECT_TRUE(trusting.answers()) << trusting.links->remark();
  options.tls_ca.clear();
  Links suspicious(options);
  EXPECT_EQ(suspicious.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(suspicious.links->remark(), HasSubstr("TLS failed"));
  // A server that speaks none.
  options.url = "rediss://localhost:" + std::to_string(server.port());
  Links mistaken(options);
  EXPECT_EQ(mistaken.fault(), Fault::StoreUnreachable);
  EXPECT_THAT(mistaken.links->remark(), HasSubstr("TLS failed"));
}

TEST_F(RedisAdmissionTest, WhoWaitsForReplicasThatAreNotThereIsToldSo) {
  const RedisServer server;
  RedisOptions options = redis_options(server.url());
  static_cast<void>(RedisStore::create(options, Execution::CarryOut));
  options.wait_replicas = 2;
  const auto start = [&] { const RedisStore store(options, StoreClock::real()); };
  EXPECT_THAT(what_is_told(start), HasSubstr("`wait_replicas` asks for 2"));
  server.command({"FLUSHALL"});
  const auto make = [&] { static_cast<void>(RedisStore::create(options, Execution::CarryOut)); };
  EXPECT_THAT(what_is_told(make), HasSubstr("`wait_replicas` asks for 2"));
}

TEST_F(RedisAdmissionTest, ADatabaseIsTheOneOfTheUrl) {
  RedisServer server;
  Links links(redis_options(server.url() + "/3"));
  ASSERT_TRUE(links.append());
  EXPECT_EQ(server.command({"DBSIZE"}), "0");
  EXPECT_THAT(server.info("db3"), HasSubstr("keys=1"));
}

TEST_F(RedisAdmissionTest, TheFactsAreTheServers) {
  RedisSetup setup;
  setup.append_only = RedisSetup::AppendOnly::EverySecond;
  RedisServer server(setup);
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  const auto all = links.links->facts();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].node, "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(all[0].version, server.info("redis_version"));
  EXPECT_EQ(all[0].run_id, server.info("run_id"));
  EXPECT_EQ(all[0].replication_id, server.info("master_replid"));
  EXPECT_EQ(all[0].replicas, 0U);
  EXPECT_TRUE(all[0].has_aof);
  EXPECT_EQ(all[0].fsync, "everysec");
}

/// A hook that lets connections through when it is told to.
struct Doorman {
  std::atomic<bool> lets_in{false};
  std::atomic<int> asked{0};
  static Task<Result<void>> admit(std::shared_ptr<Doorman> self, std::shared_ptr<RedisDoor> door) {
    ++self->asked;
    const auto reply = co_await door->run(kAppend, 0, {"{semel}:greetings"}, {"hello"});
    if (!reply) co_return reply.error();
    if (!self->lets_in) co_return Fault::StoreSuspect;
    co_return Result<void>();
  }
};

TEST_F(RedisAdmissionTest, NoCallGoesThroughBeforeTheStoreHasLookedAtTheConnection) {
  RedisServer server;
  const auto doorman = std::make_shared<Doorman>();
  RedisHooks hooks;
  hooks.admit = [doorman](std::shared_ptr<RedisDoor> door) {
    return Doorman::admit(doorman, std::move(door));
  };
  Links links(redis_options(server.url()), std::move(hooks));
  EXPECT_EQ(links.append().error(), Fault::StoreSuspect);
  EXPECT_EQ(links.append().error(), Fault::StoreSuspect);
  EXPECT_EQ(server.command({"EXISTS", links.list()}), "0");
  doorman->lets_in = true;
  ASSERT_TRUE(eventually([&] { return links.answers(); }));
  EXPECT_EQ(server.command({"LLEN", "{semel}:greetings"}), std::to_string(doorman->asked.load()));
  // And before the first call on each further one.
  const int before = doorman->asked;
  server.restart();
  ASSERT_TRUE(eventually([&] { return links.answers(); }));
  EXPECT_GT(doorman->asked, before);
}

}  // namespace
}  // namespace semel
