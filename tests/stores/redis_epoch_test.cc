// Sentinels that were cut off, or made anew, name a primary of before: nobody is led back to it.
#include "stores/redis_epoch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/stores/redis_fixture.h"
#include "tests/stores/redis_links.h"
#include "tests/support/faulty_link.h"
#include "tests/support/redis_group.h"

namespace semel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SentinelEpoch, AnOlderOneIsNotFollowedAndALaterOneIsNoted) {
  std::vector<std::uint64_t> noted;
  std::vector<std::uint64_t> followed;
  SentinelEpoch epoch(3, [&](std::uint64_t latest) { noted.push_back(latest); });
  const auto follows = [&](std::uint64_t which) {
    return epoch.follow(which, [&] { followed.push_back(which); });
  };
  EXPECT_FALSE(follows(2));
  EXPECT_TRUE(follows(3));
  EXPECT_TRUE(follows(5));
  EXPECT_TRUE(follows(5));
  EXPECT_FALSE(follows(4));
  EXPECT_THAT(followed, ElementsAre(3, 5, 5));
  EXPECT_THAT(noted, ElementsAre(5));
  EXPECT_EQ(epoch.latest(), 5U);
}

TEST(SentinelEpoch, IsForgottenOnlyWhereAnOlderOneWasRefusedLast) {
  SentinelEpoch epoch(3);
  const auto follows = [&](std::uint64_t which) { return epoch.follow(which, [] {}); };
  EXPECT_FALSE(epoch.forget());
  EXPECT_FALSE(follows(0));
  EXPECT_TRUE(follows(3));
  EXPECT_FALSE(epoch.forget()) << "the later ones are back";
  EXPECT_FALSE(follows(0));
  EXPECT_TRUE(epoch.forget());
  EXPECT_TRUE(follows(0));
}

