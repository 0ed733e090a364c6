// What a claim asks the server, one question after the other, has one deadline.
#include <gtest/gtest.h>

#include "tests/stores/redis_fixture.h"
#include "tests/support/faulty_link.h"

namespace semel::testing {
namespace {

class RedisBudget : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "no redis-server here";
    server_.emplace();
    link_.emplace(server_->port());
    RedisOptions options;
    options.url = "redis://127.0.0.1:" + std::to_string(link_->port());
    options.deadline = 2s;
    store_ = store_on(options, StoreClock::real());
    static_cast<void>(run(store_->health()));  // The worker of the test has its connection.
  }
  void TearDown() override {
    if (store_ != nullptr) store_->close();
  }
  /// Each question takes that long at the least.
  void be_slow(milliseconds round_trip) {
    FaultyLink::Pace pace;
    pace.delay = round_trip / 2;
    link_->pace(pace);
  }
  static ClaimRequest with_earlier_key() {
    ClaimRequest request = request_of(1, 1);
    request.not_after = 30s;
    request.earlier = {{request_of(2, 2).key, request_of(2, 2).bindings}};
    return request;
  }

  std::optional<RedisServer> server_;
  std::optional<FaultyLink> link_;
  std::unique_ptr<Store> store_;
};

TEST_F(RedisBudget, AnEarlierKeyIsLookedAtWithinTheDeadlineOfTheClaim) {
  be_slow(milliseconds{1'400});
  const auto reply = run(store_->claim(with_earlier_key()));
  EXPECT_TRUE(reply.has_error()) << "two questions of 1.4 s each are no answer within 2 s";
}

TEST_F(RedisBudget, WhatTheAskerHasWaitedForBeforeCountsToo) {
  ClaimRequest request = request_of(1, 1);
  request.asked = std::chrono::steady_clock::now() - 3s;
  EXPECT_EQ(run(store_->claim(request)).error(), Fault::StoreUnreachable);
  request.asked.reset();
  EXPECT_TRUE(run(store_->claim(request)).has_value());
}

}  // namespace
}  // namespace semel::testing
