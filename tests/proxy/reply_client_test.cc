// Clients that are slow, or gone.
#include <gtest/gtest.h>

#include <string>

#include "proxy/reply.h"
#include "tests/proxy/reply_fixture.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using testing::Incoming;
using Hold = Reply::Hold;

std::string much() {
  std::string text;
  for (std::uint32_t i = 0; text.size() < 8 * 1024 * 1024; ++i) text += std::to_string(i) + ",";
  return text;
}

TEST_F(ReplyTest, AClientThatIsGoneStopsNobody) {
  stream.theirs.reset();
  ASSERT_TRUE(testing::eventually([&] { return stream.ours->peer_is_gone(); }));
  asked().begin(head(kChunked), guarded(Outcome::Executed));
  run(reply->piece("he", Hold::LastByte));
  EXPECT_TRUE(reply->is_gone());
  EXPECT_FALSE(reply->keeps_alive());
  EXPECT_FALSE(reply->was_cut());
  run(reply->end("llo"));
  EXPECT_EQ(reply->bytes_sent(), 0U);
}

TEST_F(ReplyTest, AClientThatTakesNothingForHalfAMinuteIsGone) {
  const std::string body = much();
  const StoredResponse stored = stored_of(200, {}, body);
  asked();
  const auto began = loop.deadlines.coarse_now();
  bool ended = false;
  asio::co_spawn(loop.io, reply->stored(stored, guarded(Outcome::Replayed)),
                 [&](std::exception_ptr) { ended = true; });
  loop.turn();
  loop.pass(began + 29s);
  EXPECT_FALSE(ended);
  loop.pass(Deadlines::Clock::now() + 31s);
  EXPECT_TRUE(ended);
  EXPECT_TRUE(reply->is_gone());
}

TEST_F(ReplyTest, AClientThatTakesSomethingIsServedForAsLongAsItTakes) {
  const StoredResponse stored = stored_of(200, {}, much());
  asked();
  bool ended = false;
  asio::co_spawn(loop.io, reply->stored(stored, guarded(Outcome::Replayed)),
                 [&](std::exception_ptr) { ended = true; });
  loop.turn();
  ASSERT_FALSE(ended);
  std::string got;
  while (!ended) {
    // The client reads until more could leave; nearly half a minute later it is still served.
    const auto began = loop.deadlines.coarse_now();
    for (const auto sent = reply->bytes_sent(); !ended && reply->bytes_sent() == sent;) {
      ASSERT_EQ(stream.theirs.read_some(got, soon()), Incoming::Bytes);
      loop.turn();
    }
    loop.pass(began + 29s);
  }
  EXPECT_TRUE(ended);
  EXPECT_FALSE(reply->is_gone());
  EXPECT_EQ(reply->bytes_sent(), got.size() + testing::arrived(stream.theirs).size());
}

}  // namespace
}  // namespace semel::proxy
