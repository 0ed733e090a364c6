#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

Script answers_when_let_go() {
  return [](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(200, "{}"));
  };
}

class OverloadLimit : public ::testing::TestWithParam<const char*> {};

TEST_P(OverloadLimit, AConnectionTooManyIsTurnedAwayEarlyAndTheOthersGoOn) {
  GatewayOptions options;
  options.more = "workers: 1\nlimits: {" + std::string(GetParam()) + ": 4}\n";
  Gateway gateway(options);
  gateway.upstream.script(answers_when_let_go());
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<HttpClient>(gateway.semel.port()));
    clients.back()->send(
        Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", std::to_string(i)}}));
  }
  ASSERT_TRUE(gateway.upstream.sees_requests(4));
  HttpClient surplus(gateway.semel.port());
  surplus.send(Gateway::tool_request("/tools/book"));
  const Response refused = surplus.read();
  expect_problem(refused, "overloaded");
  EXPECT_EQ(gateway.upstream.requests(), 4);
  gateway.upstream.let_go();
  for (const auto& client : clients) EXPECT_EQ(client->read().status, 200);
  clients.clear();
  EXPECT_TRUE(eventually([&] { return gateway.book().status == 200; })) << "there is room again";
}

INSTANTIATE_TEST_SUITE_P(Of, OverloadLimit,
                         ::testing::Values("connections", "connections_per_address"),
                         [](const auto& row) { return row.param; });

TEST(Overload, BodiesThatWouldFillTheMemoryAreRefusedBeforeAnyClaim) {
  GatewayOptions options;
  options.more = "workers: 1\nlimits: {buffered_bytes: 1MiB}\n";
  Gateway gateway(options);
  gateway.upstream.script(answers_when_let_go());
  const std::string large =
      R"({"flight":"BA117","seats":2,"name":")" + std::string(400'000, 'x') + "\"}";
  std::vector<std::future<Response>> calls;
  for (int i = 0; i < 6; ++i) {
    calls.push_back(std::async(std::launch::async, [&gateway, &large, i] {
      return gateway.book(large, {{"X-Run-Id", std::to_string(i)}});
    }));
  }
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  int refused = 0;
  const Response surplus = gateway.book(large, {{"X-Run-Id", "surplus"}});
  if (surplus.status == 503) ++refused;
  gateway.upstream.let_go();
  for (std::future<Response>& pending : calls) {
    const Response response = pending.get();
    if (response.status == 200) continue;
    expect_problem(response, "overloaded");
    ++refused;
  }
  EXPECT_GE(refused, 1);
  EXPECT_LE(gateway.upstream.requests(), 7 - refused);
  EXPECT_EQ(gateway.book().status, 200) << "there is room again";
}

TEST(Overload, TheRoomOfALargeBodyIsNotKeptForTheSmallCallsBehindIt) {
  constexpr int kClients = 40;
  GatewayOptions options;
  options.more = "workers: 1\nlimits: {buffered_bytes: 2MiB}\n";
  Gateway gateway(options);
  const std::string large =
      R"({"flight":"BA117","seats":2,"name":")" + std::string(1'000'000, 'x') + "\"}";
  const auto of_run = [](int number, std::string body) {
    return Gateway::tool_request("/tools/book", std::move(body),
                                 {{"X-Run-Id", std::to_string(number)}});
  };
  const std::size_t before = gateway.semel.resident_bytes();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<HttpClient>(gateway.semel.port()));
    ASSERT_EQ(clients.back()->exchange(of_run(i, large)).status, 200);
  }
  gateway.upstream.script(answers_when_let_go());
  for (int i = 0; i < kClients; ++i)
    clients[static_cast<std::size_t>(i)]->send(of_run(i, kBooking));
  ASSERT_TRUE(gateway.upstream.sees_requests(2 * kClients));
  EXPECT_LT(gateway.semel.resident_bytes(), before + (std::size_t{16} << 20));
  gateway.upstream.let_go();
  for (const auto& client : clients) EXPECT_EQ(client->read().status, 200);
}

}  // namespace
}  // namespace semel::testing
