// Reported cases of statuses, stores, windows and what is counted: docs/reported-cases.md tells
// each in a line.

#include "tests/e2e/cases.h"
#include "tests/e2e/expect_metric.h"
#include "tests/e2e/faulty_disk.h"

namespace semel::testing {
namespace {

TEST(ReportedCases, ERR_01_A429IsRelayedAndNotKept) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(one_after_another(
      {[](Turn& turn) { turn.send(response_text(429, "", {{"Retry-After", "1"}})); },
       commits_and_answers(201, R"({"id":"b_1"})")}));
  const Response refused = gateway.call(keyed_call("err-01"));
  expect_executed(refused, 429);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  const Response second = gateway.call(keyed_call("err-01"));
  expect_executed(second, 201);
  expect_same_answer(gateway.call(keyed_call("err-01")), second);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(ReportedCases, ERR_03_AnOpenBreakerFreesTheKeyOnlyWhereTheOperatorSaysSo) {
  for (const bool is_listed : {true, false}) {
    SCOPED_TRACE(is_listed ? "release_on: [503]" : "defaults");
    CaseRoute route;
    if (is_listed) route.more = "    record: {release_on: [503]}\n";
    Gateway gateway(one_route(route));
    gateway.upstream.script(one_after_another(
        {answers(503, R"({"error":"breaker open"})"), commits_and_answers(201, R"({"tx":"t"})")}));
    EXPECT_EQ(gateway.call(keyed_call("err-03")).status, 503);
    const Response second = gateway.call(keyed_call("err-03"));
    if (is_listed) {
      expect_executed(second, 201);
    } else {
      expect_problem(second, "indeterminate");
    }
    EXPECT_EQ(gateway.upstream.requests(), is_listed ? 2 : 1);
    EXPECT_EQ(gateway.upstream.effects(), is_listed ? 1 : 0);
  }
}

TEST(ReportedCases, ERR_05_ARefusedTokenIsNotKeptAgainstAFreshOne) {
  CaseRoute route;
  route.key = "{tenant: {header: X-Tenant}}";
  Gateway gateway(one_route(route));
  gateway.upstream.script([](Turn& turn) {
    if (turn.request().all("Authorization") == std::vector<std::string>{"Bearer expired"}) {
      return turn.send(response_text(401, "{}"));
    }
    turn.commit();
    turn.send(response_text(201, "{}"));
  });
  const auto with_token = [](const char* token) {
    Request request = keyed_call("err-05");
    request.headers.emplace_back("Authorization", token);
    request.headers.emplace_back("X-Tenant", "t1");
    return request;
  };
  expect_executed(gateway.call(with_token("Bearer expired")), 401);
  expect_executed(gateway.call(with_token("Bearer fresh")), 201);
  EXPECT_EQ(gateway.upstream.requests(), 2);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(ReportedCases, STO_01_WithTheStoreDownNoPayrollRunsAndReadsGoOn) {
  const FaultyDisk disk;
  GatewayOptions options;
  CaseRoute finalize;
  finalize.match = "{methods: [POST], path: /payroll/finalize}";
  options.routes = "routes:\n" + route_text("finalize", finalize) + R"(
  - name: read
    match: {methods: [GET], path: "/payroll/{id}"}
    upstream: tool
    policy: READ_ONLY
)";
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  const Request payroll = keyed_call("sto-01", R"({"m":1})", "/payroll/finalize");
  disk.fail("pwrite ENOSPC\n");
  expect_problem(gateway.call(payroll), "store-unavailable");
  EXPECT_EQ(gateway.upstream.requests(), 0);
  EXPECT_EQ(gateway.call({"GET", "/payroll/1", {}, {}}).status, 200);
  disk.heal();
  Response later;
  EXPECT_TRUE(eventually([&] {
    later = gateway.call(payroll);
    return later.status != 503;
  }));
  expect_executed(later, 200);
  EXPECT_EQ(gateway.upstream.requests(), 2) << "one POST and one GET";
}

TEST(ReportedCases, STO_06_TheMemoryStoreForgetsAtARestartAndSaysSo) {
  struct Row {
    const char* name;
    StoreKind store;
    int requests;
  };
  for (const auto& [name, store, requests] :
       {Row{"memory", StoreKind::Memory, 2}, {"sqlite", StoreKind::Sqlite, 1}}) {
    SCOPED_TRACE(name);
    GatewayOptions options = one_route({});
    options.store = store;
    Gateway gateway(options);
    const Response first = gateway.call(keyed_call("sto-06"));
    expect_executed(first, 200);
    const bool warns =
        gateway.semel.stderr_text().find("a restart forgets every key") != std::string::npos;
    EXPECT_EQ(warns, store == StoreKind::Memory) << gateway.semel.stderr_text();
    gateway.semel.restart();
    const Response second = gateway.call(keyed_call("sto-06"));
    if (store == StoreKind::Memory) {
      expect_executed(second, 200);
    } else {
      expect_same_answer(second, first);
    }
    EXPECT_EQ(gateway.upstream.requests(), requests);
  }
}

/// A window of three seconds; the lease is shorter.
CaseRoute short_lived() {
  CaseRoute route;
  route.more =
      "    retention: 3s\n    dispatch_by: 1s\n    timeout: 500ms\n    settle: 200ms\n"
      "    lease_margin: 200ms\n    wait: 0ms\n";
  return route;
}

TEST(ReportedCases, RET_01_AfterTheWindowTheKeyIsFreeInEveryStoreAlike) {
  GatewayOptions options = one_route(short_lived());
  Gateway memory(options);
  options.store = StoreKind::Sqlite;
  Gateway sqlite(options);
  for (Gateway* gateway : {&memory, &sqlite}) {
    SCOPED_TRACE(gateway == &memory ? "memory" : "sqlite");
    const Response first = gateway->call(keyed_call("ret-01"));
    expect_executed(first, 200);
    expect_same_answer(gateway->call(keyed_call("ret-01")), first);
    EXPECT_EQ(gateway->upstream.requests(), 1);
  }
  for (Gateway* gateway : {&memory, &sqlite}) {
    SCOPED_TRACE(gateway == &memory ? "memory" : "sqlite");
    EXPECT_TRUE(eventually([&] {
      return gateway->call(keyed_call("ret-01")).header("Idempotency-Status") == "executed";
    }));
    EXPECT_EQ(gateway->upstream.requests(), 2);
    EXPECT_GE(gateway->semel.metric("semel_records_expired_total") +
                  gateway->semel.metric("semel_expired_reruns_total"),
              1)
        << "the expiry is counted";
  }
}

/// Expects that so many calls of the case's route ended with that outcome.
void expect_counted(const Gateway& gateway, const char* outcome, double count) {
  expect_metric(gateway, "semel_requests_total", {{"route", "case"}, {"outcome", outcome}}, count);
}

TEST(ReportedCases, MET_01_ExecutedReplayedRefusedAndUnknownCallsAreToldApart) {
  const FaultyDisk disk;
  GatewayOptions options = one_route(short_lived());
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  gateway.upstream.script(
      one_after_another({[](Turn& turn) {
                           turn.commit();
                           turn.wait_for_step(1);
                           turn.send(response_text(201, "{}"));
                         },
                         commits_and_sends("", Then::Reset), commits_and_answers(201, "{}")}));
  std::future<Response> first = gateway.begin(keyed_call("met-slow"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  expect_problem(gateway.call(keyed_call("met-slow")), "in-flight");
  gateway.upstream.step();
  expect_executed(first.get(), 201);
  expect_replay(gateway.call(keyed_call("met-slow")), 201, "{}");
  expect_problem(gateway.call(keyed_call("met-slow", R"({"amount":1})")), "key-reused");
  expect_problem(gateway.call(keyed_call("met-reset")), "indeterminate");
  expect_problem(gateway.call(keyed_call("met-reset")), "indeterminate");
  disk.fail("pwrite ENOSPC\n");
  expect_problem(gateway.call(keyed_call("met-down")), "store-unavailable");
  disk.heal();
  EXPECT_TRUE(eventually([&] { return gateway.semel.metric("semel_records_expired_total") >= 1; }))
      << "the window of the first record has passed";
  expect_counted(gateway, "executed", 1);
  expect_counted(gateway, "replayed", 1);
  expect_counted(gateway, "in-flight", 1);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 1)
      << "one effect, asked about twice";
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_records"), 1);
  EXPECT_GE(gateway.semel.metric("semel_store_errors_total"), 1);
  EXPECT_EQ(gateway.upstream.requests(), 2) << "replays and refusals are no calls of the tool";
  const std::string page = fetch(gateway.semel.metrics_port(), "/metrics").body;
  for (const char* word : {"met-slow", "met-reset", "met-down", "acme"}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace semel::testing
