// Rows of the record's table (spec 6, guarantee 7) that no other file shows. docs/evidence.md lists
// them all.

#include <csignal>

#include "tests/e2e/cases.h"
#include "tests/e2e/housekeeping.h"

namespace semel::testing {
namespace {

/// A call that ends in each state that a record may be in.
struct State {
  const char* name;
  Script script;
  int status;            ///< Of the first call's answer.
  const char* same_now;  ///< The problem that an equal call gets; null: the replay.
};

CaseRoute bound() {
  CaseRoute route;
  route.key = "{tenant: {constant: acme}, caller: {header: X-Caller}}";
  route.more = "    wait: 0ms\n    record: {max_body: 1KiB}\n";
  return route;
}

Request call_of(const char* caller, const char* body) {
  Request request = keyed_call("k", body);
  request.headers.emplace_back("X-Caller", caller);
  return request;
}

TEST(RecordRows, CallerAndPayloadSpeakBeforeEveryState) {
  const State states[] = {
      {"completed", commits_and_answers(201, R"({"secret":1})"), 201, nullptr},
      {"completed, body not kept", commits_and_answers(201, std::string(2000, 's')), 201,
       "result-not-kept"},
      {"indeterminate after silence", commits_and_sends("", Then::Reset), 409, "indeterminate"},
      {"indeterminate after a 500", commits_and_answers(500, "secret"), 500, "indeterminate"},
  };
  for (const State& state : states) {
    SCOPED_TRACE(state.name);
    Gateway gateway(one_route(bound()));
    gateway.upstream.script(state.script);
    EXPECT_EQ(gateway.call(call_of("ann", R"({"amount":1})")).status, state.status);
    // The caller speaks before the payload, and neither learns what the record holds.
    for (const char* body : {R"({"amount":1})", R"({"amount":2})"}) {
      const Response other = gateway.call(call_of("bob", body));
      expect_problem(other, "caller-mismatch");
      EXPECT_TRUE(Json::parse(other.body)["reference"].is_absent());
      EXPECT_EQ(other.header("Idempotency-Ref"), std::nullopt);
      EXPECT_EQ(other.body.find("secret"), std::string::npos);
    }
    expect_problem(gateway.call(call_of("ann", R"({"amount":2})")), "key-reused");
    const Response same = gateway.call(call_of("ann", R"({"amount":1})"));
    if (state.same_now == nullptr) {
      expect_replay(same, 201, R"({"secret":1})");
    } else {
      expect_problem(same, state.same_now);
    }
    expect_one_effect(gateway);
  }
}

TEST(RecordRows, ADuplicateWaitsItsOwnTimeNotThatOfTheFlight) {
  CaseRoute route;
  route.more = "    wait: 300ms\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_answers_when_let_go(201, "{}"));
  std::future<Response> leader = gateway.begin(keyed_call("k"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  // The flight is older than `wait` when the second duplicate comes.
  expect_problem(gateway.call(keyed_call("k")), "in-flight");
  std::future<Response> second = gateway.begin(keyed_call("k"));
  ASSERT_TRUE(sees_duplicates(gateway, 2));
  gateway.upstream.let_go();
  const Response answer = leader.get();
  expect_executed(answer, 201);
  expect_same_answer(second.get(), answer);
  expect_one_effect(gateway);
}

TEST(RecordRows, EachAttemptHasAHigherFenceAlsoAfterARelease) {
  CaseRoute route;
  route.more = "    forward_key: {fence: true}\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  Gateway gateway(options);
  gateway.upstream.script(one_after_another({answers(422, "{}"), commits_and_answers(200, "{}")}));
  long last = 0;
  for (const char* key : {"a", "a", "b"}) {
    EXPECT_TRUE(gateway.call(keyed_call(key)).is_complete());
    if (key == std::string("b")) gateway.semel.restart();
    const std::vector<std::string> fences = gateway.upstream.last_received().all("Semel-Fence");
    ASSERT_EQ(fences.size(), 1U);
    EXPECT_GT(std::stol(fences[0]), last);
    last = std::stol(fences[0]);
  }
  EXPECT_TRUE(gateway.call(keyed_call("c")).is_complete());
  EXPECT_GT(std::stol(gateway.upstream.last_received().all("Semel-Fence").at(0)), last)
      << "a restart gives no fence out again";
  EXPECT_EQ(gateway.upstream.requests(), 4);
}

TEST(RecordRows, AnIdempotentClaimWhoseLeaseIsOverIsSupersededAndTheAnswerRelayed) {
  CaseRoute route;
  route.policy = "IDEMPOTENT";
  route.more = "    forward_key: {fence: true}\n    retry: \"off\"\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  std::future<Response> silent = gateway.begin(keyed_call("k"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  gateway.semel.kill9();  // The start ends the lease of the claim, and leaves it in flight.
  EXPECT_FALSE(silent.get().is_complete());
  gateway.semel.start();
  gateway.upstream.script(commits_and_answers(201, R"({"id":"b-2"})"));
  const Response relayed = gateway.call(keyed_call("k"));
  expect_executed(relayed, 201);
  const long before = std::stol(gateway.upstream.received(1).all("Semel-Fence").at(0));
  EXPECT_EQ(std::stol(gateway.upstream.received(2).all("Semel-Fence").at(0)), before + 1);
  expect_same_answer(gateway.call(keyed_call("k")), relayed);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  EXPECT_EQ(gateway.semel.metric("semel_expired_reruns_total"), 0);
}

TEST(RecordRows, AClaimInFlightDoesNotExpireWhenItsRetentionPasses) {
  CaseRoute route;
  route.more =
      "    dispatch_by: 1s\n    timeout: 1s\n    stream_timeout: 500ms\n    settle: 500ms\n"
      "    lease_margin: 200ms\n    retention: 4s\n    wait: 0ms\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  std::future<Response> flying = gateway.begin(keyed_call("k"));
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  const auto claimed = std::chrono::steady_clock::now();
  ASSERT_EQ(::kill(gateway.semel.pid(), SIGSTOP), 0);
  ASSERT_TRUE(eventually(
      [&] { return std::chrono::steady_clock::now() > claimed + std::chrono::seconds{3}; }));
  gateway.semel.sigcont();
  expect_problem(flying.get(), "indeterminate");
  await_sweeps(gateway, 2);
  expect_problem(gateway.call(keyed_call("k")), "indeterminate");
  EXPECT_EQ(gateway.semel.metric("semel_records_expired_total"), 0);
  EXPECT_EQ(gateway.semel.metric("semel_expired_reruns_total"), 0);
  expect_one_effect(gateway);
}

}  // namespace
}  // namespace semel::testing
