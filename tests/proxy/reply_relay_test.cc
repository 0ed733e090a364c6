// Fresh answers on their way through, and what may leave of them before they are recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "proxy/reply.h"
#include "tests/proxy/reply_fixture.h"

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using testing::Incoming;
using ::testing::IsEmpty;
using testing::next_news;
using testing::Response;
using Hold = Reply::Hold;

TEST_F(ReplyTest, AFreshAnswerKeepsTheUpstreamsWordsAndLines) {
  asked().begin(head("HTTP/1.1 201 Booked\r\nX-A: 1\r\nDate: then\r\nx-a: 2\r\n"
                     "Set-Cookie: s=1\r\nContent-Length: 2\r\n"),
                guarded(Outcome::Executed));
  run(reply->end("ok"));
  const Response got = received();
  ASSERT_TRUE(got.is_complete()) << got.reason;
  EXPECT_EQ(got.status, 201);
  EXPECT_EQ(got.reason, "Booked");
  EXPECT_THAT(got.all("X-A"), ElementsAre("1", "2"));
  EXPECT_EQ(got.header("Date"), "then");
  EXPECT_EQ(got.header("Set-Cookie"), "s=1");
  EXPECT_EQ(got.header("Idempotency-Status"), "executed");
  EXPECT_EQ(got.header("Idempotent-Replayed"), std::nullopt);
  EXPECT_EQ(got.body, "ok");
}

TEST_F(ReplyTest, AnAnswerWithoutADateGetsOne) {
  asked().begin(head(kLength), {});
  run(reply->end("hello"));
  EXPECT_EQ(received().all("Date").size(), 1U);
}

TEST_F(ReplyTest, FieldsOfTheUpstreamsHopEndHere) {
  asked().begin(head("HTTP/1.1 200 OK\r\nX-One: 1\r\nX-Two: 2\r\nX-Three: 3\r\n"
                     "Connection: x-one, close\r\nConnection: X-Two\r\nKeep-Alive: timeout=5\r\n"
                     "Trailer: X-Sum\r\nUpgrade: h2c\r\nProxy-Authenticate: Basic\r\n"
                     "Content-Length: 0\r\n"),
                {});
  run(reply->end());
  const Response got = received();
  for (const char* name :
       {"X-One", "X-Two", "Keep-Alive", "Trailer", "Upgrade", "Proxy-Authenticate", "Connection"}) {
    EXPECT_THAT(got.all(name), IsEmpty()) << name;
  }
  EXPECT_EQ(got.header("X-Three"), "3");
  EXPECT_TRUE(reply->keeps_alive()) << "the upstream's close is not the client's";
}

constexpr const char* kForged =
    "HTTP/1.1 200 OK\r\nIdempotency-Status: replayed\r\nIdempotent-Replayed: true\r\n"
    "Idempotency-Ref: f\r\nIdempotency-Key: k\r\nx-should-retry: true\r\n"
    "stripe-should-retry: true\r\nContent-Length: 0\r\n";

TEST_F(ReplyTest, OnAGuardedRouteOurWordsAreOnlyOurs) {
  asked().begin(head(kForged), guarded(Outcome::Executed));
  run(reply->end());
  const Response got = received();
  EXPECT_EQ(got.header("Idempotency-Status"), "executed");
  EXPECT_EQ(got.header("Idempotency-Ref"), "00112233445566778899aabbccddeeff");
  for (const char* name :
       {"Idempotent-Replayed", "Idempotency-Key", "x-should-retry", "stripe-should-retry"}) {
    EXPECT_EQ(got.header(name), std::nullopt) << name;
  }
}

