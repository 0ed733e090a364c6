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

/// An IDEMPOTENT call that flies, and a repetition of it after a reload has made its route
/// EFFECTFUL.
struct TightenedFlight {
  /// @param lines  Of the route while it is IDEMPOTENT.
  TightenedFlight(const Script& script, const std::string& lines)
      : gateway(with_routes(seat_route("IDEMPOTENT", lines))) {
    gateway.upstream.script(script);
    leader = gateway.begin("/tools/seat");
    EXPECT_TRUE(gateway.upstream.sees_effects(1));
    gateway.rewrite(with_routes(seat_route("EFFECTFUL", "\n    wait: 60s")));
    EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
    follower = gateway.begin("/tools/seat");
    EXPECT_TRUE(
        eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
  }
  Gateway gateway;
  std::future<Response> leader;
  std::future<Response> follower;
};

TEST(TightenedRoute, AnIdempotentCallInFlightIsUnknownToARepetitionThatIsEffectfulNow) {
  TightenedFlight flight(commits_and_hangs(), "\n    timeout: 4s\n    retry: off");
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
