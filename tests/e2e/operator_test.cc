// The operator's word on unknown outcomes, by HTTP: spec 6 (the rows of the operator) and 11.
#include "tests/e2e/operator.h"

#include <gtest/gtest.h>

#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

constexpr char kDidNotHappen[] = R"({"decision":"did_not_happen"})";
constexpr char kHappened[] = R"({"decision":"happened"})";

std::string slug_of(const Response& response) {
  EXPECT_EQ(response.header("Content-Type"), "application/problem+json");
  return std::to_string(response.status) + " " + problem_slug(response);
}

TEST(Operator, FindsAnUnknownOutcomeByItsReference) {
  OperatedGateway operated;
  const std::string reference = operated.make_unknown("/tools/brief");
  const Response shown = operated.ask("GET", "/v1/records/" + reference);
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(shown.header("Cache-Control"), "no-store");
  const Json record = Json::parse(shown.body);
  EXPECT_EQ(record["reference"].text(), reference);
  EXPECT_EQ(record["state"].text(), "indeterminate");
  EXPECT_EQ(record["reason"].text(), "timeout");
  EXPECT_EQ(record["route"].text(), "brief");
  EXPECT_EQ(record["tenant"].text(), "acme");
  const std::string key = operated.gateway.upstream.received(1).all("Idempotency-Key").at(0);
  EXPECT_EQ(record["key"].text(), key.substr(0, 8));
  const Json list = Json::parse(operated.ask("GET", "/v1/records?state=indeterminate").body);
  ASSERT_EQ(list["records"].items().size(), 1U);
  EXPECT_EQ(list["records"].items()[0]["reference"].text(), reference);
  EXPECT_EQ(list["next"].kind(), Json::Kind::Null);
}

TEST(Operator, WhatHappenedIsReplayedAsTheOperatorSaysItWas) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    OperatedGateway operated({.store = store});
    const std::string reference = operated.make_unknown("/tools/brief");
    const Response resolved = operated.resolve(
        reference,
        R"({"decision":"happened","operator":"kim","note":"in the ledger","response":)"
        R"({"status":201,"headers":[["Content-Type","application/json"],["X-Seat","1A"],)"
        R"(["x-seat","1B"]],"body":"{\"id\":\"b-7\"}"}})");
    ASSERT_EQ(resolved.status, 200) << resolved.body;
    EXPECT_EQ(Json::parse(resolved.body)["state"].text(), "completed");
    if (store == StoreKind::Sqlite) {
      operated.gateway.semel.kill9();  // The operator's word is as durable as an answer.
      operated.gateway.semel.start();
    }
    for (int call = 1; call <= 2; ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const Response replay = operated.gateway.call_tool("/tools/brief");
      EXPECT_EQ(replay.status, 201);
      EXPECT_EQ(replay.body, R"({"id":"b-7"})");
      EXPECT_EQ(replay.header("Content-Type"), "application/json");
      EXPECT_EQ(replay.all("X-Seat"), (std::vector<std::string>{"1A", "1B"}));
      EXPECT_EQ(replay.header("Idempotent-Replayed"), "true");
      EXPECT_EQ(replay.header("Idempotency-Ref"), reference);
    }
    EXPECT_EQ(operated.gateway.upstream.effects(), 1);
  }
}

TEST(Operator, WhatHappenedWithoutAnAnswerIsNotRunAgainEither) {
  OperatedGateway operated;
  const std::string reference = operated.make_unknown("/tools/brief");
  ASSERT_EQ(operated.resolve(reference, kHappened).status, 200);
  const Response later = operated.gateway.call_tool("/tools/brief");
  expect_problem(later, "result-not-kept");
  EXPECT_TRUE(Json::parse(later.body)["original_status"].is_absent()) << "nobody knows it";
  EXPECT_EQ(operated.gateway.semel.metric("semel_resolutions_total", {{"decision", "happened"}}),
            1);
  EXPECT_EQ(slug_of(operated.resolve(reference, kDidNotHappen)), "409 not-indeterminate");
  EXPECT_EQ(operated.gateway.upstream.effects(), 1);
}

