// Reported cases of calls that overlap: docs/reported-cases.md tells each in a line.

#include "tests/e2e/cases.h"
#include "tests/e2e/faulty_disk.h"

namespace semel::testing {
namespace {

TEST(ReportedCases, CON_01_ASlowFirstCallIsClaimedBeforeTheToolRuns) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":"p_1"})"));
  std::future<Response> slow = gateway.begin(keyed_call("con-01"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> beside = gateway.begin(keyed_call("con-01"));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  const Response first = slow.get();
  expect_executed(first, 201);
  expect_same_answer(beside.get(), first);
  expect_same_answer(gateway.call(keyed_call("con-01")), first);
  expect_one_effect(gateway);
}

TEST(ReportedCases, CON_06_AWaitingDuplicateSeesNoGapBetweenTheClaimAndTheStoredAnswer) {
  const FaultyDisk disk;
  GatewayOptions options = one_route({});
  options.routes += "  - name: look\n    match: {path: /look}\n    upstream: tool\n";
  options.more = "workers: 1\n";  // What was sent before a look has been taken in before it.
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  gateway.upstream.script([&disk](Turn& turn) {
    if (turn.request().target == "/look") return turn.send(response_text(200, "{}"));
    turn.commit();
    turn.wait_until_let_go();
    disk.hang();  // The record is being written when the second duplicate asks.
    turn.send(response_text(201, R"({"tx":"t_1"})"));
    turn.commit();
  });
  std::future<Response> first = gateway.begin(keyed_call("con-06"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  std::future<Response> waiting = gateway.begin(keyed_call("con-06"));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  ASSERT_TRUE(gateway.upstream.sees_effects(2)) << "the answer has been sent";
  HttpClient late(gateway.semel.port());
  late.send(keyed_call("con-06"));
  EXPECT_EQ(gateway.call({"GET", "/look", {}, {}}).status, 200);
  disk.heal();
  const Response answer = first.get();
  expect_executed(answer, 201);
  expect_same_answer(waiting.get(), answer);
  expect_same_answer(late.read(), answer);
  EXPECT_EQ(gateway.upstream.requests(), 2) << "one deposit and one look";
}

TEST(ReportedCases, CON_08_ALostRaceIsNoFaultOfTheStore) {
  CaseRoute route;
  route.more = "    wait: 100ms\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers_after(milliseconds{400}, 201, R"({"o":1})"));
  constexpr int kCalls = 50;
  std::vector<std::future<Response>> calls;
  for (int i = 0; i < kCalls; ++i) calls.push_back(gateway.begin(keyed_call("con-08")));
  int executed = 0;
  for (std::future<Response>& pending : calls) {
    const Response response = pending.get();
    if (response.header("Idempotency-Status") == "executed") {
      ++executed;
      expect_executed(response, 201);
    } else if (response.status == 409) {
      expect_problem(response, "in-flight");
    } else {
      expect_replay(response, 201, R"({"o":1})");
    }
  }
  EXPECT_EQ(executed, 1);
  expect_executed(gateway.call(keyed_call("con-08-other")), 201);
  EXPECT_EQ(gateway.upstream.effects(), 2);
  EXPECT_EQ(gateway.semel.metric("semel_store_errors_total"), 0);
  EXPECT_EQ(gateway.semel.metric("semel_store_up"), 1);
}

TEST(ReportedCases, CON_10_ADuplicateWaitsAsLongAsTheRouteSays) {
  struct Row {
    const char* wait;
    bool is_patient;
  };
  for (const auto& [wait, is_patient] : {Row{"10s", true}, {"300ms", false}}) {
    SCOPED_TRACE(wait);
    CaseRoute route;
    route.more = std::string("    wait: ") + wait + "\n";
    Gateway gateway(one_route(route));
    gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":1})"));
    std::future<Response> first = gateway.begin(keyed_call("con-10"));
    ASSERT_TRUE(gateway.upstream.sees_requests(1));
    std::future<Response> duplicate = gateway.begin(keyed_call("con-10"));
    ASSERT_TRUE(sees_duplicates(gateway, 1));
    // The impatient one is refused while the call it waited for still flies.
    if (!is_patient) expect_problem(duplicate.get(), "in-flight");
    gateway.upstream.let_go();
    const Response answer = first.get();
    expect_executed(answer, 201);
    if (is_patient) {
      expect_same_answer(duplicate.get(), answer);
    } else {
      EXPECT_TRUE(eventually(
          [&] { return gateway.semel.metric("semel_wait_duration_seconds_sum") >= 0.28; }));
    }
    expect_one_effect(gateway);
  }
}

TEST(ReportedCases, SDK_01_ARetryDuringTheFirstCallIsToldWhenToComeBackAndThenHasItsAnswer) {
  CaseRoute route;
  route.more = "    wait: 0ms\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_answers_when_let_go(200, R"({"id":1})"));
  call_and_leave(gateway, keyed_call("sdk-01"));
  const Response early = gateway.call(keyed_call("sdk-01"));
  expect_problem(early, "in-flight");
  EXPECT_EQ(Json::parse(early.body)["error"]["code"].text(), "in-flight");
  gateway.upstream.let_go();
  Response later;
  EXPECT_TRUE(eventually([&] {
    later = gateway.call(keyed_call("sdk-01"));
    return later.status != 409;
  }));
  expect_replay(later, 200, R"({"id":1})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, SDK_04_AFormThatTheBrowserSubmitsAgainIsOneCallWhateverItsFieldOrder) {
  Gateway gateway(one_route(derived("/publish", ", fields: [/node, /action, {header: Cookie}]")));
  gateway.upstream.script(commits_and_answers_when_let_go(200, "copied", {}));
  const auto form = [](std::string body) {
    return Request{"POST",
                   "/publish",
                   {{"Content-Type", "application/x-www-form-urlencoded"}, {"Cookie", "sid=1"}},
                   std::move(body)};
  };
  call_and_leave(gateway, form("node=12&action=copy"));
  std::future<Response> again = gateway.begin(form("node=12&action=copy"));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  expect_replay(again.get(), 200, "copied");
  expect_replay(gateway.call(form("action=copy&node=12")), 200, "copied");
  expect_one_effect(gateway);
}

TEST(ReportedCases, LCK_01_AClaimOutlivesTheCallThatItGuards) {
  // The lease is no setting: spec 4 makes it the sum of all that the call may take.
  CaseRoute route;
  route.more = "    wait: 0ms\n    timeout: 10s\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"tx":1})"));
  std::future<Response> slow = gateway.begin(keyed_call("lck-01"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  const Finished check = run({semel_binary(), "check", gateway.semel.config_file()});
  // 3 s to dispatch, 10 s to the head, 10 s to the last byte, 60 s to settle, 2 s of margin.
  EXPECT_NE(check.out.find("85s"), std::string::npos) << check.out;
  expect_problem(gateway.call(keyed_call("lck-01")), "in-flight");
  gateway.upstream.let_go();
  const Response first = slow.get();
  expect_executed(first, 201);
  expect_same_answer(gateway.call(keyed_call("lck-01")), first);
  expect_one_effect(gateway);
}

TEST(ReportedCases, LCK_04_APassedTimeLimitFreesAnIdempotentCallAndNeverAnEffectfulOne) {
  GatewayOptions options;
  CaseRoute withdraw;
  withdraw.more = "    timeout: 400ms\n";
  CaseRoute limit = withdraw;
  limit.match = "{methods: [PUT], path: /limit}";
  limit.policy = "IDEMPOTENT";
  limit.more += "    retry: off\n";
  options.routes = "routes:\n" + route_text("withdraw", withdraw) + route_text("limit", limit);
  Gateway gateway(options);
  gateway.upstream.script(commits_and_hangs());
  Request set_limit = keyed_call("lck-04-b", R"({"l":1})", "/limit");
  set_limit.method = "PUT";
  expect_problem(gateway.call(keyed_call("lck-04-a")), "indeterminate");
  expect_problem(gateway.call(set_limit), "upstream-timeout");
  gateway.upstream.script(commits_and_answers(200, "{}"));
  expect_problem(gateway.call(keyed_call("lck-04-a")), "indeterminate");
  expect_executed(gateway.call(set_limit), 200);
  EXPECT_EQ(gateway.upstream.requests(), 3);
}

TEST(ReportedCases, LCK_05_EveryKindOfAnswerEndsTheClaim) {
  struct Row {
    const char* kind;
    int status;
    std::string answer;
    Then then;
  };
  const Row rows[] = {
      {"text", 200, response_text(200, "plain", {{"Content-Type", "text/plain"}}), Then::Keep},
      {"empty", 204, response_text(204, "", {}), Then::Keep},
      {"file", 200, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\nto the end",
       Then::Finish},
      {"redirect", 303, response_text(303, "", {{"Location", "/elsewhere"}}), Then::Keep},
      {"zero", 200, response_text(200, "", {}), Then::Keep},
  };
  CaseRoute route;
  route.match = "{methods: [POST], path: \"/kinds/{kind}\"}";
  route.more = "    wait: 0ms\n";
  Gateway gateway(one_route(route));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kind);
    const std::string kind = row.kind;
    gateway.upstream.script(commits_and_sends(row.answer, row.then));
    const Request request = keyed_call("lck-05-" + kind, "{}", "/kinds/" + kind);
    const Response first = gateway.call(request);
    expect_executed(first, row.status);
    const Response again = gateway.call(request);
    expect_same_answer(again, first);
    EXPECT_EQ(again.header("Location"), first.header("Location"));
  }
  EXPECT_EQ(gateway.upstream.requests(), static_cast<int>(std::size(rows)))
      << "a redirect is the client's to follow";
}

