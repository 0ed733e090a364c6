// An IDEMPOTENT call that flies while a reload makes its route EFFECTFUL: the stricter governs
// (spec 4).
#include "tests/e2e/problems.h"
#include "tests/e2e/reloading.h"

namespace semel::testing {
namespace {

std::string seat_route(const std::string& policy, const std::string& more) {
  return R"(
routes:
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    policy: )" +
         policy + more + kToolKey;
}

/// Makes the route EFFECTFUL while a call flies on it. @return a repetition of that call, which
/// follows it.
std::future<Response> tighten(Gateway& gateway, GatewayOptions options) {
  options.routes = seat_route("EFFECTFUL", "\n    wait: 60s");
  gateway.rewrite(options);
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  std::future<Response> follower = gateway.begin("/tools/seat");
  EXPECT_TRUE(
      eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
  return follower;
}

/// An IDEMPOTENT call that flies, and a repetition of it after a reload has made its route
/// EFFECTFUL.
struct TightenedFlight {
  /// @param lines  Of the route while it is IDEMPOTENT.
  TightenedFlight(const Script& script, const std::string& lines)
      : gateway(with_routes(seat_route("IDEMPOTENT", lines))) {
    gateway.upstream.script(script);
    leader = gateway.begin("/tools/seat");
    EXPECT_TRUE(gateway.upstream.sees_effects(1));
    follower = tighten(gateway, {.store = StoreKind::Sqlite});
  }
  Gateway gateway;
  std::future<Response> leader;
  std::future<Response> follower;
};

TEST(TightenedRoute, AnIdempotentCallInFlightIsUnknownToARepetitionThatIsEffectfulNow) {
  TightenedFlight flight(commits_and_hangs(), "\n    timeout: 10s\n    retry: off");
  for (const Response& told : {flight.leader.get(), flight.follower.get()}) {
    expect_problem(told, "indeterminate");
    expect_verdict(told, "EFFECTFUL", "seat", "true");
    expect_reference(told);
  }
  flight.gateway.upstream.script(commits_and_answers(200, "{}"));
  expect_problem(flight.gateway.call_tool("/tools/seat"), "indeterminate");
  EXPECT_EQ(flight.gateway.upstream.requests(), 1);
}

TEST(TightenedRoute, AnIdempotentCallThatARepetitionMadeEffectfulIsNotSentAgain) {
  // Cut again and again, until somebody asks for whom a second effect counts.
  TightenedFlight flight(
      commits_and_sends("", Then::Reset),
      "\n    timeout: 60s\n    retry: {attempts: 10, backoff: 100ms, budget: 100%}");
  for (const Response& told : {flight.leader.get(), flight.follower.get()}) {
    expect_problem(told, "indeterminate");
    expect_verdict(told, "EFFECTFUL", "seat", "true");
  }
  const int requests = flight.gateway.upstream.requests();
  expect_problem(flight.gateway.call_tool("/tools/seat"), "indeterminate");
  EXPECT_EQ(flight.gateway.upstream.requests(), requests);
}

constexpr char kRetriesAtOnce[] =
    "\n    timeout: 60s\n    retry: {attempts: 10, backoff: 1ms, budget: 100%}";

/// A retry that has begun and waits for its way to the tool: its worker's only thread goes on to
/// that without a pause.
bool is_on_its_way_again(const Gateway& gateway) {
  return eventually([&] { return gateway.semel.metric("semel_upstream_retries_total") >= 1; });
}

void expect_unknown(const Response& told) {
  expect_problem(told, "indeterminate");
  expect_verdict(told, "EFFECTFUL", "seat", "true");
  expect_reference(told);
}

TEST(TightenedRoute, ARetryThatWaitsForAConnectionMeanwhileIsNotSent) {
  GatewayOptions options{.store = StoreKind::Sqlite};
  options.upstream_more = "    connections: 1\n";
  options.more = "workers: 1\n";
  options.routes = seat_route("IDEMPOTENT", kRetriesAtOnce);
  Gateway gateway(options);
  const Script fails = [](Turn& turn) {
    turn.commit();
    turn.wait_for_step(1);
    turn.reset();
  };
  const Script holds = [](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(200, "{}"));
  };
  gateway.upstream.script(one_after_another({fails, holds, commits_and_answers(200, "{}")}));
  std::future<Response> leader = gateway.begin("/tools/seat");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  std::future<Response> next_in_turn =
      gateway.begin(Gateway::tool_request("/tools/seat", kBooking, {{"X-Run-Id", "run-8"}}));
  ASSERT_TRUE(eventually([&] {
    return gateway.semel.metric("semel_store_operation_duration_seconds_count",
                                {{"operation", "claim"}}) >= 2;
  }));
  gateway.upstream.step();
  ASSERT_TRUE(gateway.upstream.sees_requests(2)) << "the connection has passed to the other call";
  ASSERT_TRUE(is_on_its_way_again(gateway));
  std::future<Response> follower = tighten(gateway, options);
  gateway.upstream.let_go();
  EXPECT_EQ(next_in_turn.get().status, 200);
  expect_unknown(leader.get());
  expect_unknown(follower.get());
  EXPECT_EQ(gateway.upstream.requests(), 2);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total", {{"reason", "cut"}}), 1);
}

TEST(TightenedRoute, ARetryThatIsConnectingMeanwhileIsNotSent) {
  auto hole = std::make_unique<Blackhole>();
  GatewayOptions options{.store = StoreKind::Sqlite};
  options.more_endpoints = ", \"" + endpoint_of(hole->port()) + "\"";
  options.upstream_more = "    connect_timeout: 60s\n";
  options.more = "workers: 1\n";
  options.routes = seat_route("IDEMPOTENT", kRetriesAtOnce);
  Gateway gateway(options);
  gateway.upstream.script(
      one_after_another({commits_and_sends("HTTP/1.1 nonsense\r\n\r\n", Then::Hang),
                         commits_and_answers(200, "{}")}));
  std::future<Response> leader = gateway.begin("/tools/seat");
  ASSERT_TRUE(is_on_its_way_again(gateway));
  std::future<Response> follower = tighten(gateway, options);
  hole.reset();  // The connection is refused at the next attempt, and the other endpoint's turn.
  expect_unknown(leader.get());
  expect_unknown(follower.get());
  EXPECT_EQ(gateway.upstream.requests(), 1);
  // The tool that answered nonsense may be at work still: that the retry was not sent ends nothing.
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total", {{"reason", "malformed"}}), 1);
}

TEST(TightenedRoute, AServerErrorIsMarkedForARepetitionThatIsEffectfulNow) {
  TightenedFlight flight(
      [](Turn& turn) {
        turn.commit();
        turn.wait_until_let_go();
        turn.send(response_text(500, R"({"error":"half done"})"));
      },
      "\n    timeout: 60s\n    retry: off");
  flight.gateway.upstream.let_go();
  for (const Response& told : {flight.leader.get(), flight.follower.get()}) {
    EXPECT_EQ(told.status, 500);
    EXPECT_EQ(told.body, R"({"error":"half done"})");
    EXPECT_EQ(told.header("Idempotency-Status"), "indeterminate");
    EXPECT_EQ(told.header("x-should-retry"), "false");
  }
  expect_problem(flight.gateway.call_tool("/tools/seat"), "indeterminate");
  EXPECT_EQ(flight.gateway.upstream.requests(), 1);
}

TEST(TightenedRoute, AnIdempotentCallInFlightSharesItsAnswerWithARepetitionThatIsEffectfulNow) {
  TightenedFlight flight(
      [](Turn& turn) {
        turn.commit();
        turn.wait_until_let_go();
        turn.send(response_text(201, R"({"seat":"4A"})"));
      },
      "\n    timeout: 60s");
  flight.gateway.upstream.let_go();
  EXPECT_EQ(flight.leader.get().header("Idempotency-Status"), "executed");
  EXPECT_EQ(flight.follower.get().header("Idempotency-Status"), "collapsed");
  EXPECT_EQ(flight.gateway.call_tool("/tools/seat").header("Idempotency-Status"), "replayed");
  EXPECT_EQ(flight.gateway.upstream.requests(), 1);
}

}  // namespace
}  // namespace semel::testing