/// A fail-over behind a partition: the old primary runs on, and so does a sentinel that knows of no
/// other. Sentinels are reached by one address.
class RedisPartition : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed() || !SentinelServer::is_installed()) {
      GTEST_SKIP() << "no redis-server or no redis-sentinel here";
    }
    primary_.emplace();
    RedisSetup setup;
    setup.replica_of = primary_->port();
    replica_.emplace(setup);
    ASSERT_TRUE(eventually([&] { return replica_->info("master_link_status") == "up"; }));
    sentinel_ = watching(*primary_);
    ASSERT_TRUE(sentinel_->knows(1, 0));
    sentinels_.emplace(sentinel_->port());
  }

  static std::unique_ptr<SentinelServer> watching(const RedisServer& server) {
    SentinelSetup setup;
    setup.master_port = server.port();
    return std::make_unique<SentinelServer>(setup);
  }
  /// From here on one that knows of `server` alone is the only one that answers.
  void leave_alone_with(const RedisServer& server) {
    sentinel_->kill9();
    sentinel_ = watching(server);
    sentinels_->lead_to(sentinel_->port());
  }
  RedisOptions options() const {
    RedisOptions options = redis_options("redis://127.0.0.1");
    options.sentinel_master = "semel";
    options.sentinels = {"127.0.0.1:" + std::to_string(sentinels_->port())};
    return options;
  }
  /// The replica takes the place of a primary that stands still.
  void fail_over() {
    primary_->pause();
    ASSERT_TRUE(eventually([&] { return sentinel_->master_port() == replica_->port(); },
                           milliseconds{20'000}));
    ASSERT_TRUE(eventually([&] { return replica_->info("role") == "master"; }));
  }
  /// Whoever is connected to it has to ask the sentinels again.
  void hang_up(const RedisServer& server) const {
    server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  }

  std::optional<RedisServer> primary_;
  std::optional<RedisServer> replica_;
  std::unique_ptr<SentinelServer> sentinel_;
  std::optional<FaultyLink> sentinels_;
};

TEST_F(RedisPartition, NobodyIsLedBackToTheOldPrimary) {
  RedisHooks hooks;
  hooks.epoch = std::make_shared<SentinelEpoch>();
  Links links(options(), hooks);
  ASSERT_TRUE(links.append()) << links.links->remark();
  ASSERT_EQ(primary_->command({"LLEN", links.list()}), "1");
  fail_over();
  ASSERT_TRUE(eventually([&] { return links.append().has_value(); }, milliseconds{20'000}));
  EXPECT_GT(hooks.epoch->latest(), 0U);

  primary_->resume();
  leave_alone_with(*primary_);
  hang_up(*replica_);
  ASSERT_TRUE(eventually([&] {
    return !links.append() && links.links->remark().find("an older fail-over") != std::string::npos;
  })) << links.links->remark();
  EXPECT_FALSE(links.append());
  // What was under way when it stood still may have arrived; nothing that came later has.
  EXPECT_LE(std::stoi(primary_->command({"LLEN", links.list()})), 2);
  EXPECT_THAT(links.links->remark(),
              HasSubstr("127.0.0.1:" + std::to_string(primary_->port()) +
                        " as the primary 'semel' of configuration epoch 0, and epoch"));
}

TEST_F(RedisPartition, SentinelsThatWereMadeAnewAreFollowedWithTheWordOfAnOperator) {
  RedisHooks hooks;
  hooks.epoch = std::make_shared<SentinelEpoch>(7);
  Links links(options(), hooks);
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  EXPECT_TRUE(hooks.epoch->forget());
  EXPECT_TRUE(eventually([&] { return links.append().has_value(); })) << links.links->remark();
}

/// A store whose process is started again and again, in one folder.
class RedisStoreInPartition : public RedisPartition {
 protected:
  RedisOptions kept() const {
    RedisOptions with_note = options();
    with_note.state_dir = folder_.file("state");
    return with_note;
  }
  std::unique_ptr<RedisStore> open() const {
    return std::make_unique<RedisStore>(kept(), StoreClock::real());
  }
  /// A fail-over was seen, and noted.
  void see_fail_over() {
    static_cast<void>(RedisStore::create(options(), Execution::CarryOut));
    ASSERT_TRUE(eventually([&] { return replica_->command({"EXISTS", "{semel}m"}) == "1"; }));
    fail_over();
    const auto store = open();
    EXPECT_TRUE(run(store->health()).up);
    store->close();
  }

  TempFolder folder_;
};

TEST_F(RedisStoreInPartition, ARestartDoesNotForgetTheFailOver) {
  see_fail_over();
  primary_->resume();
  leave_alone_with(*primary_);
  try {
    open()->close();
    ADD_FAILURE() << "the old primary is no store of ours any more";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("an older fail-over is not followed back"));
    EXPECT_THAT(error.what(), HasSubstr("semel store acknowledge CONFIG"));
  }
}

TEST_F(RedisStoreInPartition, TheWordOfAnOperatorBeforeTheStartLetsNewSentinelsCount) {
  see_fail_over();
  leave_alone_with(*replica_);
  ASSERT_THROW(open()->close(), StoreError);
  const Acknowledged word = RedisStore::acknowledge_closed(kept(), StoreClock::real());
  EXPECT_TRUE(word.was_suspect);
  EXPECT_THAT(word.sentence, HasSubstr("the sentinels count from nothing"));
  const auto store = open();
  EXPECT_TRUE(run(store->health()).up);
  store->close();
}

TEST_F(RedisStoreInPartition, TheWordOfAnOperatorToARunningProcessDoesSoToo) {
  see_fail_over();
  const auto store = open();
  ASSERT_TRUE(run(store->health()).up);
  EXPECT_FALSE(run(store->acknowledge()).value()) << "there is nothing to acknowledge";
  leave_alone_with(*replica_);
  hang_up(*replica_);
  ASSERT_TRUE(eventually(
      [&] { return run(store->health()).remark.find("an older fail-over") != std::string::npos; }));
  EXPECT_TRUE(run(store->acknowledge()).value());
  EXPECT_TRUE(run(store->health()).up);
  store->close();
}

}  // namespace
}  // namespace semel::testing
