#include "io/tcp.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/post.hpp>
#include <string>
#include <vector>

#include "tests/io/loop.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::arrived;
using testing::Incoming;
using testing::Loop;
using testing::next_news;
using testing::Stream;
using testing::tcp_stream;

const Deadlines::Clock::time_point kNoon = Deadlines::Clock::time_point{} + 24h;

testing::Deadline soon() { return testing::Deadline(10s); }

/// More than the kernel takes at once, and no part like another.
std::string much() {
  std::string text;
  for (std::uint32_t i = 0; text.size() < 8 * 1024 * 1024; ++i) text += std::to_string(i) + ",";
  return text;
}

std::array<asio::const_buffer, 1> one(const std::string& text) { return {asio::buffer(text)}; }

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() { loop.pass(kNoon - 12h); }
  Task<std::string> read_once() {
    std::string room(64, '\0');
    const ReadReply read = co_await stream.ours->read_some(room);
    last = read.end;
    room.resize(read.bytes);
    co_return room;
  }
  Task<std::string> read_with_a_cancel_behind_it() {
    asio::post(loop.io, [this] { stream.ours->cancel(); });
    co_return co_await read_once();
  }
  Loop loop;
  Stream stream = tcp_stream(loop);
  IoEnd last = IoEnd::Done;
};

TEST_F(ConnectionTest, AReadWaitsForBytesAndReturnsThoseThatAreThere) {
  const auto reading = loop.start(read_once());
  EXPECT_FALSE(reading.has_ended());
  ASSERT_TRUE(stream.theirs.send_all("hello", soon()));
  EXPECT_EQ(loop.wait_for(reading), "hello");
  EXPECT_EQ(last, IoEnd::Done);
}

TEST_F(ConnectionTest, ACleanEndIsClosedAndNotBroken) {
  stream.theirs.half_close();
  EXPECT_EQ(loop.run(read_once()), "");
  EXPECT_EQ(last, IoEnd::Closed);
}

TEST_F(ConnectionTest, AResetIsBrokenAndNotClosed) {
  const auto reading = loop.start(read_once());
  stream.theirs.reset();
  EXPECT_EQ(loop.wait_for(reading), "");
  EXPECT_EQ(last, IoEnd::Broken);
}

TEST_F(ConnectionTest, AReadThatHasOnlyJustBegunIsCancelledToo) {
  const auto reading = loop.start(read_with_a_cancel_behind_it());
  EXPECT_EQ(loop.wait_for(reading), "");
  EXPECT_EQ(last, IoEnd::Broken);
}

TEST_F(ConnectionTest, ADeadlineEndsTheReadThatWaits) {
  stream.ours->expires_at(kNoon);
  const auto reading = loop.start(read_once());
  loop.pass(kNoon - 1ms);
  EXPECT_FALSE(reading.has_ended());
  loop.pass(kNoon);
  ASSERT_TRUE(reading.has_ended());
  EXPECT_EQ(last, IoEnd::Expired);
}

TEST_F(ConnectionTest, WhatIsStartedAfterTheDeadlineEndsAtOnceUntilThereIsANewOne) {
  stream.ours->expires_at(kNoon);
  loop.pass(kNoon);
  EXPECT_TRUE(stream.ours->expired());
  ASSERT_TRUE(stream.theirs.send_all("late", soon()));
  loop.run(read_once());
  EXPECT_EQ(last, IoEnd::Expired);
  EXPECT_EQ(loop.run(stream.ours->wait_readable()), IoEnd::Expired);
  const std::string text = "x";
  EXPECT_EQ(loop.run(stream.ours->write_all(one(text))).end, IoEnd::Expired);
  EXPECT_EQ(arrived(stream.theirs), "");

  stream.ours->expires_at(kNoon + 1h);
  EXPECT_EQ(loop.run(read_once()), "late");
}

TEST_F(ConnectionTest, APeerWhoseBytesAreAlwaysThereDoesNotOutlastTheDeadline) {
  ASSERT_TRUE(stream.theirs.send_all("more and more", soon()));
  loop.pass(kNoon);
  stream.ours->expires_at(kNoon - 1ms);  // As by a caller that goes on with the deadline it had.
  EXPECT_EQ(loop.run(read_once()), "");
  EXPECT_EQ(last, IoEnd::Expired);
}

