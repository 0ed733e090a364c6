#pragma once

// Two replicas on one Redis, each with a witness of its own.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/stores/redis_fixture.h"

namespace semel::testing {

/// Time stands still, at the replicas and at the server, until a test moves it.
class RedisReplicas : public ::testing::Test {
 protected:
  explicit RedisReplicas(RedisSetup setup = StandingRedis::quick_setup())
      : redis_(folder_.path() + "/clock", std::move(setup)) {
    static_cast<void>(RedisStore::create(options("a"), Execution::CarryOut));
    a_ = open("a");
    b_ = open("b");
  }
  ~RedisReplicas() override {
    for (const auto& store : {a_.get(), b_.get()}) {
      if (store) store->close();
    }
  }

  [[nodiscard]] RedisOptions options(const std::string& replica) const {
    RedisOptions options = options_on(redis_.server);
    options.state_dir = folder_.path() + "/" + replica;
    return options;
  }
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& replica) const {
    return std::make_unique<RedisStore>(options(replica), clock_.clock());
  }

  static Result<ClaimReply> claim(Store& store, const ClaimRequest& request) {
    return run(store.claim(request));
  }
  /// Claims and says who holds it now. The test fails if it was not granted.
  static Attempt granted(Store& store, const ClaimRequest& request) {
    const auto reply = claim(store, request);
    const auto* grant = reply ? std::get_if<Granted>(&*reply) : nullptr;
    EXPECT_TRUE(grant) << (reply ? "another reply" : std::string(name(reply.error())));
    return {request.key, request.token, grant ? grant->fence : Fence{}};
  }
  template <class Reply>
  static bool is(const Result<ClaimReply>& reply) {
    return reply && std::holds_alternative<Reply>(*reply);
  }
  static ClaimRequest idempotent(std::uint64_t key, std::uint64_t attempt) {
    ClaimRequest request = request_of(key, attempt);
    request.policy = Policy::Idempotent;
    return request;
  }
  /// What Redis calls the record of that key.
  static std::string name_of(const ClaimRequest& request) {
    return RedisNames("{semel}").records() + raw(request.key);
  }

  /// What the server has written since is lost, as after a fail-over or with an old copy; its
  /// connections live on.
  void keep_a_copy() { redis_.server.command({"SAVE"}); }
  void rewind() { redis_.server.command({"DEBUG", "RELOAD", "NOSAVE"}); }

  TemporaryFolder folder_;
  MovedClock clock_{folder_.path() + "/clock"};
  StandingRedis redis_;
  std::unique_ptr<Store> a_;
  std::unique_ptr<Store> b_;
};

}  // namespace semel::testing
