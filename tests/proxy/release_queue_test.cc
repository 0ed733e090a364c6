#include "proxy/release_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include "core/route_pattern.h"
#include "io/clock.h"
#include "proxy/edition.h"
#include "proxy/worker.h"
#include "tests/proxy/scripted_store.h"
#include "tests/support/deadline.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::ScriptedStore;

Attempt attempt_of(std::uint32_t number) {
  Attempt attempt;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<std::uint8_t>(number >> (8 * i));
    attempt.key.bytes[i] = byte;
    attempt.token.bytes[i] = byte;
  }
  return attempt;
}

/// With a route, as every configuration has one; nobody calls it.
config::Config config_of_memory() {
  config::Config config;
  Route& plain = config.routes.emplace_back();
  plain.name = "plain";
  plain.pattern = "/plain";
  plain.segments = std::get<std::vector<PatternSegment>>(parse_pattern(plain.pattern));
  config.upstreams.emplace_back().name = "tool";
  config.listen.address.host = "127.0.0.1";
  config.store = config::MemoryStore{};
  return config;
}

/// A worker that listens nowhere, and a store whose releases take a turn and end as the test says.
class ReleaseQueueTest : public ::testing::Test {
 protected:
  ReleaseQueueTest() {
    store_->releases = [this](Attempt attempt) { return release(attempt); };
    thread_ = std::thread([this] { worker_.run(); });
  }
  ~ReleaseQueueTest() override {
    worker_.drain();
    worker_.expire_all();
    thread_.join();
  }

  Task<Result<WriteReply>> release(Attempt attempt) {
    at_once_ = std::max(at_once_.load(), ++under_way_);
    Worker::Timer turn(worker_.executor(), 1ms);
    co_await turn.async_wait(kNoThrow);
    --under_way_;
    ++asked_;
    asked_of_[attempt.token.bytes[0]] += 1;
    if (is_failing_) co_return Fault::StoreTimeout;
    co_return WriteReply::Done;
  }
  /// Runs `work` on the worker, and waits for it.
  template <class Work>
  void on_worker(Work work) {
    std::promise<void> done;
    asio::post(worker_.executor(), [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void add(std::uint32_t count, GiveBack until = GiveBack::UntilAnswered,
           std::chrono::nanoseconds lease_ends = 0ns) {
    on_worker([&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        worker_.releases.add(attempt_of(i), until, lease_ends);
      }
    });
  }
  int asked_of(std::uint8_t number) {
    int times = 0;
    on_worker([&] { times = asked_of_[number]; });
    return times;
  }

  ScriptedStore* const store_ = new ScriptedStore;  ///< The site's.
  Site site_{config_of_memory(), std::unique_ptr<Store>(store_), 1, -1};
  Worker worker_{site_, 0, std::make_shared<Edition>(config_of_memory())};
  std::atomic<bool> is_failing_{true};
  std::atomic<int> asked_{0};
  std::atomic<int> under_way_{0};
  std::atomic<int> at_once_{0};
  std::map<std::uint8_t, int> asked_of_;  ///< By the token's first byte; the worker's.
  std::thread thread_;
};

TEST_F(ReleaseQueueTest, AFailingStoreIsAskedForOneClaimAtATimeHoweverManyThereAre) {
  add(1'000);
  ASSERT_TRUE(eventually([&] { return asked_ >= 4; }));
  EXPECT_EQ(at_once_, 1);
  EXPECT_EQ(worker_.metrics.disowned.read(), 1'000u);
  is_failing_ = false;
  ASSERT_TRUE(eventually([&] { return worker_.metrics.disowned.read() == 0; }));
  EXPECT_LE(at_once_, static_cast<int>(ReleaseQueue::kCallsMax));
  EXPECT_GT(at_once_, 1) << "one that answers is asked by more";
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(site_.disowned.on(attempt_of(i).key).empty());
  }
}

TEST_F(ReleaseQueueTest, WhatWasNeverSentIsGivenBackHoweverLongAfterItsLease) {
  add(1, GiveBack::UntilAnswered, boot_time() - 1h);
  ASSERT_TRUE(eventually([&] { return asked_of(0) >= 3; }));
  EXPECT_EQ(site_.disowned.on(attempt_of(0).key).size(), 1u);
  is_failing_ = false;
  EXPECT_TRUE(eventually([&] { return site_.disowned.on(attempt_of(0).key).empty(); }));
}

TEST_F(ReleaseQueueTest, WhatMayHaveBeenSentIsAskedForOnceAfterItsLeaseAndForgottenThen) {
  add(1, GiveBack::UntilLeaseEnds, boot_time() - 1h);
  ASSERT_TRUE(eventually([&] { return worker_.metrics.disowned.read() == 0; }));
  EXPECT_EQ(asked_of(0), 1);
  EXPECT_TRUE(site_.disowned.on(attempt_of(0).key).empty());
}

TEST_F(ReleaseQueueTest, WhatHasNoRoomIsLeftToItsLeaseAndCounted) {
  const auto all = static_cast<std::uint32_t>(DisownedClaims::kMax);
  add(all + 2);
  EXPECT_EQ(worker_.metrics.disowned.read(), DisownedClaims::kMax);
  EXPECT_EQ(worker_.metrics.disowned_dropped.read(), 2u);
  EXPECT_EQ(site_.disowned.on(attempt_of(all - 1).key).size(), 1u);
  EXPECT_TRUE(site_.disowned.on(attempt_of(all).key).empty());
}

TEST_F(ReleaseQueueTest, AClaimThatTheStoreRefusesToGiveBackKeepsNoneBehindItWaiting) {
  store_->releases = [this](Attempt attempt) -> Task<Result<WriteReply>> {
    ++asked_;
    asked_of_[attempt.token.bytes[0]] += 1;
    if (attempt.token.bytes[0] == 0) co_return Fault::StoreTimeout;
    co_return WriteReply::Done;
  };
  add(100);
  ASSERT_TRUE(eventually([&] { return worker_.metrics.disowned.read() == 1; }));
  EXPECT_EQ(site_.disowned.on(attempt_of(0).key).size(), 1u);
}

}  // namespace
}  // namespace semel::proxy