TEST(Operator, WhatMayStillHappenIsNotSetFree) {
  OperatedGateway operated;
  const std::string reference = operated.make_unknown("/tools/brief");
  const Response alive = operated.resolve(reference, kDidNotHappen);
  EXPECT_EQ(slug_of(alive), "409 attempt-alive");
  const std::string after = alive.header("Retry-After").value_or("0");
  EXPECT_GE(std::stoi(after), 1) << after;
  EXPECT_LE(std::stoi(after), 67) << "the lease: 3 s + 0.7 s + 0.7 s + 60 s + 2 s";
  expect_problem(operated.gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_EQ(operated.gateway.upstream.effects(), 1);
}

TEST(Operator, AnAttemptThatSemelListensToNoMoreIsAliveUntilItsLeaseEnds) {
  GatewayOptions options;
  options.routes = tool_routes() + R"(
  - name: deaf
    match: {methods: [POST], path: /tools/deaf}
    upstream: tool
    policy: EFFECTFUL
    timeout: 200ms
    settle: 100ms
    lease_margin: 5m)" +
                   kToolKey;
  OperatedGateway operated(options);
  const std::string reference = operated.make_unknown("/tools/deaf");
  ASSERT_TRUE(eventually([&] { return operated.gateway.upstream.open_connections() == 0; }))
      << "its time to settle is over";
  EXPECT_EQ(slug_of(operated.resolve(reference, kDidNotHappen)), "409 attempt-alive")
      << "that Semel closed the connection says nothing about the tool";
  EXPECT_EQ(operated.gateway.upstream.effects(), 1);
}

TEST(Operator, WhatDidNotHappenRunsWithTheNextCallUnderANewReference) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    OperatedGateway operated({.store = store});
    const std::string reference = operated.make_unknown("/tools/quick");
    const Response freed = operated.set_free(reference);
    ASSERT_EQ(freed.status, 200) << freed.body;
    EXPECT_EQ(Json::parse(freed.body)["state"].text(), "absent");
    EXPECT_EQ(slug_of(operated.ask("GET", "/v1/records/" + reference)), "404 no-record");
    operated.gateway.upstream.script(commits_and_answers(201, R"({"id":"b-1"})"));
    const Response next = operated.gateway.call_tool("/tools/quick");
    EXPECT_EQ(next.status, 201);
    EXPECT_EQ(next.header("Idempotency-Status"), "executed");
    EXPECT_NE(next.header("Idempotency-Ref"), reference);
    EXPECT_EQ(slug_of(operated.resolve(reference, kHappened)), "409 not-current");
    EXPECT_EQ(operated.gateway.call_tool("/tools/quick").header("Idempotency-Status"), "replayed");
    EXPECT_EQ(operated.gateway.upstream.requests(), 2);
    EXPECT_EQ(
        operated.gateway.semel.metric("semel_resolutions_total", {{"decision", "did_not_happen"}}),
        1);
  }
}

TEST(Operator, AnAttemptWhoseConnectionIsGoneIsSetFreeAtOnce) {
  OperatedGateway operated;
  operated.gateway.upstream.script(commits_and_sends("", Then::Finish));
  const Response cut = operated.gateway.book();
  expect_problem(cut, "indeterminate");
  EXPECT_EQ(operated.resolve(*cut.header("Idempotency-Ref"), kDidNotHappen).status, 200);
}