TEST_F(ConnectionTest, ANewDeadlineReplacesTheOneBefore) {
  stream.ours->expires_at(kNoon);
  stream.ours->expires_at(kNoon + 1h);
  const auto reading = loop.start(read_once());
  loop.pass(kNoon);
  EXPECT_FALSE(reading.has_ended());
  stream.ours->expires_never();
  loop.pass(kNoon + 2h);
  EXPECT_FALSE(reading.has_ended());
  stream.theirs.half_close();
  loop.wait_for(reading);
}

TEST_F(ConnectionTest, WaitingForBytesTakesNone) {
  const auto waiting = loop.start(stream.ours->wait_readable());
  EXPECT_FALSE(waiting.has_ended());
  ASSERT_TRUE(stream.theirs.send_all("all of it", soon()));
  EXPECT_EQ(loop.wait_for(waiting), IoEnd::Done);
  EXPECT_EQ(loop.run(read_once()), "all of it");
}

TEST_F(ConnectionTest, WriteNowTakesWhatFitsAndNeverWaits) {
  const std::string text = much();
  const SendReply first = stream.ours->write_now(one(text));
  EXPECT_EQ(first.end, IoEnd::Done);
  EXPECT_GT(first.bytes, 0U);
  EXPECT_LT(first.bytes, text.size());
  // The kernel may still move some to the reader's side; its room ends all the same.
  SendReply full = first;
  for (int i = 0; i < 100 && full.bytes != 0; ++i) full = stream.ours->write_now(one(text));
  EXPECT_EQ(full.end, IoEnd::Done);
  EXPECT_EQ(full.bytes, 0U);
}

TEST_F(ConnectionTest, WriteAllGivesASlowReaderEveryByteInOrder) {
  const std::string text = much();
  const std::string_view all = text;
  const std::array<asio::const_buffer, 4> parts = {
      asio::buffer(all.substr(0, 7)), asio::const_buffer(), asio::buffer(all.substr(7, 5'000'000)),
      asio::buffer(all.substr(5'000'007))};
  const auto writing = loop.start(stream.ours->write_all(parts));
  EXPECT_FALSE(writing.has_ended());
  std::string got;
  while (got.size() < text.size()) {
    ASSERT_EQ(stream.theirs.read_some(got, soon()), Incoming::Bytes);
    loop.turn();
  }
  EXPECT_EQ(got, text);
  EXPECT_EQ(loop.wait_for(writing).end, IoEnd::Done);
  EXPECT_EQ(writing.value().bytes, text.size());
}

TEST_F(ConnectionTest, AWriteThatExpiresSaysHowManyBytesHaveLeft) {
  const std::string text = much();
  stream.ours->expires_at(kNoon);
  const auto writing = loop.start(stream.ours->write_all(one(text)));
  std::string got;
  ASSERT_EQ(stream.theirs.read_some(got, soon()), Incoming::Bytes);
  loop.turn();
  loop.pass(kNoon);
  ASSERT_TRUE(writing.has_ended());
  EXPECT_EQ(writing.value().end, IoEnd::Expired);
  stream.ours->shutdown_write();
  while (stream.theirs.read_some(got, soon()) == Incoming::Bytes) continue;
  EXPECT_EQ(got.size(), writing.value().bytes);
  EXPECT_EQ(got, text.substr(0, got.size()));
}

TEST_F(ConnectionTest, MoreBuffersThanOneCallTakesAreWrittenInOrder) {
  std::vector<std::string> words;
  std::vector<asio::const_buffer> buffers;
  std::string expected;
  for (int i = 0; i < 40; ++i) words.push_back(i % 3 == 0 ? "" : std::to_string(i) + ";");
  for (const std::string& word : words) {
    buffers.push_back(asio::buffer(word));
    expected += word;
  }
  EXPECT_EQ(loop.run(stream.ours->write_all(buffers)).bytes, expected.size());
  std::string got;
  while (got.size() < expected.size()) {
    ASSERT_EQ(stream.theirs.read_some(got, soon()), Incoming::Bytes);
  }
  EXPECT_EQ(got, expected);
}

