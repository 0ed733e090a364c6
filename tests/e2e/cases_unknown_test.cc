// Reported cases of calls whose end nobody knows, and of proxies that sent them again:
// docs/reported-cases.md tells each in a line.

#include "tests/e2e/cases.h"

namespace semel::testing {
namespace {

/// A second server of the same upstream, healthy, which no EFFECTFUL call may reach as well.
struct Pair {
  explicit Pair(GatewayOptions options) : gateway(with(std::move(options), second.port())) {}

  static GatewayOptions with(GatewayOptions options, std::uint16_t port) {
    options.more_endpoints = ", \"" + endpoint_of(port) + "\"";
    return options;
  }
  void script(const Script& script) {
    gateway.upstream.script(script);
    second.script(script);
  }
  [[nodiscard]] int requests() const { return gateway.upstream.requests() + second.requests(); }
  [[nodiscard]] int effects() const { return gateway.upstream.effects() + second.effects(); }

  ScriptedUpstream second;
  Gateway gateway;
};

CaseRoute impatient() {
  CaseRoute route;
  route.more = "    timeout: 400ms\n";
  return route;
}

TEST(ReportedCases, IND_01_ATimeoutIsReadAsUnknownNotAsFailed) {
  Gateway gateway(one_route(impatient()));
  gateway.upstream.script([](Turn& turn) {
    turn.wait_for_step(1);  // The caller is told before the charge is made.
    turn.commit();
    turn.wait_for_step(2);
    turn.send(response_text(201, R"({"charge":"ch_1"})"));
  });
  expect_problem(gateway.call(keyed_call("ind-01")), "indeterminate");
  gateway.upstream.step();
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  expect_problem(gateway.call(keyed_call("ind-01")), "indeterminate");
  gateway.upstream.step();
  // Spec 6: late news of the same attempt settles it.
  Response last;
  EXPECT_TRUE(eventually([&] {
    last = gateway.call(keyed_call("ind-01"));
    return last.status != 409;
  }));
  expect_replay(last, 201, R"({"charge":"ch_1"})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, IND_03_AResetAfterTheRequestIsNotSentToTheNextServer) {
  Pair pair(one_route({}));
  pair.script(commits_and_sends("", Then::Reset));
  expect_problem(pair.gateway.call(keyed_call("ind-03")), "indeterminate");
  expect_problem(pair.gateway.call(keyed_call("ind-03")), "indeterminate");
  EXPECT_EQ(pair.requests(), 1);
  EXPECT_EQ(pair.effects(), 1);
}

TEST(ReportedCases, IND_05_AChunkedAnswerWithoutItsLastChunkIsNeverKept) {
  struct Row {
    const char* name;
    std::size_t size;
  };
  for (const auto& [name, size] : {Row{"within 64 KiB", 300}, {"flowing", 200'000}}) {
    SCOPED_TRACE(name);
    Gateway gateway(one_route({}));
    std::array<char, 20> line{};
    std::snprintf(line.data(), line.size(), "%zx\r\n", size);
    gateway.upstream.script(
        commits_and_sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                              std::string(line.data()) + std::string(size, 'x') + "\r\n",
                          Then::Finish));
    const Response cut = gateway.call(keyed_call("ind-05"));
    if (cut.is_complete()) {
      expect_problem(cut, "indeterminate");
    } else {
      EXPECT_EQ(cut.status, 200) << "it was on its way, and is cut for the caller too";
    }
    EXPECT_EQ(cut.is_complete(), size < 65'536);
    expect_problem(gateway.call(keyed_call("ind-05")), "indeterminate");
    expect_one_effect(gateway);
  }
}

TEST(ReportedCases, IND_07_AServerErrorAfterTheCaptureDoesNotFreeTheKey) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers(500, R"({"error":"mailer"})"));
  const Response first = gateway.call(keyed_call("ind-07"));
  EXPECT_EQ(first.status, 500);
  EXPECT_EQ(first.header("x-should-retry"), "false");
  const Response retry = gateway.call(keyed_call("ind-07"));
  expect_problem(retry, "indeterminate");
  EXPECT_EQ(Json::parse(retry.body)["upstream_status"].text(), "500");
  expect_one_effect(gateway);
}

TEST(ReportedCases, IND_09_AnAgentThatGaveUpEarlyFindsTheJobThatItsFirstCallMade) {
  Gateway gateway(one_route(derived("/jobs/create", ", fields: [/name]", "    wait: 200ms\n")));
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"job_id":11})"));
  const Request create = json_call("/jobs/create", R"({"name":"nightly","cluster":"c1"})");
  call_and_leave(gateway, create);
  expect_problem(gateway.call(create), "in-flight");
  gateway.upstream.let_go();
  Response later;
  EXPECT_TRUE(eventually([&] {
    later = gateway.call(create);
    return later.status != 409;
  }));
  expect_replay(later, 201, R"({"job_id":11})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, IND_11_AnErrorInsideA200IsAnAnswerAndNotAnInvitation) {
  Gateway gateway(one_route(
      derived("/mcp", ", fields: [/method, /params/name, /params/arguments]", "    wait: 10s\n")));
  const std::string error =
      R"({"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"printer on fire"}})";
  gateway.upstream.script(commits_and_answers_when_let_go(200, error));
  const auto order = [](int id) {
    return json_call("/mcp", R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                                 R"(,"method":"tools/call","params":{"name":"place_order",)"
                                 R"("arguments":{"sku":"A","qty":1}}})");
  };
  std::future<Response> first = gateway.begin(order(1));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> second = gateway.begin(order(2));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  const Response answer = first.get();
  expect_executed(answer, 200);
  EXPECT_EQ(answer.body, error);
  expect_same_answer(second.get(), answer);
  expect_same_answer(gateway.call(order(3)), answer);
  expect_one_effect(gateway);
}

