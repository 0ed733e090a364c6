#include "proxy/upstream_pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/io/loop.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using testing::Incoming;
using testing::Loop;
using testing::next_news;
using testing::Socket;
using testing::Stream;

testing::Deadline soon() { return testing::Deadline(10s); }

class UpstreamPoolTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kOpenMax = 3;
  ~UpstreamPoolTest() override { loop.pass(Deadlines::Clock::time_point::max()); }
  /// Opens a connection in a slot of its own. The tool's end stands last in `tools`.
  std::unique_ptr<Connection> open() {
    EXPECT_TRUE(pool.reserve());
    Stream stream = testing::tcp_stream(loop);
    tools.push_back(std::move(stream.theirs));
    return std::move(stream.ours);
  }
  /// How many slots are left. Takes them all.
  std::size_t slots_left() {
    std::size_t left = 0;
    while (left <= kOpenMax && pool.reserve()) ++left;
    return left;
  }
  using Handed = std::optional<UpstreamPool::Handed>;
  testing::Started<Handed> wait(Deadlines::Clock::duration age_max = 1h) {
    return loop.start(
        pool.wait(loop.executor(), loop.deadlines, Deadlines::Clock::now() + 1h, age_max));
  }
  /// Takes all slots, each with a connection in use.
  std::vector<std::unique_ptr<Connection>> use_all() {
    std::vector<std::unique_ptr<Connection>> used;
    for (std::size_t i = 0; i < kOpenMax; ++i) used.push_back(open());
    return used;
  }
  bool closed_here(std::size_t tool) { return next_news(tools[tool]) == Incoming::Finished; }

  Loop loop;
  UpstreamPool pool{2, kOpenMax};
  std::vector<Socket> tools;
};

TEST_F(UpstreamPoolTest, AnEmptyPoolHasNone) { EXPECT_EQ(pool.take(0, 1h), nullptr); }

TEST_F(UpstreamPoolTest, TheOneThatAnsweredLastIsTakenFirst) {
  auto first = open();
  auto second = open();
  const Connection* older = first.get();
  const Connection* newer = second.get();
  pool.give(0, std::move(first), std::nullopt);
  pool.give(0, std::move(second), std::nullopt);
  const auto taken = pool.take(0, 1h);
  EXPECT_EQ(taken.get(), newer);
  const auto next = pool.take(0, 1h);
  EXPECT_EQ(next.get(), older);
  EXPECT_EQ(pool.take(0, 1h), nullptr);
}

TEST_F(UpstreamPoolTest, TheAgeCountsFromTheAnswerAndNotFromTheReturn) {
  const auto now = UpstreamPool::Clock::now();
  pool.give(0, open(), std::nullopt, now - 2s);
  EXPECT_EQ(pool.take(0, 1s), nullptr) << "the store or the client took two seconds";
  EXPECT_NE(pool.take(0, 3s), nullptr);
  pool.give(0, open(), 3s, now - 2s);
  EXPECT_EQ(pool.take(0, 1h), nullptr) << "the tool closes it within the second";
  EXPECT_TRUE(closed_here(1));
}

TEST_F(UpstreamPoolTest, OneThatComesBackLateStandsBehindYoungerAnswers) {
  const auto now = UpstreamPool::Clock::now();
  auto young = open();
  const Connection* younger = young.get();
  pool.give(0, std::move(young), std::nullopt, now);
  pool.give(0, open(), std::nullopt, now - 2s);
  const auto taken = pool.take(0, 1s);
  EXPECT_EQ(taken.get(), younger);
}

TEST_F(UpstreamPoolTest, OnceRetiredItKeepsNoConnection) {
  auto in_use = open();
  pool.give(1, open(), std::nullopt);
  pool.retire();
  EXPECT_TRUE(closed_here(1)) << "it waited";
  pool.give(0, std::move(in_use), std::nullopt);
  EXPECT_TRUE(closed_here(0)) << "it came back";
  EXPECT_EQ(slots_left(), kOpenMax);
}

TEST_F(UpstreamPoolTest, EndpointsDoNotShareConnections) {
  pool.give(0, open(), std::nullopt);
  EXPECT_EQ(pool.take(1, 1h), nullptr);
  EXPECT_NE(pool.take(0, 1h), nullptr);
}

TEST_F(UpstreamPoolTest, OneWhoseLastAnswerIsTooOldIsLeftForLessCarefulRequests) {
  pool.give(0, open(), std::nullopt);
  EXPECT_EQ(pool.take(0, -1ns), nullptr);
  EXPECT_NE(pool.take(0, 1h), nullptr);
}

TEST_F(UpstreamPoolTest, OneThatThePeerClosedIsNeverHandedOut) {
  auto live = open();
  const Connection* older = live.get();
  pool.give(0, std::move(live), std::nullopt);
  pool.give(0, open(), std::nullopt);
  tools.back().half_close();
  // Over loopback the end has arrived when the call returns.
  const auto taken = pool.take(0, 1h);
  EXPECT_EQ(taken.get(), older);
  EXPECT_EQ(slots_left(), 2U) << "the dead one's slot is free again";
}

