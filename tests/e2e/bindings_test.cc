#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

constexpr char kRoutes[] = R"(
routes:
  - name: pay
    match: {methods: [POST], path: "/accounts/{account}/pay"}
    upstream: tool
    policy: EFFECTFUL
    key:
      tenant: {header: X-Tenant-Id}
      run: {header: X-Run-Id}
      caller: {header: X-Caller}
    client_key: optional
  - name: order
    match: {methods: [POST], path: /orders}
    upstream: tool
    policy: EFFECTFUL
    key:
      tenant: {header: X-Tenant-Id}
      run: {header: X-Run-Id}
      fields: [/order]
      guards: [/amount]
)";

GatewayOptions bound() {
  GatewayOptions options;
  options.routes = kRoutes;
  return options;
}

Request pay(const std::string& body, const std::string& key, const std::string& caller = "ann",
            const std::string& path = "/accounts/1/pay") {
  return Gateway::tool_request(path, body, {{"X-Caller", caller}, {"Idempotency-Key", key}});
}

TEST(Binding, AClientKeyIsTheSameWithAndWithoutQuotesAndOfAnyRun) {
  Gateway gateway(bound());
  const Response first = gateway.call(pay(R"({"amount":5})", "abc/1"));
  EXPECT_EQ(first.header("Idempotency-Status"), "executed");
  EXPECT_EQ(first.header("Idempotency-Key"), "abc/1");
  EXPECT_EQ(gateway.call(pay(R"({"amount":5})", "\"abc/1\"")).header("Idempotency-Status"),
            "replayed");
  Request other_run = pay(R"({"amount": 5.0})", "abc/1");
  for (auto& [name, value] : other_run.headers) {
    if (name == "X-Run-Id") value = "run-8";
  }
  EXPECT_EQ(gateway.call(other_run).header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.call(pay(R"({"amount":5})", "abc/2")).header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(Binding, AClientKeyWithAnotherPayloadOrPathIsRefused) {
  Gateway gateway(bound());
  EXPECT_EQ(gateway.call(pay(R"({"amount":5})", "k")).status, 200);
  struct Row {
    const char* name;
    Request request;
  };
  const Row rows[] = {
      {"another body", pay(R"({"amount":6})", "k")},
      {"another path", pay(R"({"amount":5})", "k", "ann", "/accounts/2/pay")},
      {"another query", pay(R"({"amount":5})", "k", "ann", "/accounts/1/pay?x=1")},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Response refused = gateway.call(row.request);
    expect_problem(refused, "key-reused");
    EXPECT_EQ(refused.header("Idempotency-Status"), "refused");
  }
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Binding, AGuardThatDiffersIsRefused) {
  Gateway gateway(bound());
  const auto order = [&](const std::string& body) { return gateway.call_tool("/orders", body); };
  EXPECT_EQ(order(R"({"order":1,"amount":5})").status, 200);
  EXPECT_EQ(order(R"({"order":1,"amount":5.0})").header("Idempotency-Status"), "replayed");
  expect_problem(order(R"({"order":1,"amount":6})"), "key-reused");
  expect_problem(order(R"({"order":1})"), "key-reused");
  expect_problem(order(R"({"order":1,"amount":null})"), "key-reused");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Binding, AnotherCallerSeesNoStoredByteAndNoReference) {
  Gateway gateway(bound());
  gateway.upstream.script(
      commits_and_answers(200, R"({"secret":"of ann"})", {{"X-Secret", "of ann"}}));
  EXPECT_EQ(gateway.call(pay(R"({"amount":5})", "k")).status, 200);
  const Response refused = gateway.call(pay(R"({"amount":5})", "k", "bob"));
  expect_problem(refused, "caller-mismatch");
  EXPECT_EQ(refused.header("X-Secret"), std::nullopt);
  EXPECT_EQ(refused.header("Idempotency-Ref"), std::nullopt);
  EXPECT_TRUE(Json::parse(refused.body)["reference"].is_absent());
  EXPECT_EQ(refused.body.find("of ann"), std::string::npos);
  expect_problem(gateway.call(pay(R"({"amount":6})", "k", "bob")), "caller-mismatch");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Binding, CallerAndPayloadAreComparedBeforeACallInFlightIsJoined) {
  Gateway gateway(bound());
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(200, R"({"secret":"of ann"})"));
  });
  std::future<Response> first =
      std::async(std::launch::async, [&] { return gateway.call(pay(R"({"amount":5})", "k")); });
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  expect_problem(gateway.call(pay(R"({"amount":5})", "k", "bob")), "caller-mismatch");
  expect_problem(gateway.call(pay(R"({"amount":6})", "k")), "key-reused");
  gateway.upstream.let_go();
  EXPECT_EQ(first.get().status, 200);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Binding, OneTenantNeverSeesWhatAnotherOneDid) {
  Gateway gateway(bound());
  for (const char* tenant : {"acme", "other"}) {
    const Response response = gateway.call(Gateway::tool_request(
        "/accounts/1/pay", "{}",
        {{"X-Tenant-Id", tenant}, {"X-Caller", "ann"}, {"Idempotency-Key", "k"}}));
    EXPECT_EQ(response.header("Idempotency-Status"), "executed") << tenant;
  }
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(Binding, TheConcretePathIsInTheKey) {
  Gateway gateway(bound());
  for (const char* path : {"/accounts/1/pay", "/accounts/2/pay", "/accounts/%41/pay"}) {
    const Response response =
        gateway.call(Gateway::tool_request(path, "{}", {{"X-Caller", "ann"}}));
    EXPECT_EQ(response.header("Idempotency-Status"), "executed") << path;
  }
  const Response again =
      gateway.call(Gateway::tool_request("/accounts/A/pay", "{}", {{"X-Caller", "ann"}}));
  EXPECT_EQ(again.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.effects(), 3);
}

}  // namespace
}  // namespace semel::testing
