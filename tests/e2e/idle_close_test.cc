// A tool that closes idle connections races with whoever uses them again. Semel does not run that
// race with an EFFECTFUL call: nothing is unknown where nothing went wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include "tests/e2e/gateway.h"
#include "tests/support/counting_tool.h"

namespace semel::testing {
namespace {

constexpr milliseconds kToolsPatience{2'000};
constexpr int kClients = 200;
constexpr int kCallsInARow = 4;
/// How long all are silent between two bursts: around the second for which an EFFECTFUL call trusts
/// a connection, and around the two after which the tool closes it.
constexpr std::array<milliseconds, 9> kPauses = {
    milliseconds{1'750}, milliseconds{1'990}, milliseconds{990},
    milliseconds{1'950}, milliseconds{1'000}, milliseconds{1'980},
    milliseconds{1'995}, milliseconds{2'000}, milliseconds{10}};

struct Row {
  const char* name;
  const char* tools_lines;  ///< Of each answer's head.
  const char* upstream;     ///< Further lines of the upstream.
};

class IdleCloseTest : public ::testing::TestWithParam<Row> {};

long calls_of_environment() {
  const char* said = std::getenv("SEMEL_IDLE_CALLS");
  return said == nullptr ? 3'000 : std::stol(said);
}

/// What the calls of all clients were told.
struct Told {
  std::atomic<long> executed{0};
  std::atomic<long> indeterminate{0};
  std::atomic<long> otherwise{0};
};

void call_in_a_row(std::uint16_t port, int client, long burst, Told& told) {
  HttpClient kept(port);
  for (int i = 0; i < kCallsInARow; ++i) {
    const std::string run =
        std::to_string(client) + "-" + std::to_string(burst) + "-" + std::to_string(i);
    const Request request = Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}});
    Response response;
    static_cast<void>(eventually([&] {
      response = kept.exchange(request);
      return response.status != 503;  // Of a slow disk: nothing was sent.
    }));
    const auto word = response.header("Idempotency-Status");
    if (response.status == 201 && word == "executed") {
      ++told.executed;
    } else if (word == "indeterminate") {
      ++told.indeterminate;
    } else {
      ++told.otherwise;
    }
  }
}

TEST_P(IdleCloseTest, LeavesNoCallUnknownWhereNothingWentWrong) {
  const CountingTool tool({.idle = kToolsPatience, .more_lines = GetParam().tools_lines});
  GatewayOptions options{.store = StoreKind::Sqlite};
  options.upstream_endpoint = endpoint_of(tool.port());
  options.upstream_more = GetParam().upstream;
  const Gateway gateway(options);
  const long wanted = calls_of_environment();
  Told told;
  long calls = 0;
  for (long burst = 0; calls < wanted; ++burst, calls += kClients * kCallsInARow) {
    if (burst != 0) {
      const milliseconds pause = kPauses[static_cast<std::size_t>(burst - 1) % kPauses.size()];
      std::this_thread::sleep_for(
          pause);  // What is tested, not waited for: a silence of that length.
    }
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back(
          [&, client] { call_in_a_row(gateway.semel.port(), client, burst, told); });
    }
    for (std::thread& client : clients) client.join();
  }
  std::cout << calls << " calls, " << tool.effects() << " effects, " << tool.connections()
            << " connections of which " << tool.idle_ends() << " were closed when idle, "
            << told.indeterminate << " indeterminate, " << told.otherwise << " otherwise"
            << std::endl;
  EXPECT_EQ(told.indeterminate, 0);
  EXPECT_EQ(told.otherwise, 0);
  EXPECT_EQ(told.executed, calls);
  EXPECT_EQ(tool.effects(), calls);
  EXPECT_LT(tool.connections(), calls) << "connections are used again";
  EXPECT_EQ(tool.late_uses(), 0) << "but none that the tool may be about to close";
}

INSTANTIATE_TEST_SUITE_P(
    Tools, IdleCloseTest,
    ::testing::Values(Row{"ThatDoesNotSaySo", "", ""},
                      Row{"ThatSaysSo", "Keep-Alive: timeout=2\r\n", ""},
                      Row{"ThatSaysSoToOneThatTrustsForAMinute", "Keep-Alive: timeout=2\r\n",
                          "    keepalive_effectful: 60s\n"}),
    [](const ::testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace semel::testing
