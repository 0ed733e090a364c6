#include "proxy/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "proxy/byte_gate.h"
#include "proxy/http1_reader.h"
#include "tests/io/loop.h"
#include "tests/support/http_message.h"
#include "tests/support/json.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::Incoming;
using ::testing::IsEmpty;
using testing::Json;
using testing::Loop;
using testing::next_news;
using testing::Response;
using testing::Stream;
using Hold = Reply::Hold;

testing::Deadline soon() { return testing::Deadline(10s); }

/// One client that asked something, and the reply to it. What was read is judged by the tests' own
/// strict client.
class ReplyTest : public ::testing::Test {
 protected:
  /// The client asks; its lines each with CRLF.
  Reply& asked(std::string method = "POST", std::string version = "1.1", std::string lines = {}) {
    method_ = std::move(method);
    request_text_ = method_ + " / HTTP/" + version + "\r\nHost: a\r\n" + lines + "\r\n";
    EXPECT_TRUE(std::holds_alternative<Passed>(read_request_head(request_text_, 0, {}, request_)));
    return reply.emplace(*stream.ours, request_, scratch_);
  }
  /// The upstream's head, as the reader of answers let it through.
  const ResponseHead& head(std::string text) {
    head_text_ = std::move(text) + "\r\n";
    const auto read = read_response_head(head_text_, 0, method_, head_);
    EXPECT_TRUE(std::holds_alternative<Passed>(read)) << head_text_;
    return head_;
  }
  void run(Task<> task) { loop.run(std::move(task)); }

  /// What the client reads, which the session then ends where the reply says so.
  Response received() {
    if (!reply->keeps_alive()) stream.ours->shutdown_write();
    return testing::read_response(reader_, method_, soon());
  }
  /// True if nothing more comes, and the connection is open.
  bool silence() {
    return reader_.unread().empty() && next_news(stream.theirs) == Incoming::TimedOut;
  }

  /// Whether a client that has what came so far, and then sees a clean end, takes the answer for
  /// complete.
  bool looks_complete_by_now() {
    Stream copy = testing::tcp_stream(loop);
    sofar += testing::arrived(stream.theirs);
    const std::array<asio::const_buffer, 1> bytes = {asio::buffer(sofar)};
    EXPECT_EQ(copy.ours->write_now(bytes).bytes, sofar.size());
    copy.ours.reset();
    testing::MessageReader reader(copy.theirs);
    return testing::read_response(reader, method_, soon()).is_complete();
  }

  static GuardWords guarded(Outcome outcome) {
    GuardWords words;
    words.guarded = true;
    words.outcome = outcome;
    words.reference = "00112233445566778899aabbccddeeff";
    return words;
  }

  Loop loop;
  Stream stream = testing::tcp_stream(loop);
  std::optional<Reply> reply;
  std::string sofar;

 private:
  testing::MessageReader reader_{stream.theirs};
  std::string method_;
  std::string request_text_;
  RequestHead request_;
  std::string head_text_;
  ResponseHead head_;
  std::string scratch_;
};

// Refusals.

