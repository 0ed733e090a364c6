#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

TEST(UpstreamFailure, ARefusedConnectionClaimsNothingAndTheRetryRuns) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.refuse();
  for (const char* path : {"/tools/book", "/tools/seat", "/tools/fare", "/files/a"}) {
    SCOPED_TRACE(path);
    expect_problem(gateway.call_tool(path), "upstream-unreachable");
  }
  expect_verdict(gateway.book(), "EFFECTFUL", "book", "false");
  gateway.upstream.listen_again();
  const Response retry = gateway.book();
  EXPECT_EQ(retry.status, 200);
  EXPECT_EQ(retry.header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(UpstreamFailure, FollowersOfACallThatWasNeverSentMayRetryToo) {
  const Blackhole hole;
  GatewayOptions options;
  options.upstream_endpoint = endpoint_of(hole.port());
  options.upstream_more = "    connect_timeout: 600ms\n";
  Gateway gateway(options);
  std::vector<std::future<Response>> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(gateway.begin("/tools/book"));
  for (std::future<Response>& pending : calls)
    expect_problem(pending.get(), "upstream-unreachable");
}

TEST(UpstreamFailure, NothingIsSentAfterDispatchByAndTheRetryRuns) {
  auto hole = std::make_unique<Blackhole>();
  GatewayOptions options;
  options.upstream_endpoint = endpoint_of(hole->port());
  options.upstream_more = "    connect_timeout: 20s\n";
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    dispatch_by: 1s)" +
                   std::string(kToolKey);
  Gateway gateway(options);
  const auto began = std::chrono::steady_clock::now();
  const Response late = gateway.book();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{5});
  expect_problem(late, "upstream-unreachable");
  expect_verdict(late, "EFFECTFUL", "book", "false");
  const std::uint16_t port = hole->port();
  hole.reset();
  const ScriptedUpstream tool(port);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed") << "the retry runs";
  EXPECT_EQ(tool.effects(), 1);
}

TEST(UpstreamFailure, AReadOrAnIdempotentCallThatGaveUpWaitingIs504) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    policy: IDEMPOTENT
    timeout: 300ms)" +
                   std::string(kToolKey) + R"(
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    timeout: 300ms
)";
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  const Response seat = gateway.call_tool("/tools/seat");
  expect_problem(seat, "upstream-timeout");
  expect_verdict(seat, "IDEMPOTENT", "seat", "true");
  const Response fare = gateway.call_tool("/tools/fare");
  expect_problem(fare, "upstream-timeout");
  expect_verdict(fare, "READ_ONLY", "fare", "true");
  gateway.upstream.script(commits_and_answers(200, "{}"));
  EXPECT_EQ(gateway.call_tool("/tools/seat").header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
}

TEST(UpstreamFailure, AReadIsRetriedUntilTheToolAnswers) {
  struct Row {
    const char* name;
    Script failing;
  };
  const Row rows[] = {
      {"502", answers(502, "x")},
      {"503", answers(503, "x")},
      {"504", answers(504, "x")},
      {"reset", commits_and_sends("", Then::Reset)},
      {"closed", commits_and_sends("", Then::Finish)},
  };
  for (const char* path : {"/tools/fare", "/tools/seat"}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(path) + " " + row.name);
      Gateway gateway;
      gateway.upstream.script(
          one_after_another({row.failing, row.failing, commits_and_answers(200, "third")}));
      const Response answer = gateway.call_tool(path);
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.body, "third");
      ASSERT_EQ(gateway.upstream.requests(), 3);
      for (int i = 1; i <= 3; ++i) EXPECT_EQ(gateway.upstream.received(i).body, kBooking);
      EXPECT_EQ(gateway.semel.metric("semel_upstream_retries_total"), 2);
    }
  }
}

TEST(UpstreamFailure, AfterTheLastAttemptTheToolsErrorIsRelayed) {
  for (const char* path : {"/tools/fare", "/tools/seat"}) {
    SCOPED_TRACE(path);
    Gateway gateway;
    gateway.upstream.script(answers(503, "closed for today"));
    const Response answer = gateway.call_tool(path);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, "closed for today");
    EXPECT_EQ(gateway.upstream.requests(), 3);
  }
}

TEST(UpstreamFailure, A500IsAnAnswerThatIsNotRetried) {
  Gateway gateway;
  gateway.upstream.script(answers(500, "x"));
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 500);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(UpstreamFailure, AnEffectfulCallAndARouteWithoutPolicyAreNeverRetried) {
  Gateway gateway;
  gateway.upstream.script(answers(503, "x"));
  EXPECT_EQ(gateway.book().status, 503);
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.call_tool("/files/a").status, 503);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  gateway.upstream.script(commits_and_sends("", Then::Reset));
  EXPECT_EQ(gateway.call_tool("/files/b").status, 502);
  EXPECT_EQ(gateway.upstream.requests(), 3);
  EXPECT_EQ(gateway.semel.metric("semel_upstream_retries_total"), 0);
}

TEST(UpstreamFailure, ARouteMayAskForFewerAttempts) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    retry: {attempts: 2, backoff: 1ms, budget: 100%, on: [503]}
)";
  Gateway gateway(options);
  gateway.upstream.script(answers(503, "x"));
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 503);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  gateway.upstream.script(answers(502, "x"));
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 502);
  EXPECT_EQ(gateway.upstream.requests(), 3) << "502 is not on the list";
}

