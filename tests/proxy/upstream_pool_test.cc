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