TEST_F(ConnectionTest, WritingNothingIsDone) {
  const SendReply sent = loop.run(stream.ours->write_all({}));
  EXPECT_EQ(sent.end, IoEnd::Done);
  EXPECT_EQ(sent.bytes, 0U);
}

TEST_F(ConnectionTest, WritingToAPeerThatHasResetIsBrokenAndEndsNoProcess) {
  stream.theirs.reset();
  ASSERT_TRUE(testing::eventually([&] { return stream.ours->peer_is_gone(); }));
  const std::string text = "x";
  const SendReply sent = loop.run(stream.ours->write_all(one(text)));
  EXPECT_EQ(sent.end, IoEnd::Broken);
  EXPECT_EQ(sent.bytes, 0U);
}

TEST_F(ConnectionTest, AWriteThatWaitsIsBrokenByAReset) {
  const std::string text = much();
  const auto writing = loop.start(stream.ours->write_all(one(text)));
  EXPECT_FALSE(writing.has_ended());
  stream.theirs.reset();
  EXPECT_EQ(loop.wait_for(writing).end, IoEnd::Broken);
  EXPECT_LT(writing.value().bytes, text.size());
}

TEST_F(ConnectionTest, OneThatIsSilentIsIdleAndItsPeerIsThere) {
  EXPECT_TRUE(stream.ours->is_idle_and_open());
  EXPECT_FALSE(stream.ours->peer_is_gone());
}

TEST_F(ConnectionTest, BytesThatNobodyAskedForMakeItUnfitButAreNoEnd) {
  ASSERT_TRUE(stream.theirs.send_all("?", soon()));
  EXPECT_TRUE(testing::eventually([&] { return !stream.ours->is_idle_and_open(); }));
  EXPECT_FALSE(stream.ours->peer_is_gone());
  EXPECT_EQ(loop.run(read_once()), "?");
  EXPECT_TRUE(stream.ours->is_idle_and_open());
}

TEST_F(ConnectionTest, APeerThatClosedIsGone) {
  stream.theirs.half_close();
  EXPECT_TRUE(testing::eventually([&] { return stream.ours->peer_is_gone(); }));
  EXPECT_FALSE(stream.ours->is_idle_and_open());
}

TEST_F(ConnectionTest, APeerThatResetIsGone) {
  stream.theirs.reset();
  EXPECT_TRUE(testing::eventually([&] { return stream.ours->peer_is_gone(); }));
  EXPECT_FALSE(stream.ours->is_idle_and_open());
}

TEST_F(ConnectionTest, ACancelledReadIsBrokenAndTheConnectionGoesOn) {
  const auto reading = loop.start(read_once());
  stream.ours->cancel();
  loop.wait_for(reading);
  EXPECT_EQ(last, IoEnd::Broken);
  ASSERT_TRUE(stream.theirs.send_all("on", soon()));
  EXPECT_EQ(loop.run(read_once()), "on");
}

TEST_F(ConnectionTest, EndingOurSideLeavesThePeersOpen) {
  stream.ours->shutdown_write();
  std::string got;
  EXPECT_EQ(stream.theirs.read_some(got, soon()), Incoming::Finished);
  ASSERT_TRUE(stream.theirs.send_all("still", soon()));
  EXPECT_EQ(loop.run(read_once()), "still");
}

TEST_F(ConnectionTest, AResetIsSeenByThePeerAndByWhatWaitsHere) {
  const auto reading = loop.start(read_once());
  stream.ours->expires_at(kNoon);
  stream.ours->reset();
  std::string got;
  EXPECT_EQ(stream.theirs.read_some(got, soon()), Incoming::Reset);
  loop.wait_for(reading);
  EXPECT_EQ(last, IoEnd::Broken);
  loop.pass(kNoon);
  EXPECT_FALSE(stream.ours->expired());
  EXPECT_TRUE(stream.ours->peer_is_gone());
}

TEST_F(ConnectionTest, OneThatEndsLeavesNoDeadlineBehind) {
  stream.ours->expires_at(kNoon);
  stream.ours.reset();
  loop.pass(kNoon);
  EXPECT_EQ(next_news(stream.theirs), Incoming::Finished);
}

}  // namespace
}  // namespace semel
