// `limits.new_keys_per_tenant`: new calls of one tenant in one minute.
#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

HeaderLines run(int number) { return {{"X-Run-Id", "run-" + std::to_string(number)}}; }

/// Calls until one is refused. @return how many were let through; the refusal is in `refused`.
int calls_until_refused(const Gateway& gateway, int first_run, int at_most, Response& refused) {
  for (int made = 0; made < at_most; ++made) {
    refused = gateway.book(kBooking, run(first_run + made));
    if (refused.status != 201) return made;
  }
  return at_most;
}

TEST(Quota, NewCallsBeyondItAreRefusedAndRepetitionsAreNot) {
  GatewayOptions options;
  options.more = "limits: {new_keys_per_tenant: 3}\n";
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers(201, "{}"));
  Response refused;
  // A minute may end on the way: then three more are let through, once.
  const int made = calls_until_refused(gateway, 0, 7, refused);
  EXPECT_TRUE(made == 3 || made == 6 || made == 4 || made == 5) << made;
  expect_problem(refused, "quota");
  expect_verdict(refused, "EFFECTFUL", "book", "false");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("x-should-retry"), "true");
  const int seconds = std::stoi(refused.header("Retry-After").value_or("0"));
  EXPECT_GE(seconds, 1);
  EXPECT_LE(seconds, 60);
  EXPECT_EQ(gateway.upstream.effects(), made);

  const Response repeated = gateway.book(kBooking, run(0));
  EXPECT_EQ(repeated.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.book(kBooking, {{"X-Tenant-Id", "globex"}}).status, 201)
      << "another tenant has a quota of its own";
}

TEST(Quota, ACallThatTookNoKeyIsNotCounted) {
  GatewayOptions options;
  options.more = "limits: {new_keys_per_tenant: 2}\n";
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers(201, "{}"));
  ASSERT_EQ(gateway.book(kBooking, run(1)).status, 201);
  for (int repetition = 0; repetition < 5; ++repetition) {
    EXPECT_EQ(gateway.book(kBooking, run(1)).header("Idempotency-Status"), "replayed");
  }
  EXPECT_EQ(gateway.book(kBooking, run(2)).status, 201);
}

}  // namespace
}  // namespace semel::testing