TEST_F(ReplyTest, ARefusalIsAProblemThatNobodyCaches) {
  Problem problem;
  problem.type = ProblemType::InFlight;
  problem.retry_after_seconds = 7;
  run(asked().problem(problem, guarded(Outcome::InFlight)));
  const Response got = received();
  ASSERT_TRUE(got.is_complete()) << got.reason;
  EXPECT_EQ(got.status, 409);
  EXPECT_EQ(got.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(got.header("Cache-Control"), "no-store");
  EXPECT_EQ(got.header("Retry-After"), "7");
  EXPECT_EQ(got.header("x-should-retry"), "true");
  EXPECT_EQ(got.header("stripe-should-retry"), "true");
  EXPECT_EQ(got.header("Idempotency-Status"), "in-flight");
  EXPECT_EQ(got.header("Idempotency-Ref"), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(got.all("Date").size(), 1U);
  EXPECT_EQ(Json::parse(got.body)["status"].text(), "409");
  EXPECT_TRUE(reply->keeps_alive());
  EXPECT_EQ(reply->status(), 409);
  EXPECT_EQ(reply->problem_slug(), "in-flight");
}

TEST_F(ReplyTest, AnUnknownOutcomeVetoesEveryRetry) {
  Problem problem;
  problem.type = ProblemType::Indeterminate;
  run(asked().problem(problem, guarded(Outcome::Indeterminate)));
  const Response got = received();
  EXPECT_EQ(got.status, 409);
  EXPECT_EQ(got.header("x-should-retry"), "false");
  EXPECT_EQ(got.header("stripe-should-retry"), "false");
  EXPECT_EQ(got.header("Retry-After"), std::nullopt);
}

TEST_F(ReplyTest, AWrongMethodIsToldTheRightOnes) {
  Problem problem;
  problem.type = ProblemType::Method;
  run(asked().problem(problem, {}, "GET, POST"));
  const Response got = received();
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.header("Allow"), "GET, POST");
  EXPECT_EQ(got.header("Idempotency-Status"), std::nullopt) << "no word where nothing is guarded";
}

TEST_F(ReplyTest, ARefusalOfHeadHasItsLengthAndNoBody) {
  Problem problem;
  problem.type = ProblemType::NoRoute;
  run(asked("HEAD").problem(problem, {}));
  const Response got = received();
  ASSERT_TRUE(got.is_complete());
  EXPECT_EQ(got.status, 404);
  EXPECT_EQ(got.body, "");
  EXPECT_NE(got.header("Content-Length"), "0");
  EXPECT_TRUE(silence());
}

TEST_F(ReplyTest, BeforeARequestCouldBeReadTheConnectionEndsWithTheRefusal) {
  asked();
  std::string scratch;
  Reply early(*stream.ours, scratch);
  Problem problem;
  problem.type = ProblemType::BadRequest;
  run(early.problem(problem, {}));
  const Response got = received();
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(got.header("Connection"), "close");
  EXPECT_FALSE(early.keeps_alive());
}

TEST_F(ReplyTest, NoContentHasNeitherBodyNorLength) {
  run(asked("OPTIONS").no_content());
  const Response got = received();
  ASSERT_TRUE(got.is_complete());
  EXPECT_EQ(got.status, 204);
  EXPECT_EQ(got.header("Content-Length"), std::nullopt);
  EXPECT_TRUE(silence());
}

TEST_F(ReplyTest, SaysHowTheConnectionGoesOn) {
  run(asked("OPTIONS").no_content());
  EXPECT_EQ(received().header("Connection"), std::nullopt);
  run(asked("OPTIONS", "1.0", "Connection: keep-alive\r\n").no_content());
  EXPECT_EQ(received().header("Connection"), "keep-alive");
  run(asked("OPTIONS", "1.1", "Connection: close\r\n").no_content());
  EXPECT_EQ(received().header("Connection"), "close");
}

// Stored answers.

StoredResponse stored_of(std::uint16_t status, FieldLines fields, std::string body) {
  StoredResponse stored;
  stored.status = status;
  stored.fields = std::move(fields);
  stored.body = std::move(body);
  return stored;
}

TEST_F(ReplyTest, AReplayHasEveryStoredLineInOrderAndTheBodyAsItCame) {
  const StoredResponse stored = stored_of(
      201, {{"X-A", "1"}, {"Content-Encoding", "br"}, {"x-a", "2"}}, std::string("\0\r\n\xFF", 4));
  run(asked().stored(stored, guarded(Outcome::Replayed)));
  const Response got = received();
  ASSERT_TRUE(got.is_complete()) << got.reason;
  EXPECT_EQ(got.status, 201);
  EXPECT_THAT(got.all("X-A"), ElementsAre("1", "2"));
  EXPECT_EQ(got.header("Content-Encoding"), "br");
  EXPECT_EQ(got.header("Content-Length"), "4");
  EXPECT_EQ(got.body, stored.body);
  EXPECT_EQ(got.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(got.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(got.all("Date").size(), 1U);
}

TEST_F(ReplyTest, AFollowersAnswerIsAReplayToo) {
  run(asked().stored(stored_of(200, {}, "ok"), guarded(Outcome::Collapsed)));
  const Response got = received();
  EXPECT_EQ(got.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(got.header("Idempotency-Status"), "collapsed");
}

TEST_F(ReplyTest, AReplayIsNotCachedWhateverTheUpstreamSaidOfItsFirstAnswer) {
  const auto cache_lines = [&](FieldLines fields) {
    run(asked().stored(stored_of(200, std::move(fields), "ok"), guarded(Outcome::Replayed)));
    return received().all("Cache-Control");
  };
  EXPECT_THAT(cache_lines({}), ElementsAre("no-store"));
  EXPECT_THAT(cache_lines({{"Cache-Control", "public, max-age=60"}}), ElementsAre("no-store"));
  EXPECT_THAT(cache_lines({{"cache-control", "private, No-Store"}}),
              ElementsAre("private, No-Store"));
  EXPECT_THAT(cache_lines({{"Cache-Control", "max-age=60"}, {"Cache-Control", "no-store"}}),
              ElementsAre("no-store"));
}

TEST_F(ReplyTest, AStoredLengthOrDateIsNotSaidTwice) {
  run(asked().stored(stored_of(200, {{"Content-Length", "9"}, {"Date", "then"}}, "ok"),
                     guarded(Outcome::Replayed)));
  const Response got = received();
  EXPECT_EQ(got.header("Content-Length"), "2");
  EXPECT_EQ(got.header("Date"), "then");
}

TEST_F(ReplyTest, AReplayWithoutABodyIsFramedAsItsStatusWantsIt) {
  run(asked().stored(stored_of(204, {}, ""), guarded(Outcome::Replayed)));
  Response got = received();
  EXPECT_TRUE(got.is_complete());
  EXPECT_EQ(got.header("Content-Length"), std::nullopt);
  run(asked().stored(stored_of(304, {}, ""), guarded(Outcome::Replayed)));
  got = received();
  EXPECT_TRUE(got.is_complete());
  EXPECT_EQ(got.header("Content-Length"), std::nullopt);
  run(asked().stored(stored_of(200, {}, ""), guarded(Outcome::Replayed)));
  got = received();
  EXPECT_TRUE(got.is_complete());
  EXPECT_EQ(got.header("Content-Length"), "0");
}

TEST_F(ReplyTest, AReplayOfHeadClaimsNoLengthThatItDoesNotKnow) {
  run(asked("HEAD").stored(stored_of(200, {{"ETag", "\"1\""}}, ""), guarded(Outcome::Replayed)));
  const Response got = received();
  EXPECT_EQ(got.header("ETag"), "\"1\"");
  EXPECT_EQ(got.header("Content-Length"), std::nullopt) << "RFC 9110 8.6";
  EXPECT_TRUE(silence());
}

TEST_F(ReplyTest, TheClientsOwnKeyIsEchoed) {
  GuardWords words = guarded(Outcome::Replayed);
  words.client_key = "order-17";
  run(asked().stored(stored_of(200, {}, ""), words));
  EXPECT_EQ(received().header("Idempotency-Key"), "order-17");
}

// Fresh answers.

constexpr const char* kLength = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n";
constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
constexpr const char* kUntilClose = "HTTP/1.1 200 OK\r\n";

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

// Clients that are slow, or gone.

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
  const auto began = Deadlines::Clock::now();
  asked();
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
    // The client reads until more could leave; half a minute after that began it is still served.
    const auto began = Deadlines::Clock::now();
    for (const auto sent = reply->bytes_sent(); !ended && reply->bytes_sent() == sent;) {
      ASSERT_EQ(stream.theirs.read_some(got, soon()), Incoming::Bytes);
      loop.turn();
    }
    loop.pass(began + 30s);
  }
  EXPECT_TRUE(ended);
  EXPECT_FALSE(reply->is_gone());
  EXPECT_EQ(reply->bytes_sent(), got.size() + testing::arrived(stream.theirs).size());
}

}  // namespace
}  // namespace semel::proxy