TEST(ReportedCases, LCK_08_AProcessKilledWhileItConnectsBlocksItsKeyForNoDay) {
  auto hole = std::make_unique<Blackhole>();
  const std::uint16_t port = hole->port();
  GatewayOptions options = one_route({});
  options.store = StoreKind::Sqlite;
  options.upstream_endpoint = endpoint_of(port);
  options.upstream_more = "    connect_timeout: 20s\n";
  Gateway gateway(options);
  std::future<Response> cut = gateway.begin(keyed_call("lck-08"));
  ASSERT_TRUE(eventually([&] {
    return gateway.semel.metric("semel_store_operation_duration_seconds_count",
                                {{"operation", "claim"}}) >= 1;
  }));
  gateway.semel.kill9();
  EXPECT_FALSE(cut.get().is_complete());
  hole.reset();
  const ScriptedUpstream tool(port);
  gateway.semel.start();
  // The record does not say whether a byte had left, so the start after a crash makes it unknown
  // (guarantee 7): an answer at once, and never a second call.
  expect_problem(gateway.call(keyed_call("lck-08")), "indeterminate");
  EXPECT_EQ(tool.requests(), 0);
  expect_executed(gateway.call(keyed_call("lck-08-other")), 200);
}

}  // namespace
}  // namespace semel::testing
