// A record is kept as long as the route of today asks for, if that is longer than when it was made.

#include "tests/e2e/expect_metric.h"
#include "tests/e2e/housekeeping.h"

namespace semel::testing {
namespace {

/// `/tools/book` with a lease of less than two seconds.
GatewayOptions with_retention(const std::string& retention) {
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    dispatch_by: 1s
    timeout: 300ms
    stream_timeout: 300ms
    settle: 100ms
    lease_margin: 100ms
    retention: )" + retention +
                   kToolKey;
  return options;
}

// Between two rounds of housekeeping lies a second: after four, a window of two seconds is over.
constexpr int kRoundsOfTwoSeconds = 4;

TEST(Window, ARecordIsErasedWhenItsWindowIsOver) {
  Gateway gateway(with_retention("2s"));
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  await_sweeps(gateway, kRoundsOfTwoSeconds);
  expect_metric(gateway, "semel_records_expired_total", {}, 1);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
}

TEST(Window, ALongerOneOfTodayKeepsWhatWasRecordedUnderAShorterOne) {
  Gateway gateway(with_retention("2s"));
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  gateway.rewrite(with_retention("24h"));
  gateway.semel.restart();
  for (int start = 0; start < 2; ++start) {
    await_sweeps(gateway, kRoundsOfTwoSeconds);
    EXPECT_EQ(gateway.semel.metric("semel_records_expired_total"), 0);
    EXPECT_EQ(gateway.book().header("Idempotency-Status"), "replayed");
    gateway.semel.restart();
  }
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

}  // namespace
}  // namespace semel::testing
