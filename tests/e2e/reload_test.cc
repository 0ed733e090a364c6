#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/e2e/expect_metric.h"
#include "tests/e2e/operator.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/reloading.h"

namespace semel::testing {
namespace {

struct Weakening {
  const char* name;
  const char* from;  ///< What stands in tool_routes() of `book`;
  const char* to;    ///< what takes its place.
  const char* said;
};
void PrintTo(const Weakening& row, std::ostream* out) { *out << row.name; }

const Weakening kWeakenings[] = {
    {"Renamed", "name: book", "name: reserve", "route book: is gone, and route reserve takes"},
    {"Idempotent", kBookPolicy, "policy: IDEMPOTENT\n    retention: 24h\n    timeout: 10s",
     "route book: the policy was EFFECTFUL and is IDEMPOTENT"},
    {"ShorterRetention", kBookPolicy, "policy: EFFECTFUL\n    retention: 1h\n    timeout: 10s",
     "route book: the retention was 24h and is 1h"},
    {"Off", kBookPolicy, "policy: EFFECTFUL\n    mode: \"off\"\n    timeout: 10s",
     "route book: the mode was enforce and is off"},
};

/// One route of a store that remembers a call on it.
class AWeakenedRoute : public ::testing::TestWithParam<Weakening> {
 protected:
  AWeakenedRoute() { EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed"); }
  void weaken() {
    gateway.rewrite(with_routes(replaced(tool_routes(), GetParam().from, GetParam().to)));
  }
  void restore() { gateway.rewrite(with_routes(tool_routes())); }
  void stop() {
    gateway.semel.sigterm();
    ASSERT_TRUE(gateway.semel.wait());
  }
  void expect_a_replay() {
    EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
    EXPECT_EQ(gateway.upstream.effects(), 1);
  }
  Gateway gateway{with_routes(tool_routes())};
};

TEST_P(AWeakenedRoute, IsRefusedAtTheStartAndTheOldOneStartsAgain) {
  stop();
  weaken();
  const Finished start = gateway.semel.start_in_vain();
  ASSERT_TRUE(start.exit);
  EXPECT_EQ(start.exit->code, 2);
  EXPECT_TRUE(says(start.err, GetParam().said)) << start.err;
  EXPECT_TRUE(says(start.err, "serve --acknowledge book")) << start.err;
  EXPECT_TRUE(says(start.err, "semel.yaml")) << start.err;
  EXPECT_FALSE(says(start.err, "listening")) << start.err;
  restore();
  gateway.semel.start();
  expect_a_replay();
}

TEST_P(AWeakenedRoute, StartsOnceItIsAcknowledgedAndIsThenTheOneToCompareWith) {
  stop();
  weaken();
  gateway.semel.start({"--acknowledge", "book"});
  stop();
  gateway.semel.start();
  EXPECT_EQ(gateway.book().status, 200);
}

TEST_P(AWeakenedRoute, IsRefusedAtAReloadAndTheOldOneRunsOn) {
  weaken();
  const std::string said = gateway.semel.reload();
  EXPECT_TRUE(says(said, "not reloaded")) << said;
  EXPECT_TRUE(says(said, GetParam().said)) << said;
  EXPECT_EQ(last_reload(gateway.semel), 0);
  expect_a_replay();
  restore();
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  EXPECT_EQ(last_reload(gateway.semel), 1);
  expect_a_replay();
}

INSTANTIATE_TEST_SUITE_P(Reload, AWeakenedRoute, ::testing::ValuesIn(kWeakenings),
                         [](const auto& row) { return row.param.name; });

TEST(Reload, ARefusalNamesTheRoutesLine) {
  Gateway gateway(with_routes(tool_routes()));
  gateway.rewrite(
      with_routes(replaced(tool_routes(), kBookPolicy, "policy: READ_ONLY\n    timeout: 10s")));
  // `key` belongs to keyed routes only: that is an error of its own, with its place.
  EXPECT_TRUE(says(gateway.semel.reload(), "key: only a keyed route remembers calls"));
  gateway.rewrite(with_routes(replaced(tool_routes(), kBookPolicy,
                                       "policy: EFFECTFUL\n    mode: \"off\"\n    timeout: 10s")));
  // Lines: version, listen, metrics, state_dir, store, sqlite, upstreams, tool, endpoints, an empty
  // one, routes, book.
  EXPECT_TRUE(says(gateway.semel.reload(), "semel.yaml:12: route book: the mode"));
}

TEST(Reload, AnAcknowledgementOfNothingIsABadStart) {
  Gateway gateway(with_routes(tool_routes()));
  gateway.semel.sigterm();
  ASSERT_TRUE(gateway.semel.wait());
  const Finished start = gateway.semel.start_in_vain({"--acknowledge", "book"});
  ASSERT_TRUE(start.exit);
  EXPECT_EQ(start.exit->code, 2);
  EXPECT_TRUE(says(start.err, "no change of a route called book frees keys")) << start.err;
}

TEST(Reload, ARaisedKeyVersionStillKnowsTheCallsOfTheOneBefore) {
  Gateway gateway(with_routes(tool_routes()));
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  gateway.upstream.script(commits_and_hangs());
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  gateway.upstream.script(commits_and_answers(200, "{}"));
  // Another recipe, too: `name` counts no more.
  const std::string key = kToolKey;
  const std::string raised =
      replaced(replaced(key, ", /name", ""), "key:", "key:\n      version: 2");
  std::string routes = replaced(tool_routes(), key, raised);
  routes = replaced(routes, "stream_timeout: 700ms" + key, "stream_timeout: 700ms" + raised);
  gateway.rewrite(with_routes(routes));
  EXPECT_TRUE(
      says(gateway.semel.reload(), "route book: key: version: a reload does not change it"));
  for (int start = 0; start < 2; ++start) {
    gateway.semel.kill9();  // A drain would wait for what the tool may still say.
    gateway.semel.start();
    EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
    expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
    EXPECT_EQ(gateway.upstream.effects(), 2);
  }
  const std::string other_seats = R"({"flight":"BA117","seats":3,"name":"Zoe"})";
  EXPECT_EQ(gateway.book(other_seats).header("Idempotency-Status"), "executed");
  const std::string other_name = R"({"flight":"BA117","seats":3,"name":"Max"})";
  EXPECT_EQ(gateway.book(other_name).header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 3);
}

TEST(Reload, ABrokenFileChangesNothing) {
  Gateway gateway;
  GatewayOptions broken;
  broken.routes = tool_routes() + "  ]";
  gateway.rewrite(broken);
  const std::string said = gateway.semel.reload();
  EXPECT_TRUE(says(said, "not reloaded")) << said;
  EXPECT_TRUE(says(said, "semel.yaml:")) << said;
  EXPECT_EQ(last_reload(gateway.semel), 0);
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
}

TEST(Reload, WhatNeedsARestartIsSaidAndNothingIsTaken) {
  Gateway gateway;
  GatewayOptions wanted;
  wanted.more = "workers: 3\n";
  wanted.routes = replaced(tool_routes(), "path: /files/*", "path: /other/*");
  gateway.rewrite(wanted);
  const std::string said = gateway.semel.reload();
  EXPECT_TRUE(says(said, "workers: a reload does not change it")) << said;
  EXPECT_EQ(last_reload(gateway.semel), 0);
  EXPECT_EQ(gateway.call({"GET", "/files/a", {}, {}}).status, 200);
  EXPECT_EQ(gateway.call({"GET", "/other/a", {}, {}}).status, 404);
}

TEST(Reload, ANewRouteIsLiveAndOneThatIsGoneIsNotAndTheOthersGoOnCounting) {
  Gateway gateway;
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.call({"GET", "/other/a", {}, {}}).status, 404);
  GatewayOptions wanted;
  wanted.routes = replaced(tool_routes(), "name: plain\n    match: {path: /files/*}",
                           "name: other\n    match: {path: /other/*}");
  gateway.rewrite(wanted);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  EXPECT_EQ(gateway.call({"GET", "/other/a", {}, {}}).status, 200);
  EXPECT_EQ(gateway.call({"GET", "/files/a", {}, {}}).status, 404);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  expect_metric(gateway, "semel_requests_total", {{"route", "book"}, {"outcome", "executed"}}, 1);
  expect_metric(gateway, "semel_requests_total", {{"route", "book"}, {"outcome", "replayed"}}, 1);
  expect_metric(gateway, "semel_requests_total", {{"route", "other"}, {"outcome", "passed"}}, 1);
}

TEST(Reload, AnotherEndpointIsUsedAndTheOldOnesConnectionsAreClosed) {
  Gateway gateway;
  ScriptedUpstream other;
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
  EXPECT_EQ(gateway.upstream.open_connections(), 1) << "kept for the next request";
  GatewayOptions wanted;
  wanted.upstream_endpoint = endpoint_of(other.port());
  gateway.rewrite(wanted);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  EXPECT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
  EXPECT_EQ(other.requests(), 1);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Reload, ACallInFlightEndsWhereItBeganAndIsReplayedAfterwards) {
  Gateway gateway(with_routes(tool_routes()));
  ScriptedUpstream other;
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(201, R"({"id":"b-1"})"));
  });
  std::future<Response> flying = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  GatewayOptions wanted = with_routes(tool_routes());
  wanted.upstream_endpoint = endpoint_of(other.port());
  for (int i = 0; i < 2; ++i) {
    gateway.rewrite(wanted);
    EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  }
  std::future<Response> follower = gateway.begin("/tools/book");
  gateway.upstream.let_go();
  EXPECT_EQ(flying.get().status, 201);
  EXPECT_EQ(follower.get().status, 201);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 1);
  EXPECT_EQ(other.requests(), 0);
}

