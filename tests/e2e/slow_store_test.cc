#include <gtest/gtest.h>

#include "tests/e2e/faulty_disk.h"
#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

constexpr milliseconds kSync{3'000};  // What one sync takes; the store's deadline is 1 s.

struct SlowCall {
  std::string run;
  Response answer;
};

std::future<SlowCall> begin_call(const Gateway& gateway, const std::string& run) {
  return std::async(std::launch::async, [&gateway, run] {
    return SlowCall{run, gateway.book(kBooking, {{"X-Run-Id", run}})};
  });
}

TEST(SlowStore, RefusesInTimeAndLeavesNothingUnknownThatWasNotDispatched) {
  const FaultyDisk disk;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  std::vector<SlowCall> refused;
  for (int wave = 1; wave <= 6; ++wave) {
    // At first it answers nothing at all: whoever is refused was not waiting for it.
    wave == 1 ? disk.hang() : disk.delay(kSync);
    std::vector<std::future<SlowCall>> calls;
    for (int i = 1; i <= 8; ++i) {
      calls.push_back(begin_call(gateway, std::to_string(wave) + "-" + std::to_string(i)));
    }
    for (auto& call : calls) refused.push_back(call.get());
  }
  for (const SlowCall& call : refused) {
    SCOPED_TRACE("run " + call.run);
    expect_problem(call.answer, "store-unavailable");
    expect_verdict(call.answer, "EFFECTFUL", "book", "false");
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << "a claim whose answer is unknown is not dispatched";
  disk.heal();
  ASSERT_TRUE(
      eventually([&] { return gateway.book(kBooking, {{"X-Run-Id", "healed"}}).status == 200; }));
  for (const SlowCall& call : refused) {
    SCOPED_TRACE("run " + call.run);
    const HeaderLines run = {{"X-Run-Id", call.run}};
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), "executed");
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), "replayed");
  }
  EXPECT_EQ(gateway.upstream.effects(), static_cast<int>(refused.size()) + 1);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_records"), 0);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
}

TEST(SlowStore, TellsWhatWasDispatchedBeforeAndRecordsItLater) {
  const FaultyDisk disk;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(201, "booked"));
  });
  std::vector<std::future<SlowCall>> calls;
  for (int i = 1; i <= 4; ++i) calls.push_back(begin_call(gateway, std::to_string(i)));
  ASSERT_TRUE(gateway.upstream.sees_effects(4));
  disk.delay(kSync);
  gateway.upstream.let_go();
  for (auto& pending : calls) {
    const SlowCall call = pending.get();
    SCOPED_TRACE("run " + call.run);
    EXPECT_EQ(call.answer.status, 201);
    EXPECT_EQ(call.answer.header("Idempotency-Status"), "unrecorded");
  }
  disk.heal();
  for (int i = 1; i <= 4; ++i) {
    const HeaderLines run = {{"X-Run-Id", std::to_string(i)}};
    EXPECT_TRUE(eventually([&] {
      return gateway.book(kBooking, run).header("Idempotency-Status") == "replayed";
    })) << "run "
        << i;
  }
  EXPECT_EQ(gateway.upstream.effects(), 4);
}

}  // namespace
}  // namespace semel::testing
