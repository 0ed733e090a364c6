// What a store in Redis is doubted for, and what it is not: a clock that leaps, calls that come
// late, claims that an operator has given up.
#include <gtest/gtest.h>

#include "tests/stores/redis_fixture.h"
#include "tests/support/deadline.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {
namespace {

/// Two replicas on one Redis. The server's clock stands where `servers_` stands.
class RedisDoubt : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "no redis-server here";
    redis_ = std::make_unique<StandingRedis>(folder_.file("clock"));
  }
  void TearDown() override {
    for (const auto& store : {a_.get(), b_.get()}) {
      if (store != nullptr) store->close();
    }
  }

  RedisOptions options(const std::string& replica) const {
    RedisOptions options = options_on(redis_->server);
    options.state_dir = folder_.file(replica);
    return options;
  }
  static Result<ClaimReply> claim(Store& store, const ClaimRequest& request) {
    return run(store.claim(request));
  }
  static Attempt granted(Store& store, const ClaimRequest& request) {
    const auto reply = claim(store, request);
    const auto* grant = reply ? std::get_if<Granted>(&*reply) : nullptr;
    EXPECT_TRUE(grant) << (reply ? "another reply" : std::string(name(reply.error())));
    return {request.key, request.token, grant ? grant->fence : Fence{}};
  }

  TempFolder folder_;
  MovedClock servers_{folder_.file("clock")};
  MovedClock ours_;
  std::unique_ptr<StandingRedis> redis_;
  std::unique_ptr<Store> a_;
  std::unique_ptr<Store> b_;
};

TEST_F(RedisDoubt, AServerThatStoodStillHasNotLeapt) {
  RedisOptions hasty = options("a");
  hasty.deadline = 1s;
  a_ = store_on(hasty, servers_.clock());
  granted(*a_, request_of(1, 1));
  ClaimRequest late = request_of(2, 2);
  late.policy = Policy::Idempotent;
  redis_->server.pause();
  ASSERT_EQ(claim(*a_, late).error(), Fault::StoreTimeout);
  servers_.advance(10s);
  redis_->server.resume();
  ASSERT_TRUE(eventually([&] { return run(a_->health()).up; }, milliseconds{30'000}));
  EXPECT_FALSE(run(a_->health()).suspect) << "the claim came late, the clock is right";
  EXPECT_FALSE(run(a_->find(late.key)).value()) << "later than it may be granted";
  granted(*a_, request_of(2, 3));
}

TEST_F(RedisDoubt, BehindALeapAlsoAFreshProcessEndsNothing) {
  a_ = store_on(options("a"), ours_.clock());
  const ClaimRequest paid = request_of(1, 1);
  ASSERT_EQ(run(a_->record(granted(*a_, paid), response_of(200, "paid"))).value(),
            WriteReply::Done);
  granted(*a_, request_of(2, 2));
  servers_.advance(48h);
  ASSERT_EQ(claim(*a_, request_of(3, 3)).error(), Fault::StoreSuspect);
  // It has never heard another time from this server.
  b_ = std::make_unique<RedisStore>(options("b"), ours_.clock());
  const SweepReport swept = run(b_->sweep(100)).value();
  EXPECT_EQ(swept.expired + swept.owner_lost, 0U);
  EXPECT_TRUE(std::holds_alternative<Held>(claim(*b_, request_of(2, 4)).value()));
  servers_.advance(-48h);
  EXPECT_TRUE(run(b_->acknowledge()).value());
  const auto again = claim(*b_, request_of(1, 5));
  ASSERT_TRUE(again) << name(again.error());
  EXPECT_TRUE(std::holds_alternative<Completed>(*again)) << "it would be paid twice";
}

TEST_F(RedisDoubt, WhatAnOperatorHasGivenUpIsNoNewsFromAnotherReplica) {
  a_ = store_on(options("a"), servers_.clock());
  b_ = std::make_unique<RedisStore>(options("b"), servers_.clock());
  redis_->server.command({"SAVE"});
  granted(*a_, request_of(1, 1));
  const Attempt lost = granted(*b_, request_of(2, 2));
  redis_->server.command({"DEBUG", "RELOAD", "NOSAVE"});
  ASSERT_EQ(claim(*a_, request_of(1, 3)).error(), Fault::StoreSuspect);
  ASSERT_TRUE(run(a_->acknowledge()).value());
  EXPECT_GT(granted(*b_, request_of(2, 4)).fence, lost.fence);
  EXPECT_FALSE(run(b_->health()).suspect);
}

TEST_F(RedisDoubt, WhoMayNotPublishEndsClaimsAllTheSame) {
  redis_.reset();
  RedisSetup setup = StandingRedis::quick_setup();
  setup.users = {"user default on nopass ~* &* +@all",
                 "user semel on >secret ~{semel}* resetchannels +@all"};
  redis_ = std::make_unique<StandingRedis>(folder_.file("clock"), setup);
  RedisOptions bound = options("a");
  bound.url = "redis://semel:secret@127.0.0.1:" + std::to_string(redis_->server.port());
  a_ = store_on(bound, servers_.clock());
  const Attempt holder = granted(*a_, request_of(1, 1));
  ASSERT_TRUE(std::holds_alternative<Held>(claim(*a_, request_of(1, 2)).value()));
  const auto written = run(a_->record(holder, response_of(200, "done")));
  ASSERT_TRUE(written) << name(written.error());
  EXPECT_EQ(*written, WriteReply::Done);
}

}  // namespace
}  // namespace semel::testing