TEST_F(UpstreamPoolTest, OneThatThePeerResetIsNeverHandedOut) {
  pool.give(0, open(), std::nullopt);
  tools.back().reset();
  EXPECT_EQ(pool.take(0, 1h), nullptr);
  EXPECT_EQ(slots_left(), kOpenMax);
}

TEST_F(UpstreamPoolTest, OneOnWhichBytesCameUnaskedIsNeverHandedOut) {
  pool.give(0, open(), std::nullopt);
  ASSERT_TRUE(tools.back().send_all("HTTP/1.1 408 Request Timeout\r\n\r\n", soon()));
  EXPECT_EQ(pool.take(0, 1h), nullptr);
}

TEST_F(UpstreamPoolTest, WithinASecondOfItsAnnouncedEndOneIsClosedAtOnce) {
  for (const auto announced : {-1s, 0s, 1s}) {
    pool.give(0, open(), announced);
    EXPECT_EQ(pool.take(0, 1h), nullptr) << announced.count();
    EXPECT_TRUE(closed_here(tools.size() - 1)) << announced.count();
  }
  EXPECT_EQ(slots_left(), kOpenMax);
}

TEST_F(UpstreamPoolTest, AnAnnouncedEndCountsUntilASecondBeforeIt) {
  const auto given = Deadlines::Clock::now();
  pool.give(0, open(), 30s);
  pool.sweep(given + 28s);
  EXPECT_FALSE(closed_here(0));
  pool.sweep(Deadlines::Clock::now() + 29s);
  EXPECT_TRUE(closed_here(0));
  EXPECT_EQ(slots_left(), kOpenMax);
}

TEST_F(UpstreamPoolTest, WithoutAnAnnouncementOneWaitsAMinute) {
  const auto given = Deadlines::Clock::now();
  pool.give(0, open(), std::nullopt);
  pool.give(1, open(), 1h);
  pool.sweep(given + 59s);
  EXPECT_FALSE(closed_here(0));
  EXPECT_FALSE(closed_here(1));
  pool.sweep(Deadlines::Clock::now() + 60s);
  EXPECT_TRUE(closed_here(0));
  EXPECT_TRUE(closed_here(1)) << "a longer announcement does not keep it longer";
}

TEST_F(UpstreamPoolTest, ASweepFindsAShortAnnouncementBehindALongOne) {
  const auto given = Deadlines::Clock::now();
  pool.give(0, open(), std::nullopt);
  pool.give(0, open(), 5s);
  pool.sweep(given + 10s);
  EXPECT_FALSE(closed_here(0));
  EXPECT_TRUE(closed_here(1));
}

TEST_F(UpstreamPoolTest, NoMoreAreOpenThanItsSlots) {
  std::vector<std::unique_ptr<Connection>> used;
  for (std::size_t i = 0; i < kOpenMax; ++i) used.push_back(open());
  EXPECT_FALSE(pool.reserve());
  used.pop_back();
  pool.forget();
  EXPECT_TRUE(pool.reserve());
  EXPECT_FALSE(pool.reserve());
}

TEST_F(UpstreamPoolTest, OneThatWaitsMakesRoomForOneThatIsNeeded) {
  const auto used = open();
  pool.give(0, open(), std::nullopt);
  pool.give(0, open(), std::nullopt);
  EXPECT_TRUE(pool.reserve());
  EXPECT_TRUE(closed_here(1)) << "the oldest goes";
  EXPECT_FALSE(closed_here(2));
  EXPECT_TRUE(pool.reserve());
  EXPECT_TRUE(closed_here(2));
  EXPECT_FALSE(pool.reserve());
  EXPECT_FALSE(closed_here(0));
}

TEST_F(UpstreamPoolTest, AFreedSlotIsTheOneWhoWaitsLongestAndNobodyOvertakes) {
  auto used = use_all();
  const auto first = wait();
  const auto second = wait();
  EXPECT_FALSE(first.has_ended());
  used.pop_back();
  pool.forget();
  EXPECT_FALSE(pool.reserve()) << "one who comes now comes third";
  loop.turn();
  ASSERT_TRUE(first.has_ended());
  ASSERT_TRUE(first.value());
  EXPECT_EQ(first.value()->connection, nullptr);
  EXPECT_FALSE(second.has_ended());
  pool.forget();  // The first one's.
  loop.turn();
  ASSERT_TRUE(second.has_ended());
  EXPECT_TRUE(second.value());
  pool.forget();
  EXPECT_TRUE(pool.reserve()) << "nobody waits any more";
}

