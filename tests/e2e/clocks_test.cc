// The wall clock may jump: no window and no lease depends on it.

#include <gtest/gtest.h>

#include "tests/e2e/housekeeping.h"
#include "tests/support/moved_wall.h"

namespace semel::testing {
namespace {

using std::chrono::seconds;

constexpr seconds kTwoDays = std::chrono::hours{48};

class Clocks : public ::testing::TestWithParam<StoreKind> {
 protected:
  GatewayOptions options() {
    GatewayOptions options;
    options.store = GetParam();
    options.environment = wall_.environment();
    return options;
  }
  Response book(const Gateway& gateway, const std::string& run) {
    return gateway.book(kBooking, {{"X-Run-Id", run}});
  }

  MovedWall wall_;
};

TEST_P(Clocks, TheProgramSeesTheMovedWall) {
  // Otherwise the tests below would show nothing: the log's times follow the jump.
  Gateway gateway(options());
  EXPECT_EQ(book(gateway, "before").status, 200);
  ASSERT_EQ(gateway.semel.access_log(1).size(), 1U);
  wall_.move_to(1825 * kTwoDays);
  EXPECT_EQ(book(gateway, "after").status, 200);
  const auto lines = gateway.semel.access_log(2);
  ASSERT_EQ(lines.size(), 2U);
  const auto year = [](const Json& line) { return std::stoi(line["time"].text().substr(0, 4)); };
  EXPECT_GE(year(lines[1]), year(lines[0]) + 9);
}

TEST_P(Clocks, AJumpOfTwoDaysEndsNoWindowOfADay) {
  for (const seconds ahead : {kTwoDays, -kTwoDays}) {
    SCOPED_TRACE(ahead.count());
    wall_.move_to(seconds{0});
    Gateway gateway(options());
    EXPECT_EQ(book(gateway, "1").header("Idempotency-Status"), "executed");
    wall_.move_to(ahead);
    await_sweeps(gateway, 2);
    EXPECT_EQ(book(gateway, "1").header("Idempotency-Status"), "replayed");
    EXPECT_EQ(book(gateway, "2").header("Idempotency-Status"), "executed");
    wall_.move_to(seconds{0});
    await_sweeps(gateway, 2);
    for (const char* run : {"1", "2"}) {
      EXPECT_EQ(book(gateway, run).header("Idempotency-Status"), "replayed") << run;
    }
    EXPECT_EQ(gateway.upstream.effects(), 2);
    EXPECT_EQ(gateway.semel.metric("semel_records_expired_total"), 0);
  }
}

TEST_P(Clocks, AJumpEndsNoLeaseOfACallInFlight) {
  for (const seconds ahead : {kTwoDays, -kTwoDays}) {
    SCOPED_TRACE(ahead.count());
    wall_.move_to(seconds{0});
    Gateway gateway(options());
    gateway.upstream.script([](Turn& turn) {
      turn.wait_until_let_go();
      turn.commit();
      turn.send(response_text(201, "done"));
    });
    std::future<Response> call = gateway.begin("/tools/book");
    ASSERT_TRUE(gateway.upstream.sees_requests(1));
    wall_.move_to(ahead);
    await_sweeps(gateway, 2);
    EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
    gateway.upstream.let_go();
    EXPECT_EQ(call.get().header("Idempotency-Status"), "executed");
    EXPECT_EQ(gateway.book().header("Idempotency-Status"), "replayed");
    EXPECT_EQ(gateway.semel.metric("semel_stale_writer_total"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Clocks, ::testing::Values(StoreKind::Memory, StoreKind::Sqlite),
                         [](const auto& store) {
                           return store.param == StoreKind::Memory ? "memory" : "sqlite";
                         });

TEST(ClocksAcrossRestarts, WithinOneBootTheWallClockHasNoSay) {
  MovedWall wall;
  Gateway gateway({.store = StoreKind::Sqlite, .environment = wall.environment()});
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  for (const seconds ahead : {kTwoDays, -kTwoDays, 365 * kTwoDays, -365 * kTwoDays}) {
    SCOPED_TRACE(ahead.count());
    wall.move_to(ahead);
    gateway.semel.restart();
    await_sweeps(gateway, 2);
    EXPECT_EQ(gateway.book().header("Idempotency-Status"), "replayed");
  }
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

}  // namespace
}  // namespace semel::testing