TEST(Reload, ALateAnswerOfACallFromBeforeIsStillRecorded) {
  Gateway gateway(with_routes(tool_routes()));
  ScriptedUpstream other;
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(201, R"({"id":"b-1"})"));
  });
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  GatewayOptions wanted = with_routes(tool_routes());
  wanted.upstream_endpoint = endpoint_of(other.port());
  gateway.rewrite(wanted);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  gateway.upstream.let_go();
  EXPECT_TRUE(eventually([&] { return gateway.call_tool("/tools/brief").status == 201; }));
  EXPECT_EQ(gateway.upstream.effects(), 1);
  EXPECT_EQ(other.requests(), 0);
}

TEST(Reload, ARequestThatHasBegunEndsByTheRulesThatReadItsHead) {
  Gateway gateway;
  HttpClient client(gateway.semel.port());
  const std::string body = R"({"flight":"BA117","seats":2,"name":")" + std::string(40'000, 'x') +
                           "\"}";  // Longer than the block that the head stands in.
  const std::string text =
      text_of(Gateway::tool_request("/tools/book", body, {{"Expect", "100-continue"}}));
  const std::size_t head = text.find("\r\n\r\n") + 4;
  client.send(text.substr(0, head));
  ASSERT_TRUE(client.sees("100 Continue\r\n\r\n"));
  GatewayOptions wanted;
  wanted.listen_more = ", authorities: [other.test]";
  gateway.rewrite(wanted);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  client.send(text.substr(head));
  EXPECT_EQ(client.read().status, 200);
  const Response next = client.exchange(Gateway::tool_request("/tools/book"));
  EXPECT_EQ(next.status, 400) << "the host is none of ours any more";
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Reload, LimitsOverAllWorkersAreTaken) {
  Gateway gateway;
  GatewayOptions wanted;
  wanted.more = "limits: {connections: 1}\n";
  gateway.rewrite(wanted);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  HttpClient first(gateway.semel.port());
  EXPECT_EQ(first.exchange({"GET", "/files/a", {}, {}}).status, 200);
  expect_problem(gateway.call({"GET", "/files/a", {}, {}}), "overloaded");
}

