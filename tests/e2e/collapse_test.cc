#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

/// The booking route with lines of its own, and one that is like it but for the word `reject`.
GatewayOptions with_route_lines(const std::string& lines) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    timeout: 20s
    settle: 1s
)" + lines + kToolKey;
  return options;
}

/// Commits and answers once the test lets go.
Script commits_and_answers_when_let_go(int status) {
  return [status](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(status, R"({"id":"b-1"})"));
  };
}

TEST(Collapse, TwoHundredClientsAtOnceOnOneKeyHaveOneEffectAndEqualAnswers) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    Gateway gateway({.store = store});
    gateway.upstream.script(commits_and_answers_after(milliseconds{300}, 201, R"({"id":"b-1"})"));
    std::vector<std::future<Response>> calls;
    for (int i = 0; i < 200; ++i) calls.push_back(gateway.begin("/tools/book"));
    int executed = 0;
    int replayed = 0;
    for (std::future<Response>& pending : calls) {
      const Response response = pending.get();
      EXPECT_EQ(response.status, 201);
      EXPECT_EQ(response.body, R"({"id":"b-1"})");
      const std::string status = response.header("Idempotency-Status").value_or("none");
      executed += status == "executed" ? 1 : 0;
      replayed += response.header("Idempotent-Replayed") == "true" ? 1 : 0;
      if (status != "executed") {
        EXPECT_TRUE(status == "collapsed" || status == "replayed") << status;
      }
    }
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(replayed, 199);
    EXPECT_EQ(gateway.upstream.requests(), 1);
    EXPECT_EQ(gateway.upstream.effects(), 1);
  }
}

TEST(Collapse, ADuplicateWaitsForTheFirstAndSharesItsAnswer) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers_when_let_go(201));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> follower = gateway.begin("/tools/book");
  ASSERT_TRUE(
      eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
  gateway.upstream.let_go();
  const Response first = leader.get();
  const Response second = follower.get();
  EXPECT_EQ(first.header("Idempotency-Status"), "executed");
  EXPECT_EQ(second.header("Idempotency-Status"), "collapsed");
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.status, first.status);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Collapse, ADuplicateThatHasWaitedLongEnoughIsToldThatTheFirstIsInFlight) {
  Gateway gateway(with_route_lines("    wait: 200ms"));
  gateway.upstream.script(commits_and_answers_when_let_go(201));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  const Response second = gateway.book();
  expect_problem(second, "in-flight");
  expect_reference(second);
  EXPECT_EQ(second.header("Idempotency-Status"), "in-flight");
  gateway.upstream.let_go();
  EXPECT_EQ(leader.get().status, 201);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Collapse, WhereTheRouteSaysRejectADuplicateIsRefusedAtOnce) {
  Gateway gateway(with_route_lines("    on_duplicate: reject"));
  gateway.upstream.script(commits_and_answers_when_let_go(201));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  expect_problem(gateway.book(), "in-flight");
  gateway.upstream.let_go();
  EXPECT_EQ(leader.get().status, 201);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Collapse, MoreWaitersThanAllowedAreSentAway) {
  GatewayOptions options = with_route_lines("    wait: 20s");
  options.more = "limits: {followers_per_key: 2}\n";
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers_when_let_go(201));
  std::vector<std::future<Response>> calls;
  calls.push_back(gateway.begin("/tools/book"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  for (int follower = 1; follower <= 2; ++follower) calls.push_back(gateway.begin("/tools/book"));
  ASSERT_TRUE(
      eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 2; }));
  expect_problem(gateway.book(), "too-many-waiters");
  gateway.upstream.let_go();
  for (std::future<Response>& pending : calls) EXPECT_EQ(pending.get().status, 201);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Collapse, FollowersOfACallThatEndsUnknownAreToldSo) {
  Gateway gateway;
  gateway.upstream.script(commits_and_hangs());
  std::vector<std::future<Response>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(gateway.begin("/tools/brief"));
  for (std::future<Response>& pending : calls) expect_problem(pending.get(), "indeterminate");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Collapse, FollowersOfARelayedServerErrorShareIt) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers_when_let_go(500));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> follower = gateway.begin("/tools/book");
  ASSERT_TRUE(
      eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
  gateway.upstream.let_go();
  for (const Response& response : {leader.get(), follower.get()}) {
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.header("Idempotency-Status"), "indeterminate");
    EXPECT_EQ(response.header("x-should-retry"), "false");
    EXPECT_EQ(response.header("stripe-should-retry"), "false");
  }
  expect_problem(gateway.book(), "indeterminate");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Collapse, FollowersOfARefusalOfTheToolShareItAndNoneIsPromoted) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers_when_let_go(422));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> follower = gateway.begin("/tools/book");
  ASSERT_TRUE(
      eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
  gateway.upstream.let_go();
  EXPECT_EQ(leader.get().status, 422);
  EXPECT_EQ(follower.get().status, 422);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Collapse, AFollowerThatGoesAwayLeavesTheOthersWaiting) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers_when_let_go(201));
  std::future<Response> leader = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  {
    HttpClient rude(gateway.semel.port());
    rude.send(Gateway::tool_request("/tools/book"));
    ASSERT_TRUE(
        eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
    rude.reset();
  }
  std::future<Response> follower = gateway.begin("/tools/book");
  gateway.upstream.let_go();
  EXPECT_EQ(leader.get().status, 201);
  EXPECT_EQ(follower.get().status, 201);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

}  // namespace
}  // namespace semel::testing