TEST(ReportedCases, PXR_01_ASlowServerIsNotFailedOverToTheNext) {
  Pair pair(one_route(impatient()));
  pair.script(commits_and_hangs());
  expect_problem(pair.gateway.call(keyed_call("pxr-01")), "indeterminate");
  EXPECT_EQ(pair.requests(), 1);
  EXPECT_EQ(pair.effects(), 1);
}

TEST(ReportedCases, PXR_04_ARetryCarriesTheWholeBodyAndTheSameKeyOnceMore) {
  CaseRoute route;
  route.match = "{methods: [PUT], path: /settings/9}";
  route.policy = "IDEMPOTENT";
  route.more = "    retry: {attempts: 2, backoff: 10ms, budget: 100%}\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script(one_after_another({answers(503, "{}"), [](Turn& turn) {
                                               turn.send(response_text(200, turn.request().body));
                                             }}));
  Request put = keyed_call("pxr-04",
                           "{\"v\":1,\"text\":\"Gr\xC3\xBC\xC3\x9F"
                           "e\"}",
                           "/settings/9");
  put.method = "PUT";
  const Response response = gateway.call(put);
  expect_executed(response, 200);
  EXPECT_EQ(response.body, put.body);
  ASSERT_EQ(gateway.upstream.requests(), 2);
  const ReceivedRequest first = gateway.upstream.received(1);
  const ReceivedRequest second = gateway.upstream.received(2);
  EXPECT_EQ(first.body, put.body);
  EXPECT_EQ(second.body, put.body);
  EXPECT_EQ(second.all("Content-Length"), std::vector{std::to_string(put.body.size())});
  EXPECT_EQ(first.all("Idempotency-Key").size(), 1U);
  EXPECT_EQ(second.all("Idempotency-Key"), first.all("Idempotency-Key"));
}

TEST(ReportedCases, PXR_05_APooledConnectionThatTheServerClosedMakesNoCallUnknown) {
  Gateway gateway(one_route({}));
  gateway.upstream.close_idle_after(milliseconds{50});
  expect_executed(gateway.call(keyed_call("pxr-05-a")), 200);
  ASSERT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
  expect_executed(gateway.call(keyed_call("pxr-05-b")), 200);
  EXPECT_EQ(gateway.upstream.effects(), 2);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
}

TEST(ReportedCases, PXR_07_AServerErrorReachesTheClientInTheServicesOwnWords) {
  Pair pair(one_route({}));
  pair.script(commits_and_answers(500, R"({"error":"db","code":17})"));
  const Response response = pair.gateway.call(keyed_call("pxr-07"));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.header("Content-Type"), "application/json");
  EXPECT_EQ(response.body, R"({"error":"db","code":17})");
  EXPECT_EQ(pair.requests(), 1);
}

TEST(ReportedCases, PXR_10_ThePolicyDecidesNotTheMethod) {
  CaseRoute route = derived("/api/execute", ", fields: [{header: X-User}]", "    wait: 100ms\n");
  route.match = "{methods: [GET], path: /api/execute}";
  Pair pair(one_route(route));
  pair.script(commits_and_answers_when_let_go(200, R"({"run":1})"));
  const Request execute{"GET", "/api/execute", {{"X-User", "u1"}}, {}};
  std::future<Response> first = pair.gateway.begin(execute);
  ASSERT_TRUE(eventually([&] { return pair.requests() == 1; }));
  expect_problem(pair.gateway.call(execute), "in-flight");
  pair.gateway.upstream.let_go();
  pair.second.let_go();
  const Response answer = first.get();
  expect_executed(answer, 200);
  expect_same_answer(pair.gateway.call(execute), answer);
  EXPECT_EQ(pair.requests(), 1);
  EXPECT_EQ(pair.effects(), 1);
}

}  // namespace
}  // namespace semel::testing