TEST(Reload, AnOperatorAcknowledgesARouteByItsName) {
  OperatedGateway operated(with_routes(tool_routes()));
  Gateway& gateway = operated.gateway;
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  operated.rewrite(with_routes(replaced(tool_routes(), kBookPolicy,
                                        "policy: EFFECTFUL\n    mode: \"off\"\n    timeout: 10s")));
  for (const char* target : {"/-/reload", "/-/reload?acknowledge=seat"}) {
    const Response refused = operated.ask("POST", target);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(problem_slug(refused), "reload-refused");
    EXPECT_TRUE(says(refused.body, "the mode was enforce and is off")) << refused.body;
    EXPECT_EQ(last_reload(gateway.semel), 0);
  }
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  const Response taken = operated.ask("POST", "/-/reload?acknowledge=book");
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(last_reload(gateway.semel), 1);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), std::nullopt);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  EXPECT_EQ(operated.ask("POST", "/-/reload").status, 200) << "it is the one to compare with now";
}

TEST(Reload, UnderLoadNoCallFailsAndNoCountIsLost) {
  constexpr int kClients = 4;
  constexpr int kReloads = 8;
  Gateway gateway(with_routes(tool_routes()));
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::atomic<int> effects{0};
  std::atomic<int> failures{0};
  const auto work = [&](int client) {
    HttpClient kept(gateway.semel.port());
    for (int i = 0; !stop; ++i) {
      const std::string run = std::to_string(client) + "-" + std::to_string(i);
      const Response read = kept.exchange(Gateway::tool_request("/tools/fare"));
      const Response effect =
          kept.exchange(Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}}));
      if (read.status != 200 || effect.status != 200) ++failures;
      ++reads;
      ++effects;
    }
  };
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back(work, i);
  for (int i = 0; i < kReloads; ++i) {
    GatewayOptions wanted = with_routes(tool_routes());
    wanted.more = "limits: {followers_per_key: " + std::to_string(10 + i) + "}\n";
    gateway.rewrite(wanted);
    EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
    const int done = effects;
    EXPECT_TRUE(eventually([&] { return effects >= done + kClients; }));
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(gateway.upstream.requests(), reads + effects);
  expect_metric(gateway, "semel_requests_total", {{"route", "fare"}, {"outcome", "passed"}}, reads);
  expect_metric(gateway, "semel_requests_total", {{"route", "book"}, {"outcome", "executed"}},
                effects);
}

}  // namespace
}  // namespace semel::testing
