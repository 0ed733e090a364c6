#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

void expect_unknown(const Response& response, std::string_view route) {
  expect_problem(response, "indeterminate");
  expect_verdict(response, "EFFECTFUL", route, "true");
  expect_reference(response);
  EXPECT_EQ(response.header("Idempotency-Status"), "indeterminate");
  EXPECT_EQ(response.header("Idempotent-Replayed"), std::nullopt);
}

TEST(Indeterminate, AToolThatCommitsAndHangsIsNeverAskedAgainNotEvenAfterAKill) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_hangs());
  const Response first = gateway.call_tool("/tools/brief");
  expect_unknown(first, "brief");
  for (int retry = 1; retry <= 3; ++retry) {
    SCOPED_TRACE("retry " + std::to_string(retry));
    const Response again = gateway.call_tool("/tools/brief");
    expect_unknown(again, "brief");
    EXPECT_EQ(again.header("Idempotency-Ref"), first.header("Idempotency-Ref"));
  }
  gateway.upstream.script(commits_and_answers(200, "{}"));
  gateway.semel.kill9();
  gateway.semel.start();
  expect_unknown(gateway.call_tool("/tools/brief"), "brief");
  gateway.semel.restart();
  expect_unknown(gateway.call_tool("/tools/brief"), "brief");
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Indeterminate, TheProblemTellsAModelWhatToDo) {
  Gateway gateway;
  gateway.upstream.script(commits_and_hangs());
  const Json body = Json::parse(gateway.call_tool("/tools/brief").body);
  EXPECT_EQ(body["detail"].text(),
            "The outcome of this call is unknown: it may have taken effect. Do not call it again.");
  EXPECT_TRUE(body["upstream_status"].is_absent());
}

TEST(Indeterminate, AKillWhileTheCallFliesLeavesAnEffectfulCallUnknown) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_hangs());
  std::future<Response> cut = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  gateway.semel.kill9();
  EXPECT_FALSE(cut.get().is_complete());
  gateway.upstream.script(commits_and_answers(200, "{}"));
  gateway.semel.start();
  expect_unknown(gateway.book(), "book");
  expect_unknown(gateway.book(), "book");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Indeterminate, AKillWhileTheCallFliesLetsAnIdempotentCallRunAgain) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_hangs());
  std::future<Response> cut = gateway.begin("/tools/seat");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  gateway.semel.kill9();
  EXPECT_FALSE(cut.get().is_complete());
  gateway.upstream.script(commits_and_answers(200, R"({"seat":"1A"})"));
  gateway.semel.start();
  const Response again = gateway.call_tool("/tools/seat");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.call_tool("/tools/seat").header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.requests(), 2);
}

GatewayOptions with_one_seat_route(const std::string& policy) {
  GatewayOptions options{.store = StoreKind::Sqlite};
  options.routes = R"(
routes:
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    timeout: 10s
    policy: )" + policy +
                   kToolKey;
  return options;
}

TEST(Indeterminate, AKillWhileAnIdempotentCallFliesLeavesItUnknownToARouteThatIsEffectfulNow) {
  Gateway gateway(with_one_seat_route("IDEMPOTENT"));
  gateway.upstream.script(commits_and_hangs());
  std::future<Response> cut = gateway.begin("/tools/seat");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  gateway.semel.kill9();
  EXPECT_FALSE(cut.get().is_complete());
  gateway.upstream.script(commits_and_answers(200, "{}"));
  gateway.rewrite(with_one_seat_route("EFFECTFUL"));
  gateway.semel.start();
  expect_unknown(gateway.call_tool("/tools/seat"), "seat");
  expect_unknown(gateway.call_tool("/tools/seat"), "seat");
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Indeterminate, AServerErrorOfTheToolIsRelayedOnceThenTheCallIsUnknown) {
  for (const int status : {408, 500, 501, 502, 503, 504, 599}) {
    SCOPED_TRACE(status);
    Gateway gateway;
    gateway.upstream.script(commits_and_answers(status, R"({"error":"half done"})"));
    const Response first = gateway.book();
    EXPECT_EQ(first.status, status);
    EXPECT_EQ(first.body, R"({"error":"half done"})");
    EXPECT_EQ(first.header("Idempotency-Status"), "indeterminate");
    EXPECT_EQ(first.header("x-should-retry"), "false");
    EXPECT_EQ(first.header("stripe-should-retry"), "false");
    const Response again = gateway.book();
    expect_unknown(again, "book");
    EXPECT_EQ(Json::parse(again.body)["upstream_status"].text(), std::to_string(status));
    EXPECT_EQ(gateway.upstream.requests(), 1) << "an EFFECTFUL call is never retried";
  }
}

