#include "proxy/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/reply_fixture.h"
#include "tests/support/json.h"

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using testing::Json;
using testing::Response;

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

}  // namespace
}  // namespace semel::proxy