TEST(Operator, AForgottenTenantsCallsRunAgainButForTheUnknownOnes) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    OperatedGateway operated({.store = store});
    const HeaderLines theirs = {{"X-Tenant-Id", "acme & co/7"}};
    operated.gateway.upstream.script(commits_and_answers(201, R"({"name":"Zoe"})"));
    EXPECT_EQ(operated.gateway.book(kBooking, theirs).status, 201);
    EXPECT_EQ(operated.gateway.book().status, 201);  // Another tenant's.
    const std::string reference = operated.make_unknown("/tools/brief", theirs);
    const Response forgotten = operated.ask("DELETE", "/v1/tenants/acme%20%26%20co%2F7/records");
    ASSERT_EQ(forgotten.status, 200) << forgotten.body;
    EXPECT_EQ(Json::parse(forgotten.body)["forgotten"].text(), "2");
    operated.gateway.upstream.script(commits_and_answers(201, "{}"));
    EXPECT_EQ(operated.gateway.book(kBooking, theirs).header("Idempotency-Status"), "executed");
    EXPECT_EQ(operated.gateway.book().header("Idempotency-Status"), "replayed");
    const Response unknown = operated.gateway.call_tool("/tools/brief", kBooking, theirs);
    expect_problem(unknown, "indeterminate");
    EXPECT_EQ(unknown.header("Idempotency-Ref"), reference);
    const Json tombstone = Json::parse(operated.ask("GET", "/v1/records/" + reference).body);
    EXPECT_EQ(tombstone["state"].text(), "indeterminate");
    EXPECT_EQ(tombstone["tenant"].text(), "");
    // An operator's answer to it is kept without its payload.
    ASSERT_EQ(
        operated
            .resolve(reference, R"({"decision":"happened","response":{"status":201,"body":"Zoe"}})")
            .status,
        200);
    expect_problem(operated.gateway.call_tool("/tools/brief", kBooking, theirs), "result-not-kept");
    EXPECT_EQ(operated.gateway.upstream.effects(), 4);
  }
}

TEST(Operator, ASuspectStoreIsAcknowledgedWhileItIsServed) {
  OperatedGateway operated({.store = StoreKind::Sqlite});
  SemelProcess& semel = operated.gateway.semel;
  EXPECT_EQ(operated.gateway.book().status, 200);
  const std::vector<std::string> command = {semel_binary(), "store", "acknowledge",
                                            semel.config_file()};
  const Finished nothing = run(command);
  ASSERT_TRUE(nothing.exit);
  EXPECT_EQ(nothing.exit->code, 0) << nothing.err;
  EXPECT_NE(nothing.out.find("nothing to acknowledge"), std::string::npos) << nothing.out;
  semel.sigterm();
  ASSERT_TRUE(semel.wait());
  // The same bytes in another file: a copy, as far as anybody can tell.
  const std::string copy = semel.store_file() + ".copy";
  std::filesystem::copy_file(semel.store_file(), copy);
  std::filesystem::rename(copy, semel.store_file());
  semel.start_not_ready("the store is suspect");
  const HeaderLines other = {{"X-Run-Id", "run-8"}};
  expect_problem(operated.gateway.book(kBooking, other), "store-suspect");
  const Finished word = run(command);
  ASSERT_TRUE(word.exit);
  EXPECT_EQ(word.exit->code, 0) << word.err;
  EXPECT_NE(word.out.find("acknowledged"), std::string::npos) << word.out;
  EXPECT_EQ(semel.metric("semel_store_suspect"), 0);
  EXPECT_EQ(operated.gateway.book(kBooking, other).header("Idempotency-Status"), "executed");
  const std::vector<Json> lines = operated.audit();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["action"].text(), "acknowledge");
  EXPECT_EQ(lines[0]["result"].text(), "not_suspect");
  EXPECT_EQ(lines[1]["result"].text(), "done");
}

TEST(Operator, AnUnknownOutcomeIsForgottenWhenItsWindowEndsAndThatIsCounted) {
  OperatedGateway operated({}, "\n    retention: 2s\n    indeterminate_retention: 3s");
  const std::string reference = operated.make_unknown("/tools/quick");
  expect_problem(operated.gateway.call_tool("/tools/quick"), "indeterminate");
  operated.gateway.upstream.script(commits_and_answers(201, "{}"));
  Response last;
  ASSERT_TRUE(eventually([&] {
    last = operated.gateway.call_tool("/tools/quick");
    return last.status != 409;
  }));
  EXPECT_EQ(last.status, 201);
  EXPECT_EQ(last.header("Idempotency-Status"), "executed");
  EXPECT_NE(last.header("Idempotency-Ref"), reference);
  EXPECT_EQ(operated.gateway.upstream.effects(), 2);
  // Erased by the sweep, or found expired by the call, whichever came first.
  EXPECT_TRUE(eventually([&] {
    return operated.gateway.semel.metric("semel_records_expired_total") +
               operated.gateway.semel.metric("semel_expired_reruns_total") ==
           1;
  }));
}

}  // namespace
}  // namespace semel::testing