TEST(Indeterminate, ARefusalBeforeTheWorkIsRelayedAndTheRetryRuns) {
  Gateway gateway;
  for (const int status :
       {400, 401, 403, 404, 405, 407, 411, 413, 414, 415, 421, 422, 425, 426, 428, 429, 431}) {
    SCOPED_TRACE(status);
    const HeaderLines run = {{"X-Run-Id", "run-" + std::to_string(status)}};
    gateway.upstream.script(answers(status, R"({"error":"no such seat"})"));
    const int before = gateway.upstream.effects();
    const Response refused = gateway.book(kBooking, run);
    EXPECT_EQ(refused.status, status);
    EXPECT_EQ(refused.body, R"({"error":"no such seat"})");
    EXPECT_EQ(refused.header("x-should-retry"), std::nullopt);
    gateway.upstream.script(commits_and_answers(201, R"({"id":"b-1"})"));
    EXPECT_EQ(gateway.book(kBooking, run).status, 201);
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotent-Replayed"), "true");
    EXPECT_EQ(gateway.upstream.effects(), before + 1);
  }
}

TEST(Indeterminate, EveryOtherStatusIsAnAnswerAndIsReplayed) {
  Gateway gateway;
  for (const int status : {200, 201, 202, 204, 206, 226, 301, 304, 402, 409, 410, 418, 451}) {
    SCOPED_TRACE(status);
    const HeaderLines run = {{"X-Run-Id", "run-" + std::to_string(status)}};
    const int before = gateway.upstream.requests();
    gateway.upstream.script(
        commits_and_answers(status, status == 204 || status == 304 ? "" : "{}"));
    EXPECT_EQ(gateway.book(kBooking, run).status, status);
    const Response replay = gateway.book(kBooking, run);
    EXPECT_EQ(replay.status, status);
    EXPECT_EQ(replay.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(gateway.upstream.requests(), before + 1);
  }
}

TEST(Indeterminate, TheRouteMayNameOtherStatuses) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    record: {release_on: [], indeterminate_on: [409]})" +
                   std::string(kToolKey);
  Gateway gateway(options);
  struct Row {
    int status;
    const char* second;
  };
  for (const auto& [status, second] :
       {Row{422, "replayed"}, {409, "indeterminate"}, {500, "replayed"}}) {
    SCOPED_TRACE(status);
    const HeaderLines run = {{"X-Run-Id", "run-" + std::to_string(status)}};
    gateway.upstream.script(commits_and_answers(status, "{}"));
    EXPECT_EQ(gateway.book(kBooking, run).status, status);
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), second);
  }
  EXPECT_EQ(gateway.upstream.requests(), 3);
}

TEST(Indeterminate, AnIdempotentCallThatFailsIsReleasedAndRunsAgain) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers(500, R"({"error":"x"})"));
  const Response failed = gateway.call_tool("/tools/seat");
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.header("x-should-retry"), std::nullopt);
  gateway.upstream.script(commits_and_answers(200, "{}"));
  EXPECT_EQ(gateway.call_tool("/tools/seat").status, 200);
}

}  // namespace
}  // namespace semel::testing
