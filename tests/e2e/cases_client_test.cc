// Reported cases of clients that leave, start over and deliver again: docs/reported-cases.md tells
// each in a line.

#include "tests/e2e/cases.h"

namespace semel::testing {
namespace {

/// Asks until a call in flight has come to its end.
Response after_the_flight(const Gateway& gateway, const Request& request) {
  Response response;
  EXPECT_TRUE(eventually([&] {
    response = gateway.call(request);
    return response.status != 409;
  }));
  return response;
}

TEST(ReportedCases, ABT_01_AClientThatHangsUpCancelsNeitherTheCallNorItsRecord) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(
      commits_and_answers_when_let_go(201, R"({"id":"inv_1"})", {{"Location", "/invoices/inv_1"}}));
  call_and_leave(gateway, keyed_call("abt-01"));
  EXPECT_EQ(gateway.upstream.open_connections(), 1) << "the call goes on";
  gateway.upstream.let_go();
  const Response next = gateway.call(keyed_call("abt-01"));
  expect_replay(next, 201, R"({"id":"inv_1"})");
  EXPECT_EQ(next.header("Location"), "/invoices/inv_1");
  EXPECT_EQ(gateway.upstream.connections(), 1);
  expect_one_effect(gateway);
}

TEST(ReportedCases, ABT_04_ASendThatLandedButTimedOutIsNotSentAgain) {
  Gateway gateway(
      one_route(derived("/sessions/{session}/events", ", fields: [{path: session}, /type, /text]",
                        "    wait: 10s\n    settle: 1s\n")));
  gateway.upstream.script(commits_and_answers_when_let_go(202, R"({"event":"ev_1"})"));
  const Request send =
      json_call("/sessions/s1/events", R"({"type":"user.message","text":"resume"})");
  call_and_leave(gateway, send);
  std::future<Response> retry = gateway.begin(send);
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  expect_replay(retry.get(), 202, R"({"event":"ev_1"})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, ABT_05_EightImpatientAttemptsAreOneExecution) {
  Gateway gateway(one_route(
      derived("/functions/{fn}/invocations", ", fields: [{path: fn}, \"\"]", "    wait: 100ms\n")));
  gateway.upstream.script(commits_and_answers_when_let_go(200, R"({"done":true})"));
  const Request invoke = json_call("/functions/my_fn/invocations", R"({"report":"2024-01"})");
  call_and_leave(gateway, invoke);
  for (int attempt = 2; attempt <= 4; ++attempt) {
    SCOPED_TRACE(attempt);
    HttpClient client(gateway.semel.port());
    client.send(invoke);
    if (attempt == 4) {
      expect_problem(client.read(), "in-flight");
    } else {
      ASSERT_TRUE(sees_duplicates(gateway, attempt - 1));
      client.reset();
    }
  }
  gateway.upstream.let_go();
  for (int attempt = 5; attempt <= 8; ++attempt) {
    SCOPED_TRACE(attempt);
    expect_replay(after_the_flight(gateway, invoke), 200, R"({"done":true})");
  }
  expect_one_effect(gateway);
}

TEST(ReportedCases, AGT_03_AFunctionCallThatIsDeliveredThreeTimesBooksOnce) {
  CaseRoute route = derived("/webhook/book", ", fields: [/call/tool_call_id], guards: [/args]",
                            "    wait: 10s\n");
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_answers_when_let_go(200, R"({"booked":true})"));
  const auto delivery = [](int ts) {
    return json_call("/webhook/book", R"({"call":{"tool_call_id":"tc_1","ts":)" +
                                          std::to_string(ts) + R"(},"args":{"slot":"10:00"}})");
  };
  call_and_leave(gateway, delivery(1));
  HttpClient second(gateway.semel.port());
  second.send(delivery(2));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  second.reset();
  gateway.upstream.let_go();
  expect_replay(gateway.call(delivery(3)), 200, R"({"booked":true})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, AGT_07_ATaskThatStartsOverFindsTheRunThatItHadTriggered) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers_when_let_go(200, R"({"run":1})"));
  call_and_leave(gateway, keyed_call("run-2024-01-01"));
  gateway.upstream.let_go();
  expect_replay(gateway.call(keyed_call("run-2024-01-01")), 200, R"({"run":1})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, WHK_01_ADeliveryThatIsRepeatedWhileTheAgentStartsIsOneSession) {
  CaseRoute route =
      derived("/slack/events", ", fields: [/event_id], guards: [/event]", "    wait: 10s\n");
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_answers_when_let_go(200, R"({"ok":true})"));
  const auto delivery = [](const char* retry) {
    return json_call("/slack/events", R"({"event_id":"Ev1","event":{"text":"hi"}})",
                     {{"X-Slack-Retry-Num", retry}, {"X-Slack-Request-Timestamp", retry}});
  };
  call_and_leave(gateway, delivery("0"));
  HttpClient second(gateway.semel.port());
  second.send(delivery("1"));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  second.reset();
  gateway.upstream.let_go();
  expect_replay(gateway.call(delivery("2")), 200, R"({"ok":true})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, WHK_04_OneEventForTwoSubscriptionsIsTwoDeliveries) {
  Gateway gateway(one_route(derived("/hooks/{sub}", ", fields: [/event_id]")));
  for (const char* path : {"/hooks/billing", "/hooks/search"}) {
    expect_executed(gateway.call(json_call(path, R"({"event_id":"e1"})")), 200);
  }
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

}  // namespace
}  // namespace semel::testing