/// The seat's route, which lands on the same state, with a list of its own of what is retried.
GatewayOptions with_seat_retries(const std::string& retry) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    policy: IDEMPOTENT
    retry: )" + retry +
                   kToolKey;
  return options;
}

TEST(UpstreamFailure, AnIdempotentCallIsRetriedForWhatItsRouteListsAndNothingElse) {
  struct Row {
    const char* name;
    Script failing;
    int status;
    bool in_default_list;
  };
  const Row rows[] = {
      {"500", answers(500, "half done"), 500, false},
      {"503", answers(503, "half done"), 503, true},
      {"reset", commits_and_sends("", Then::Reset), 502, true},
  };
  for (const Row& row : rows) {
    for (const bool is_default : {false, true}) {
      SCOPED_TRACE(std::string(row.name) + (is_default ? ", default list" : ", on connect only"));
      const std::string list = is_default ? "" : ", on: [connect]";
      Gateway gateway(with_seat_retries("{attempts: 3, backoff: 1ms, budget: 100%" + list + "}"));
      gateway.upstream.script(row.failing);
      const Response answer = gateway.call_tool("/tools/seat");
      EXPECT_EQ(answer.status, row.status);
      if (row.status != 502) {
        EXPECT_EQ(answer.body, "half done") << "the tool's own answer";
      }
      const int attempts = is_default && row.in_default_list ? 3 : 1;
      EXPECT_EQ(gateway.upstream.requests(), attempts);
      EXPECT_EQ(gateway.semel.metric("semel_upstream_retries_total"), attempts - 1);
      gateway.upstream.script(commits_and_answers(200, "{}"));
      EXPECT_EQ(gateway.call_tool("/tools/seat").header("Idempotency-Status"), "executed")
          << "and the key is free";
    }
  }
}

TEST(UpstreamFailure, AListWithoutConnectDoesNotRetryARefusedConnection) {
  for (const auto& [list, retries] : {std::pair{"[connect]", 2}, {"[503]", 0}}) {
    SCOPED_TRACE(list);
    Gateway gateway(with_seat_retries(
        "{attempts: 3, backoff: 1ms, budget: 100%, on: " + std::string(list) + "}"));
    gateway.upstream.refuse();
    expect_problem(gateway.call_tool("/tools/seat"), "upstream-unreachable");
    EXPECT_EQ(gateway.semel.metric("semel_upstream_retries_total"), retries);
  }
}

TEST(UpstreamFailure, AToolThatWasReachedOnceIsNotCalledUnreachable) {
  Gateway gateway;
  gateway.upstream.script([&gateway](Turn& turn) {
    turn.commit();
    gateway.upstream.refuse();
    turn.reset();
  });
  const Response refused = gateway.call_tool("/tools/seat");
  EXPECT_EQ(problem_slug(refused), "upstream-failed");
  EXPECT_EQ(refused.status, 502);
  EXPECT_EQ(Json::parse(refused.body)["dispatched"].text(), "true");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(UpstreamFailure, TheRetryBudgetKeepsAFailingToolFromBeingHammered) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    retry: {attempts: 3, backoff: 1ms, budget: 20%}
)";
  Gateway gateway(options);
  gateway.upstream.script(answers(503, "x"));
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) EXPECT_EQ(gateway.call_tool("/tools/fare").status, 503);
  const int retries = gateway.upstream.requests() - kCalls;
  EXPECT_GE(retries, 1);
  EXPECT_LE(retries, 40) << "twenty per cent of a hundred, and some slack for the first calls";
}

TEST(UpstreamFailure, ALargeReadBodyIsNotHeldForRetries) {
  Gateway gateway;
  gateway.upstream.script(answers(503, "x"));
  EXPECT_EQ(gateway.call_tool("/tools/fare", std::string(80 * 1024, 'x')).status, 503);
  EXPECT_EQ(gateway.upstream.requests(), 1) << "over 64 KiB: one attempt";
}

TEST(UpstreamFailure, ConnectionsThatTheToolClosesWhenIdleMakeNoCallUnknown) {
  Gateway gateway;
  gateway.upstream.close_idle_after(milliseconds{50});
  HttpClient client(gateway.semel.port());
  int executed = 0;
  for (int i = 0; i < 500; ++i) {
    if (i % 10 == 0) {
      ASSERT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
    }
    const Response response = client.exchange(
        Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", std::to_string(i)}}));
    executed += response.header("Idempotency-Status") == "executed" ? 1 : 0;
  }
  EXPECT_EQ(executed, 500);
  EXPECT_EQ(gateway.upstream.effects(), 500);
  EXPECT_GE(gateway.upstream.connections(), 50) << "each pause has cost a connection";
  EXPECT_LT(gateway.upstream.connections(), 250) << "and the others were used again";
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
}

TEST(UpstreamFailure, AnEffectfulCallRidesNoConnectionThatHasRestedLongerThanAllowed) {
  GatewayOptions options;
  options.upstream_more = "    keepalive_effectful: 1ms\n";
  Gateway gateway(options);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(gateway.book(kBooking, {{"X-Run-Id", std::to_string(i)}}).status, 200);
    for (const Deadline rest(milliseconds{10}); !rest.passed();) {
      EXPECT_EQ(gateway.call_tool("/nowhere").status, 404);
    }
  }
  EXPECT_EQ(gateway.upstream.connections(), 5);
}

}  // namespace
}  // namespace semel::testing
