// What a tool says after its time was over (spec 6, "late news of the same attempt").
#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"
#include "tests/support/deadline.h"

namespace semel::testing {
namespace {

/// The effect happens, and is told when the test lets go.
Script commits_and_answers_when_let_go(int status, std::string body) {
  return [=](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(status, body));
  };
}

/// The first call on the impatient route: its client is told that the outcome is unknown.
void expect_overdue(const Gateway& gateway) {
  const Response first = gateway.call_tool("/tools/brief");
  expect_problem(first, "indeterminate");
  EXPECT_EQ(first.header("Idempotency-Status"), "indeterminate");
}

/// The answer to the same call once the late news is settled.
Response after_the_news(const Gateway& gateway) {
  Response again;
  static_cast<void>(eventually([&] {
    again = gateway.call_tool("/tools/brief");
    return again.header("Idempotency-Status") != "indeterminate";
  }));
  return again;
}

TEST(LateAnswer, ARecordedAnswerIsReplayedToTheNextCall) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    Gateway gateway({.store = store});
    gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":"b-1"})"));
    expect_overdue(gateway);
    expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
    gateway.upstream.let_go();
    const Response again = after_the_news(gateway);
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, R"({"id":"b-1"})");
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(gateway.semel.metric("semel_late_answers_total"), 1);
    EXPECT_EQ(gateway.upstream.requests(), 1);
    EXPECT_EQ(gateway.upstream.effects(), 1);
  }
}

TEST(LateAnswer, ARefusalBeforeTheWorkFreesTheKey) {
  Gateway gateway;
  gateway.upstream.script(one_after_another({[](Turn& turn) {
                                               turn.wait_until_let_go();
                                               turn.send(response_text(422, "{}"));
                                             },
                                             commits_and_answers(201, R"({"id":"b-2"})")}));
  expect_overdue(gateway);
  gateway.upstream.let_go();
  const Response again = after_the_news(gateway);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(LateAnswer, AServerErrorLeavesTheOutcomeUnknown) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers_when_let_go(500, "{}"));
  expect_overdue(gateway);
  gateway.upstream.let_go();
  ASSERT_TRUE(eventually([&] { return gateway.semel.metric("semel_late_answers_total") == 1; }));
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total", {{"reason", "timeout"}}), 1);
}

TEST(LateAnswer, AnAnswerThatIsCutLeavesTheOutcomeUnknown) {
  Gateway gateway;
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    turn.reset();
  });
  expect_overdue(gateway);
  gateway.upstream.let_go();
  ASSERT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_EQ(gateway.semel.metric("semel_late_answers_total"), 0);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(LateAnswer, TheRestOfAnAnswerThatStalledIsRecordedWhole) {
  const std::string body(200'000, 'x');
  Gateway gateway;
  gateway.upstream.script([body](Turn& turn) {
    turn.commit();
    const std::string whole = response_text(200, body, {{"Content-Type", "text/plain"}});
    turn.send(std::string_view(whole).substr(0, 150'000));
    turn.wait_until_let_go();
    turn.send(std::string_view(whole).substr(150'000));
  });
  EXPECT_FALSE(gateway.call_tool("/tools/brief").is_complete());
  gateway.upstream.let_go();
  const Response again = after_the_news(gateway);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, body);
  EXPECT_EQ(again.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(LateAnswer, NothingIsTakenWhenTheTimeToSettleIsOver) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: brief
    match: {methods: [POST], path: /tools/brief}
    upstream: tool
    policy: EFFECTFUL
    timeout: 200ms
    settle: 100ms)" +
                   std::string(kToolKey);
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  expect_overdue(gateway);
  // The connection is closed: whatever the tool says from now on, nobody hears.
  ASSERT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_EQ(gateway.semel.metric("semel_late_answers_total"), 0);
}

TEST(LateAnswer, TheClientsConnectionGoesOnWhileTheToolIsHeard) {
  Gateway gateway;
  gateway.upstream.script(one_after_another(
      {commits_and_answers_when_let_go(201, R"({"id":"b-1"})"), answers(200, R"({"fare":1})")}));
  HttpClient client(gateway.semel.port());
  expect_problem(client.exchange(Gateway::tool_request("/tools/brief")), "indeterminate");
  EXPECT_EQ(client.exchange(Gateway::tool_request("/tools/fare")).body, R"({"fare":1})");
  gateway.upstream.let_go();
  EXPECT_EQ(after_the_news(gateway).status, 201);
}

TEST(LateAnswer, ToolsThatAreStillHeardKeepNobodyOut) {
  GatewayOptions options;
  options.upstream_more = "    connections: 1\n";  // Of each worker.
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  for (int call = 1; call <= 4; ++call) {
    expect_problem(
        gateway.call_tool("/tools/brief", kBooking, {{"X-Run-Id", "run-" + std::to_string(call)}}),
        "indeterminate");
  }
  gateway.upstream.script(answers(200, "{}"));
  for (int call = 1; call <= 8; ++call) {
    EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
  }
}

TEST(LateAnswer, ADrainWaitsForIt) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":"b-1"})"));
  expect_overdue(gateway);
  gateway.semel.sigterm();
  EXPECT_FALSE(gateway.semel.wait(milliseconds{300})) << "it listens";
  gateway.upstream.let_go();
  ASSERT_TRUE(gateway.semel.wait());
  gateway.semel.start();
  const Response again = gateway.call_tool("/tools/brief");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(LateAnswer, AnIdempotentCallsLateConnectionIsClosed) {
  Gateway gateway;
  gateway.upstream.script(commits_and_hangs());
  const Response first = gateway.call_tool("/tools/seat");
  expect_problem(first, "upstream-timeout");
  EXPECT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
}

}  // namespace
}  // namespace semel::testing