TEST_F(UpstreamPoolTest, AConnectionThatIsGivenBackGoesToTheOneWhoWaitsLongest) {
  auto used = use_all();
  const auto first = wait();
  const auto second = wait();
  const Connection* given = used[1].get();
  pool.give(1, std::move(used[1]), std::nullopt);
  EXPECT_EQ(pool.take(1, 1h), nullptr) << "one who comes now comes third";
  loop.turn();
  ASSERT_TRUE(first.has_ended());
  ASSERT_TRUE(first.value());
  EXPECT_EQ(first.value()->connection.get(), given);
  EXPECT_EQ(first.value()->endpoint, 1U);
  EXPECT_FALSE(second.has_ended());
}

TEST_F(UpstreamPoolTest, OfAConnectionThatIsNoLongerGoodTheSlotIsHandedOn) {
  for (const char* why : {"too old", "closed", "about to be closed"}) {
    SCOPED_TRACE(why);
    auto used = use_all();
    const bool is_old = why == std::string("too old");
    const auto waiter = wait(is_old ? -1ns : Deadlines::Clock::duration(1h));
    if (why == std::string("closed")) tools.back().reset();
    const auto announced =
        why == std::string("about to be closed") ? std::optional(1s) : std::nullopt;
    pool.give(0, std::move(used.back()), announced);
    loop.turn();
    ASSERT_TRUE(waiter.has_ended());
    ASSERT_TRUE(waiter.value());
    EXPECT_EQ(waiter.value()->connection, nullptr);
    for (std::size_t i = 0; i < kOpenMax; ++i) pool.forget();
  }
}

TEST_F(UpstreamPoolTest, OneWhoHasWaitedLongEnoughLeavesTheQueue) {
  const auto used = use_all();
  const auto now = Deadlines::Clock::now();
  const auto hasty = loop.start(pool.wait(loop.executor(), loop.deadlines, now + 1s, 1h));
  const auto patient = loop.start(pool.wait(loop.executor(), loop.deadlines, now + 3s, 1h));
  loop.pass(now + 2s);
  ASSERT_TRUE(hasty.has_ended());
  EXPECT_FALSE(hasty.value());
  EXPECT_FALSE(patient.has_ended());
  pool.forget();
  loop.turn();
  ASSERT_TRUE(patient.has_ended());
  EXPECT_TRUE(patient.value());
}

TEST_F(UpstreamPoolTest, ASlotThatComesFreeAsTheTimeEndsIsNotLost) {
  const auto used = use_all();
  const auto waiter = wait();
  loop.deadlines.sweep(Deadlines::Clock::time_point::max());
  pool.forget();
  loop.turn();
  ASSERT_TRUE(waiter.has_ended());
  EXPECT_TRUE(waiter.value()) << "whoever waited decides whether it is too late";
  for (std::size_t i = 0; i < kOpenMax; ++i) pool.forget();
  EXPECT_EQ(slots_left(), kOpenMax);
}

TEST_F(UpstreamPoolTest, WhoWaitsWhenTheWorkerEndsIsTurnedAway) {
  const auto used = use_all();
  const auto waiter = wait();
  loop.pass(Deadlines::Clock::time_point::max());
  ASSERT_TRUE(waiter.has_ended());
  EXPECT_FALSE(waiter.value());
}

TEST_F(UpstreamPoolTest, ARetiredPoolServesItsQueueToTheEnd) {
  auto used = use_all();
  const auto waiter = wait();
  pool.retire();
  loop.turn();
  EXPECT_FALSE(waiter.has_ended());
  pool.give(0, std::move(used.back()), std::nullopt);
  loop.turn();
  EXPECT_TRUE(closed_here(tools.size() - 1)) << "no connection of an old edition is used again";
  ASSERT_TRUE(waiter.has_ended());
  ASSERT_TRUE(waiter.value());
  EXPECT_EQ(waiter.value()->connection, nullptr);
}

TEST_F(UpstreamPoolTest, TheQueueHasAnEnd) {
  const auto used = use_all();
  std::vector<testing::Started<Handed>> queue;
  for (std::size_t i = 0; i < UpstreamPool::kWaitingMax; ++i) queue.push_back(wait());
  const auto too_many = wait();
  ASSERT_TRUE(too_many.has_ended());
  EXPECT_FALSE(too_many.value());
  EXPECT_FALSE(queue.back().has_ended());
  pool.forget();
  loop.turn();
  EXPECT_TRUE(queue.front().has_ended());
  EXPECT_FALSE(wait().has_ended()) << "there is room for one again";
}

TEST_F(UpstreamPoolTest, ADeadlineOfItsLastRequestDoesNotFollowItIntoThePool) {
  auto connection = open();
  connection->expires_at(Deadlines::Clock::now() + 1h);
  pool.give(0, std::move(connection), std::nullopt);
  loop.pass(Deadlines::Clock::now() + 2h);
  const auto taken = pool.take(0, 1h);
  ASSERT_NE(taken, nullptr);
  EXPECT_FALSE(taken->expired());
}

}  // namespace
}  // namespace semel::proxy
