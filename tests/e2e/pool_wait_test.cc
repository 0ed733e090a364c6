// A tool with one connection, which is taken: who comes now waits for its turn (spec 6, "pool
// wait").
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/reloading.h"

namespace semel::testing {
namespace {

/// One connection of one worker, and routes that wait for it for so long.
GatewayOptions one_connection(const std::string& dispatch_by, int connections = 1) {
  const std::string patience = "    dispatch_by: " + dispatch_by + "\n    timeout: 30s\n";
  GatewayOptions options;
  options.upstream_more = "    connections: " + std::to_string(connections) + "\n";
  options.more = "workers: 1\n";  // What was sent before another call has been taken in before it.
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
)" + patience + kToolKey +
                   R"(
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    policy: IDEMPOTENT
)" + patience + kToolKey +
                   R"(
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
)" + patience + R"(
  - name: plain
    match: {path: /files/*}
    upstream: tool
)" + patience;
  return options;
}

Script answers_when_let_go() {
  return [](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(201, R"({"id":"b-1"})"));
  };
}

Request booking_of(const std::string& run) {
  return Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}});
}

/// A call that holds the connection, and one behind it in the queue.
struct Queue {
  Queue(Gateway& gateway, Request waiting_call)
      : holder(gateway.begin(booking_of("holder"))), waiting(nothing()) {
    EXPECT_TRUE(gateway.upstream.sees_requests(1));
    waiting = gateway.begin(std::move(waiting_call));
  }
  static std::future<Response> nothing() { return {}; }
  std::future<Response> holder;
  std::future<Response> waiting;
};

/// A granted claim of a worker's only thread goes on to the tool without a pause.
bool sees_claims(const Gateway& gateway, int count) {
  return eventually([&] {
    return gateway.semel.metric("semel_store_operation_duration_seconds_count",
                                {{"operation", "claim"}}) >= count;
  });
}

TEST(PoolWait, ACallThatFindsNoFreeConnectionWaitsForOneAndRuns) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    for (const char* path : {"/tools/book", "/tools/seat", "/tools/fare", "/files/a"}) {
      SCOPED_TRACE(std::string(path) + (store == StoreKind::Memory ? ", memory" : ", sqlite"));
      GatewayOptions options = one_connection("20s");
      options.store = store;
      Gateway gateway(options);
      gateway.upstream.script(answers_when_let_go());
      Queue queue(gateway, Gateway::tool_request(path));
      EXPECT_EQ(gateway.call_tool("/nowhere").status, 404);
      if (path[1] == 't' && path[7] != 'f') EXPECT_TRUE(sees_claims(gateway, 2));
      const auto waiting = [&] { return gateway.semel.metric("semel_upstream_waiting"); };
      EXPECT_TRUE(eventually([&] { return waiting() == 1; }));
      EXPECT_EQ(gateway.upstream.requests(), 1);
      gateway.upstream.let_go();
      EXPECT_EQ(queue.holder.get().status, 201);
      EXPECT_EQ(queue.waiting.get().status, 201);
      EXPECT_EQ(gateway.upstream.requests(), 2);
      EXPECT_EQ(waiting(), 0);
    }
  }
}

TEST(PoolWait, TheConnectionThatComesFreeIsUsedAgain) {
  Gateway gateway(one_connection("20s"));
  gateway.upstream.script(answers_when_let_go());
  Queue queue(gateway, Gateway::tool_request("/tools/seat"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  gateway.upstream.let_go();
  EXPECT_EQ(queue.holder.get().status, 201);
  EXPECT_EQ(queue.waiting.get().status, 201);
  EXPECT_EQ(gateway.upstream.connections(), 1);
}

TEST(PoolWait, WhereEachEffectHasAConnectionOfItsOwnTheSlotIsUsedAgain) {
  GatewayOptions options = one_connection("20s");
  options.upstream_more += "    keepalive_effectful: 0s\n";
  Gateway gateway(options);
  gateway.upstream.script(answers_when_let_go());
  Queue queue(gateway, booking_of("second"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  gateway.upstream.let_go();
  EXPECT_EQ(queue.holder.get().status, 201);
  EXPECT_EQ(queue.waiting.get().status, 201);
  EXPECT_EQ(gateway.upstream.connections(), 2);
}

TEST(PoolWait, CallsRunInTheOrderInWhichTheyCame) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    GatewayOptions options = one_connection("20s");
    options.store = store;
    Gateway gateway(options);
    gateway.upstream.script(answers_when_let_go());
    std::vector<std::future<Response>> calls;
    constexpr int kCalls = 8;
    for (int i = 1; i <= kCalls; ++i) {
      calls.push_back(gateway.begin(booking_of(std::to_string(i))));
      ASSERT_TRUE(sees_claims(gateway, i));
      if (i == 1) ASSERT_TRUE(gateway.upstream.sees_requests(1));
    }
    gateway.upstream.let_go();
    for (std::future<Response>& call : calls) EXPECT_EQ(call.get().status, 201);
    for (int i = 1; i <= kCalls; ++i) {
      EXPECT_EQ(gateway.upstream.received(i).all("X-Run-Id").at(0), std::to_string(i));
    }
  }
}

TEST(PoolWait, NothingIsSentAfterDispatchByAndTheRetryRuns) {
  for (const char* path : {"/tools/book", "/tools/seat", "/tools/fare", "/files/a"}) {
    SCOPED_TRACE(path);
    Gateway gateway(one_connection("2s"));
    gateway.upstream.script(answers_when_let_go());
    std::future<Response> holder = gateway.begin(booking_of("holder"));
    ASSERT_TRUE(gateway.upstream.sees_requests(1));
    const Response late = gateway.call_tool(path);
    expect_problem(late, "upstream-unreachable");
    EXPECT_EQ(Json::parse(late.body)["dispatched"].text(), "false");
    EXPECT_TRUE(says(Json::parse(late.body)["detail"].text(), "`connections`")) << late.body;
    EXPECT_EQ(gateway.semel.access_log(1)[0]["upstream_failure"].text(), "no_slot");
    EXPECT_EQ(gateway.upstream.requests(), 1);
    gateway.upstream.let_go();
    EXPECT_EQ(holder.get().status, 201);
    EXPECT_EQ(gateway.call_tool(path).status, 201) << "the retry runs";
    EXPECT_EQ(gateway.upstream.requests(), 2);
  }
}

TEST(PoolWait, AClaimThatWasAskedForTooLongAgoIsNotSentThoughItsTurnHasCome) {
  Gateway gateway(one_connection("2s"));
  gateway.upstream.script(answers_when_let_go());
  Queue queue(gateway, booking_of("second"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  const auto claimed = std::chrono::steady_clock::now();
  ASSERT_EQ(::kill(gateway.semel.pid(), SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return gateway.semel.is_stopped(); }));
  // The slot comes free while nobody can take it.
  gateway.upstream.let_go();
  ASSERT_TRUE(eventually(
      [&] { return std::chrono::steady_clock::now() > claimed + std::chrono::seconds{2}; }));
  gateway.semel.sigcont();
  EXPECT_EQ(queue.holder.get().status, 201);
  expect_problem(queue.waiting.get(), "upstream-unreachable");
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.call(booking_of("second")).header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(PoolWait, AToolThatHangsKeepsTheNextCallWaitingForItsTimeoutOnly) {
  GatewayOptions options = one_connection("20s");
  options.routes = replaced(options.routes, "timeout: 30s", "timeout: 2s");
  Gateway gateway(options);
  gateway.upstream.script(one_after_another({commits_and_hangs(), commits_and_answers(200, "{}")}));
  Queue queue(gateway, Gateway::tool_request("/tools/seat"));
  expect_problem(queue.holder.get(), "indeterminate");
  EXPECT_EQ(queue.waiting.get().header("Idempotency-Status"), "executed");
}

TEST(PoolWait, AClientThatGoesAwayMeanwhileCancelsNothing) {
  Gateway gateway(one_connection("20s"));
  gateway.upstream.script(answers_when_let_go());
  std::future<Response> holder = gateway.begin(booking_of("holder"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  {
    HttpClient client(gateway.semel.port());
    client.send(booking_of("second"));
    ASSERT_TRUE(sees_claims(gateway, 2));
    client.reset();
  }
  gateway.upstream.let_go();
  EXPECT_EQ(holder.get().status, 201);
  const Response next = gateway.call(booking_of("second"));
  EXPECT_EQ(next.status, 201);
  EXPECT_EQ(next.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(PoolWait, ADrainFinishesWhatWaitsToo) {
  Gateway gateway(one_connection("20s"));
  gateway.upstream.script(answers_when_let_go());
  Queue queue(gateway, booking_of("second"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  gateway.semel.sigterm();
  ASSERT_TRUE(
      eventually([&] { return fetch(gateway.semel.metrics_port(), "/readyz").status == 503; }));
  gateway.upstream.let_go();
  EXPECT_EQ(queue.holder.get().status, 201);
  EXPECT_EQ(queue.waiting.get().status, 201);
  const std::optional<Exit> exit = gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0) << gateway.semel.stderr_text();
}

TEST(PoolWait, AtTheEndOfADrainWhatStillWaitsIsNotSent) {
  GatewayOptions options = one_connection("60s");
  options.store = StoreKind::Sqlite;
  // The answer's head is here in time; its body takes longer than a drain does.
  for (int i = 0; i < 4; ++i) {
    options.routes =
        replaced(options.routes, "timeout: 30s", "timeout: 3s\n    stream_timeout: 60s");
  }
  Gateway gateway(options);
  gateway.upstream.script(
      commits_and_sends("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot all", Then::Hang));
  Queue queue(gateway, booking_of("second"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  gateway.semel.sigterm();
  expect_problem(queue.holder.get(), "indeterminate");
  expect_problem(queue.waiting.get(), "upstream-unreachable");
  const std::optional<Exit> exit = gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0) << gateway.semel.stderr_text();
  EXPECT_EQ(gateway.upstream.requests(), 1);
  gateway.upstream.script(commits_and_answers(200, "{}"));
  gateway.semel.start();
  EXPECT_EQ(gateway.call(booking_of("second")).header("Idempotency-Status"), "executed");
  expect_problem(gateway.call(booking_of("holder")), "indeterminate");
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(PoolWait, AReloadLeavesWhatWaitsItsPlace) {
  Gateway gateway(one_connection("20s"));
  gateway.upstream.script(answers_when_let_go());
  Queue queue(gateway, booking_of("second"));
  ASSERT_TRUE(sees_claims(gateway, 2));
  gateway.rewrite(one_connection("20s", 2));
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  std::future<Response> newcomer = gateway.begin(booking_of("third"));
  EXPECT_TRUE(gateway.upstream.sees_requests(2)) << "the new edition has connections of its own";
  gateway.upstream.let_go();
  for (auto* call : {&queue.holder, &queue.waiting, &newcomer}) EXPECT_EQ(call->get().status, 201);
  EXPECT_EQ(gateway.upstream.effects(), 3);
}

}  // namespace
}  // namespace semel::testing
