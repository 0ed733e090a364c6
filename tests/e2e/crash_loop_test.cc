#include <gtest/gtest.h>

#include <cstdio>

#include "tests/e2e/kill_loop.h"

namespace semel::testing {
namespace {

/// How long to go on: SEMEL_KILL_LOOP_SECONDS, else once.
bool is_time_left(std::chrono::steady_clock::time_point begun) {
  const char* seconds = std::getenv("SEMEL_KILL_LOOP_SECONDS");
  return seconds != nullptr &&
         std::chrono::steady_clock::now() - begun < std::chrono::seconds(std::atoi(seconds));
}

TEST(CrashLoop, KilledAgainAndAgainUnderLoadNoBookingHappensTwice) {
  constexpr int kFaultsOfOneStore = 50;
  const char* chosen = std::getenv("SEMEL_KILL_LOOP_SEED");
  auto seed = static_cast<std::uint32_t>(chosen == nullptr ? 1 : std::atoi(chosen));
  const auto begun = std::chrono::steady_clock::now();
  KillTotals totals;
  do {
    SCOPED_TRACE("SEMEL_KILL_LOOP_SEED=" + std::to_string(seed));
    KillLoop loop(seed++);
    loop.run(kFaultsOfOneStore);
    loop.add_to(totals);
    std::printf("%s\n", totals.text().c_str());
    std::fflush(stdout);
  } while (!HasFailure() && is_time_left(begun));
  EXPECT_GT(totals.words["replayed"], 0) << "some calls were over before the kill";
  EXPECT_GT(totals.words["indeterminate"], 0) << "and some were not";
}

TEST(CrashLoop, AnsweredOnlyAfterItIsDurable) {
  // The kill comes as soon as the first byte of an answer has been read.
  Gateway gateway({.store = StoreKind::Sqlite});
  for (int round = 1; round <= 10; ++round) {
    SCOPED_TRACE(round);
    const HeaderLines run = {{"X-Run-Id", std::to_string(round)}};
    HttpClient client(gateway.semel.port());
    client.send(Gateway::tool_request("/tools/book", kBooking, run));
    ASSERT_TRUE(client.sees("HTTP/1.1 200"));
    gateway.semel.kill9();
    gateway.semel.start();
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), "replayed");
  }
  EXPECT_EQ(gateway.upstream.effects(), 10);
}

}  // namespace
}  // namespace semel::testing
