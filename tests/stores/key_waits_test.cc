#include "stores/key_waits.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <thread>

#include "tests/io/loop.h"
#include "tests/stores/requests.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::id_of;
using testing::Loop;

const IdempotencyKey kKey = id_of<IdempotencyKey>(1);
const IdempotencyKey kOther = id_of<IdempotencyKey>(2);

std::chrono::steady_clock::time_point never() { return std::chrono::steady_clock::now() + 1h; }

/// @return true once it has ended.
Task<bool> waited(KeyWaits& waits, IdempotencyKey key,
                  std::chrono::steady_clock::time_point until) {
  co_await waits.wait(key, until);
  co_return true;
}

class KeyWaitsTest : public ::testing::Test {
 protected:
  KeyWaits waits_;
  Loop loop_;
};

TEST_F(KeyWaitsTest, AllWhoWaitForAKeyEndWithItsNewsAndNobodyElse) {
  const auto first = loop_.start(waited(waits_, kKey, never()));
  const auto second = loop_.start(waited(waits_, kKey, never()));
  const auto other = loop_.start(waited(waits_, kOther, never()));
  waits_.wake(kKey);
  EXPECT_TRUE(loop_.wait_for(first));
  EXPECT_TRUE(loop_.wait_for(second));
  EXPECT_FALSE(other.has_ended());
  EXPECT_TRUE(waits_.is_awaited());
  waits_.wake(kOther);
  EXPECT_TRUE(loop_.wait_for(other));
  EXPECT_FALSE(waits_.is_awaited());
}

TEST_F(KeyWaitsTest, EndsAtItsTimeWithoutNews) {
  const auto until = std::chrono::steady_clock::now() + 20ms;
  EXPECT_TRUE(loop_.run(waited(waits_, kKey, until)));
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  EXPECT_FALSE(waits_.is_awaited());
}

TEST_F(KeyWaitsTest, NewsOfBeforeEndsNothing) {
  waits_.wake(kKey);
  waits_.wake_all();
  const auto waiting = loop_.start(waited(waits_, kKey, never()));
  EXPECT_FALSE(waiting.has_ended());
  waits_.wake(kKey);
  EXPECT_TRUE(loop_.wait_for(waiting));
}

TEST_F(KeyWaitsTest, WhereNewsMayHaveBeenMissedEverybodyEnds) {
  const auto one = loop_.start(waited(waits_, kKey, never()));
  const auto other = loop_.start(waited(waits_, kOther, never()));
  waits_.wake_all();
  EXPECT_TRUE(loop_.wait_for(one));
  EXPECT_TRUE(loop_.wait_for(other));
  EXPECT_FALSE(waits_.is_awaited());
}

TEST_F(KeyWaitsTest, AWaiterThatIsDestroyedLeavesItsPlace) {
  {
    Loop ends;
    static_cast<void>(ends.start(waited(waits_, kKey, never())));
    EXPECT_TRUE(waits_.is_awaited());
  }
  EXPECT_FALSE(waits_.is_awaited());
  waits_.wake(kKey);
}

TEST_F(KeyWaitsTest, AWaiterMayOutliveThePlaceWhereItWaits) {
  auto waits = std::make_unique<KeyWaits>();
  const auto waiting = loop_.start(waited(*waits, kKey, never()));
  waits->wake_all();
  waits.reset();
  EXPECT_TRUE(loop_.wait_for(waiting));
}

TEST_F(KeyWaitsTest, TooManyWaitForTheirTimeAlone) {
  std::vector<testing::Started<bool>> places;
  for (std::size_t n = 0; n < KeyWaits::kWaitersMax; ++n) {
    asio::co_spawn(loop_.io, waited(waits_, kKey, never()), asio::detached);
  }
  loop_.turn();
  const auto until = std::chrono::steady_clock::now() + 20ms;
  const auto late = loop_.start(waited(waits_, kOther, until));
  waits_.wake(kOther);
  EXPECT_TRUE(loop_.wait_for(late));
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  waits_.wake(kKey);
  loop_.turn();
  EXPECT_FALSE(waits_.is_awaited());
  const auto again = loop_.start(waited(waits_, kOther, never()));
  waits_.wake(kOther);
  EXPECT_TRUE(loop_.wait_for(again)) << "places are given back";
}

Task<void> wait_often(KeyWaits& waits, int times) {
  for (int n = 0; n < times; ++n) co_await waits.wait(kKey, never());
}

TEST_F(KeyWaitsTest, NewsOfAnotherThreadReachEveryWorker) {
  constexpr int kTimes = 200;
  std::vector<std::thread> workers;
  std::atomic<int> running{2};
  for (int n = 0; n < 2; ++n) {
    workers.emplace_back([&] {
      asio::io_context io{1};
      asio::co_spawn(io, wait_often(waits_, kTimes), asio::detached);
      io.run();
      --running;
    });
  }
  while (running != 0) {
    waits_.wake(kKey);
    std::this_thread::yield();
  }
  for (auto& worker : workers) worker.join();
  EXPECT_FALSE(waits_.is_awaited());
}

}  // namespace
}  // namespace semel
