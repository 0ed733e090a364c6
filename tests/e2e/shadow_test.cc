// `mode: shadow`: what a route would do is watched and written down; no client waits or is refused.
#include <gtest/gtest.h>

#include "tests/e2e/expect_metric.h"
#include "tests/e2e/faulty_disk.h"
#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/reloading.h"
#include "tests/support/deadline.h"

namespace semel::testing {
namespace {

std::string hasty_route(const std::string& more) {
  return booking_route("\n    timeout: 2s" + more);
}

GatewayOptions shadowed(StoreKind store = StoreKind::Memory, std::string folder = {}) {
  GatewayOptions options;
  options.store = store;
  options.store_folder = std::move(folder);
  options.routes = hasty_route("\n    mode: shadow");
  return options;
}

double duplicates(const Gateway& gateway, const std::string& outcome) {
  return gateway.semel.metric("semel_shadow_duplicates_total",
                              {{"route", "book"}, {"outcome", outcome}});
}

bool counts(const Gateway& gateway, const std::string& outcome, double expected) {
  return eventually([&] { return duplicates(gateway, outcome) == expected; });
}

/// A shadow's first record is written beside the answer, which does not wait for it.
void await_record(const Gateway& gateway) {
  expect_metric(gateway, "semel_store_operation_duration_seconds_count", {{"operation", "record"}},
                1);
}

/// An answer as a plain route gives it.
void expect_untouched(const Response& response, int status) {
  EXPECT_EQ(response.status, status);
  EXPECT_EQ(response.header("Idempotency-Status"), std::nullopt);
  EXPECT_EQ(response.header("Idempotency-Ref"), std::nullopt);
  EXPECT_EQ(response.header("x-should-retry"), std::nullopt);
}

TEST(Shadow, DuplicatesAreForwardedAndCounted) {
  Gateway gateway(shadowed());
  gateway.upstream.script(commits_and_answers(201, R"({"id":"b-1"})"));
  for (int call = 1; call <= 3; ++call) {
    expect_untouched(gateway.book(kBooking, {{"Idempotency-Key", "mine"}}), 201);
    await_record(gateway);
    EXPECT_TRUE(counts(gateway, "replayed", call - 1));
    EXPECT_EQ(gateway.upstream.last_received().all("Idempotency-Key"),
              std::vector<std::string>{"mine"});
  }
  EXPECT_EQ(gateway.upstream.effects(), 3);
  EXPECT_EQ(gateway.semel.metric("semel_duplicates_suppressed_total"), 0);
  expect_metric(gateway, "semel_requests_total", {{"outcome", "passed"}}, 3);
}

TEST(Shadow, ADuplicateOfACallInFlightDoesNotWaitForIt) {
  Gateway gateway(shadowed());
  gateway.upstream.script(one_after_another({[](Turn& turn) {
                                               turn.wait_until_let_go();
                                               turn.send(response_text(201, "{}"));
                                             },
                                             commits_and_answers(202, "{}")}));
  std::future<Response> first = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  expect_untouched(gateway.book(), 202);
  EXPECT_TRUE(counts(gateway, "in-flight", 1));
  gateway.upstream.let_go();
  expect_untouched(first.get(), 201);
}

TEST(Shadow, WhatCannotBeKeyedStreamsThroughAndIsCounted) {
  Gateway gateway(shadowed());
  gateway.upstream.script(commits_and_answers(201, "{}"));
  const std::string too_long(2 * 1024 * 1024, ' ');
  Request no_tenant = Gateway::tool_request("/tools/book");
  std::erase_if(no_tenant.headers, [](const auto& line) { return line.first == "X-Tenant-Id"; });
  const std::vector<std::pair<std::string, Request>> rows = {
      {"no tenant", no_tenant},
      {"a name twice", Gateway::tool_request("/tools/book", R"({"flight":1,"flight":2})")},
      {"no JSON", Gateway::tool_request("/tools/book", "{")},
      {"another type", Gateway::tool_request("/tools/book", "x", {{"Content-Type", "text/plain"}})},
      {"two tenants", Gateway::tool_request("/tools/book", kBooking,
                                            {{"X-Tenant-Id", "a"}, {"X-Tenant-Id", "b"}})},
      {"too long", Gateway::tool_request("/tools/book", kBooking + too_long)},
  };
  double unkeyed = 0;
  for (const auto& [name, request] : rows) {
    SCOPED_TRACE(name);
    expect_untouched(gateway.call(request), 201);
    unkeyed += 1;
    EXPECT_TRUE(
        eventually([&] { return gateway.semel.metric("semel_shadow_unkeyed_total") == unkeyed; }));
    EXPECT_EQ(gateway.upstream.last_received().body, request.body);
  }
  EXPECT_EQ(gateway.upstream.requests(), static_cast<int>(rows.size()));
}

TEST(Shadow, ABodyThatStreamsIsKeyedWhenItIsWhole) {
  Gateway gateway(shadowed());
  gateway.upstream.script(commits_and_answers(201, "{}"));
  const std::string long_tail = R"(,"note":")" + std::string(100'000, 'n') + "\"}";
  const std::string body = R"({"flight":"BA117","seats":2,"name":"Zoe")" + long_tail;
  expect_untouched(gateway.book(body), 201);
  await_record(gateway);
  // The named fields alone count: a short body with the same ones is the same call.
  expect_untouched(gateway.book(), 201);
  EXPECT_TRUE(counts(gateway, "replayed", 1));
  EXPECT_EQ(gateway.upstream.received(1).body, body);
}

TEST(Shadow, ItsRecordsAreTrue) {
  TempFolder folder;
  const HeaderLines failed = {{"X-Run-Id", "failed"}};
  const HeaderLines refused = {{"X-Run-Id", "refused"}};
  {
    Gateway gateway(shadowed(StoreKind::Sqlite, folder.path().string()));
    gateway.upstream.script(commits_and_answers(201, R"({"id":"b-1"})"));
    expect_untouched(gateway.book(), 201);
    gateway.upstream.script(commits_and_answers(500, "{}"));
    expect_untouched(gateway.book(kBooking, failed), 500);
    gateway.upstream.script(answers(422, "{}"));
    expect_untouched(gateway.book(kBooking, refused), 422);
    ASSERT_TRUE(eventually([&] {
      return gateway.semel.metric("semel_store_operation_duration_seconds_count",
                                  {{"operation", "release"}}) == 1;
    }));
    gateway.semel.sigterm();
    ASSERT_TRUE(gateway.semel.wait());
  }
  GatewayOptions enforced = shadowed(StoreKind::Sqlite, folder.path().string());
  enforced.routes = hasty_route("");
  Gateway gateway(enforced);
  gateway.upstream.script(commits_and_answers(201, R"({"id":"b-2"})"));
  const Response replay = gateway.book();
  EXPECT_EQ(replay.body, R"({"id":"b-1"})");
  EXPECT_EQ(replay.header("Idempotency-Status"), "replayed");
  expect_problem(gateway.book(kBooking, failed), "indeterminate");
  EXPECT_EQ(gateway.book(kBooking, refused).header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Shadow, ACallOfTheKeyVersionThatWasEnforcedIsADuplicateToo) {
  GatewayOptions options = shadowed(StoreKind::Sqlite);
  options.routes = hasty_route("");
  Gateway gateway(options);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  options.routes = replaced(replaced(hasty_route("\n    mode: shadow"), ", /name", ""),
                            "key:", "key:\n      version: 2");
  gateway.rewrite(options);
  gateway.semel.kill9();
  gateway.semel.start({"--acknowledge", "book"});
  expect_untouched(gateway.book(), 200);
  EXPECT_TRUE(counts(gateway, "replayed", 1));
}

TEST(Shadow, ACallThatEndsInSilenceIsRecordedAsUnknown) {
  Gateway gateway(shadowed());
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.reset();
  });
  EXPECT_EQ(gateway.book().status, 502);
  ASSERT_TRUE(eventually([&] { return gateway.semel.metric("semel_indeterminate_records") == 1; }));
  gateway.upstream.script(commits_and_answers(201, "{}"));
  expect_untouched(gateway.book(), 201);
  EXPECT_TRUE(counts(gateway, "indeterminate", 1));
}

TEST(Shadow, AStoreThatHangsHoldsNobodyUp) {
  const FaultyDisk disk;
  GatewayOptions options = shadowed(StoreKind::Sqlite);
  options.environment = disk.environment();
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers(201, "{}"));
  disk.hang();
  for (int call = 0; call < 10; ++call) expect_untouched(gateway.book(), 201);
  disk.heal();
  // Had the calls waited for the store, each of them would have waited for its deadline of 1 s.
  double shortest = 1e9;
  for (const Json& line : gateway.semel.access_log(10)) {
    shortest = std::min(shortest, std::stod(line["duration_us"].text()));
  }
  EXPECT_LT(shortest, 1e6);
  EXPECT_EQ(gateway.upstream.effects(), 10);
}

}  // namespace
}  // namespace semel::testing