TEST_F(ReplyTest, OnAnUnguardedRouteTheseWordsAreTheUpstreams) {
  asked().begin(head(kForged), {});
  run(reply->end());
  const Response got = received();
  EXPECT_EQ(got.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(got.header("Idempotency-Key"), "k");
  EXPECT_EQ(got.header("x-should-retry"), "true");
}

TEST_F(ReplyTest, ARelayedUnknownOutcomeVetoesRetriesOnce) {
  GuardWords words = guarded(Outcome::Indeterminate);
  words.veto = true;
  asked().begin(head("HTTP/1.1 500 Oops\r\nx-should-retry: true\r\nContent-Length: 0\r\n"), words);
  run(reply->end());
  const Response got = received();
  EXPECT_EQ(got.status, 500);
  EXPECT_EQ(got.header("x-should-retry"), "false");
  EXPECT_EQ(got.header("stripe-should-retry"), "false");
}

TEST_F(ReplyTest, ABodyIsFramedAnewForTheClient) {
  struct Row {
    const char* name;
    const char* head;
    const char* version;
    std::optional<std::string> length;
    bool chunked;
    bool keeps_alive;
  };
  const Row rows[] = {
      {"a length", kLength, "1.1", "5", false, true},
      {"chunks", kChunked, "1.1", std::nullopt, true, true},
      {"until close becomes chunks", kUntilClose, "1.1", std::nullopt, true, true},
      {"HTTP/1.0 gets a length", kLength, "1.0", "5", false, true},
      {"HTTP/1.0 knows no chunks", kChunked, "1.0", std::nullopt, false, false},
      {"HTTP/1.0 until close", kUntilClose, "1.0", std::nullopt, false, false},
  };
  for (const Row& row : rows) {
    stream = testing::tcp_stream(loop);
    asked("POST", row.version, "Connection: keep-alive\r\n").begin(head(row.head), {});
    run(reply->piece("he", Hold::Nothing));
    run(reply->piece("", Hold::Nothing));
    run(reply->end("llo"));
    EXPECT_EQ(reply->keeps_alive(), row.keeps_alive) << row.name;
    const Response got = received();
    EXPECT_TRUE(got.is_complete()) << row.name << ": " << got.reason;
    EXPECT_EQ(got.body, "hello") << row.name;
    EXPECT_EQ(got.header("Content-Length"), row.length) << row.name;
    EXPECT_EQ(got.is_chunked, row.chunked) << row.name;
  }
}

struct Framed {
  const char* name;
  const char* head;     ///< The upstream's.
  const char* version;  ///< The client's.
};
void PrintTo(const Framed& row, std::ostream* out) { *out << row.name; }

/// The laws of an answer that flows before its record is durable.
class HeldReply : public ReplyTest, public ::testing::WithParamInterface<Framed> {
 protected:
  void begin() {
    asked("POST", GetParam().version, "Connection: keep-alive\r\n")
        .begin(head(GetParam().head), guarded(Outcome::Executed));
  }
};
INSTANTIATE_TEST_SUITE_P(Framings, HeldReply,
                         ::testing::Values(Framed{"Length", kLength, "1.1"},
                                           Framed{"Chunked", kChunked, "1.1"},
                                           Framed{"UntilClose", kUntilClose, "1.1"},
                                           Framed{"LengthToHttp10", kLength, "1.0"},
                                           Framed{"ChunkedToHttp10", kChunked, "1.0"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(HeldReply, NothingThatCouldBeTakenForCompleteLeavesBeforeTheEnd) {
  begin();
  for (const std::string_view piece : {"", "he", "", "l", "lo", ""}) {
    run(reply->piece(piece, Hold::LastByte));
    // A peer that sees the connection end now must see it broken: by framing, or by the reset that
    // cut() stands for. Only an answer until close could look whole, and it lacks its last byte.
    if (GetParam().version == std::string_view("1.1") || GetParam().head == kLength) {
      EXPECT_FALSE(looks_complete_by_now());
    }
    sofar += testing::arrived(stream.theirs);
    EXPECT_EQ(sofar.find("\r\n0\r\n"), std::string::npos);
    EXPECT_FALSE(sofar.ends_with("hello"));
  }
  run(reply->end());
  sofar += testing::arrived(stream.theirs);
  EXPECT_TRUE(reply->keeps_alive() ? looks_complete_by_now() : sofar.ends_with("hello"));
}

TEST_P(HeldReply, AllButTheEndFlowsAtOnce) {
  begin();
  run(reply->piece("hel", Hold::LastByte));
  sofar += testing::arrived(stream.theirs);
  EXPECT_TRUE(reply->head_has_left());
  EXPECT_NE(sofar.find("\r\n\r\n"), std::string::npos);
  EXPECT_NE(sofar.find("he", sofar.find("\r\n\r\n")), std::string::npos);
}

TEST_P(HeldReply, TheLastPieceMayComeWithTheEnd) {
  begin();
  run(reply->piece("hel", Hold::LastByte));
  run(reply->end("lo"));
  const Response got = received();
  EXPECT_TRUE(got.is_complete()) << got.reason;
  EXPECT_EQ(got.body, "hello");
}

TEST_P(HeldReply, OneThatIsCutSendsNothingMoreAndDoesNotGoOn) {
  begin();
  run(reply->piece("hello", Hold::LastByte));
  sofar += testing::arrived(stream.theirs);
  reply->cut();
  run(reply->piece("x", Hold::LastByte));
  run(reply->end("y"));
  EXPECT_EQ(testing::arrived(stream.theirs), "");
  EXPECT_TRUE(reply->was_cut());
  EXPECT_TRUE(reply->is_gone());
  EXPECT_FALSE(reply->keeps_alive());
}

TEST_F(ReplyTest, AnAnswerWithoutABodyIsWithheldWholeUntilItsEnd) {
  struct Row {
    const char* name;
    const char* method;
    const char* head;
  };
  const Row rows[] = {
      {"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"},
      {"204", "POST", "HTTP/1.1 204 No Content\r\nContent-Type: text/event-stream\r\n"},
      {"304", "GET", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n"},
      {"a length of 0", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"},
  };
  for (const Row& row : rows) {
    stream = testing::tcp_stream(loop);
    asked(row.method).begin(head(row.head), guarded(Outcome::Executed));
    run(reply->piece("", Hold::LastByte));
    EXPECT_EQ(next_news(stream.theirs), Incoming::TimedOut) << row.name;
    EXPECT_FALSE(reply->head_has_left()) << row.name;
    run(reply->end());
    EXPECT_TRUE(received().is_complete()) << row.name;
    EXPECT_TRUE(silence()) << row.name;
  }
}

TEST_F(ReplyTest, WithoutAHoldAnAnswerWithoutABodyLeavesAtOnce) {
  asked("HEAD").begin(head(kLength), {});
  run(reply->piece("", Hold::Nothing));
  EXPECT_TRUE(received().is_complete());
  run(reply->end());
  EXPECT_TRUE(silence()) << "it does not leave twice";
}

TEST_F(ReplyTest, ALengthWithoutABodyIsTheUpstreamsStatement) {
  asked("HEAD").begin(head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), {});
  run(reply->end());
  EXPECT_EQ(received().header("Content-Length"), "5");
  asked("GET").begin(head("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n"), {});
  run(reply->end());
  EXPECT_EQ(received().header("Content-Length"), "7");
  asked("GET").begin(head("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n"), {});
  run(reply->end());
  EXPECT_EQ(received().header("Content-Length"), std::nullopt);
}

TEST_F(ReplyTest, ARefusalMayReplaceAHeadThatHasNotLeft) {
  asked().begin(head(kLength), guarded(Outcome::Executed));
  EXPECT_TRUE(reply->has_begun());
  EXPECT_FALSE(reply->head_has_left());
  Problem problem;
  problem.type = ProblemType::Indeterminate;
  run(reply->problem(problem, guarded(Outcome::Indeterminate)));
  const Response got = received();
  ASSERT_TRUE(got.is_complete()) << got.reason;
  EXPECT_EQ(got.status, 409);
  EXPECT_EQ(got.header("Idempotency-Status"), "indeterminate");
  EXPECT_TRUE(silence());
}

}  // namespace
}  // namespace semel::proxy
