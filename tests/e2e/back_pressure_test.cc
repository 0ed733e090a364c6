#include <gtest/gtest.h>

#include <atomic>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;
/// What one side pushes while the other does not read, and how much of it may pile up in the proxy:
/// far less, whatever the kernel's socket buffers take.
constexpr std::size_t kPushed = 64 * kMebibyte;
constexpr std::size_t kHeldMax = 8 * kMebibyte;

/// Waits until `count` has stopped rising, for at most ten seconds.
void wait_until_it_stands(const std::atomic<std::size_t>& count) {
  std::size_t before = 0;
  static_cast<void>(eventually([&] {
    before = count;
    return !eventually([&] { return count != before; }, milliseconds{300});
  }));
}

TEST(BackPressure, AClientThatDoesNotReadHoldsTheToolUpAndFillsNoMemory) {
  Gateway gateway;
  std::atomic<std::size_t> sent = 0;
  gateway.upstream.script([&sent](Turn& turn) {
    turn.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPushed) + "\r\n\r\n");
    const std::string piece(64 * 1024, 'x');
    for (std::size_t size = 0; size < kPushed; size += piece.size()) {
      turn.send(piece);
      sent += piece.size();
    }
  });
  const std::size_t before = gateway.semel.resident_bytes();
  HttpClient client(gateway.semel.port());
  client.send(Request{"GET", "/tools/fare", {}, {}});
  ASSERT_TRUE(client.sees("\r\n\r\n"));
  wait_until_it_stands(sent);
  EXPECT_LT(sent, kPushed) << "the tool is held up";
  EXPECT_LT(gateway.semel.resident_bytes(), before + kHeldMax);
  const Response response = client.read("GET");
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.body.size(), kPushed);
}

TEST(BackPressure, AToolThatDoesNotReadHoldsTheClientUpAndFillsNoMemory) {
  Gateway gateway;
  gateway.upstream.answer_before_body();
  gateway.upstream.script([](Turn& turn) { turn.wait_until_let_go(); });
  const std::size_t before = gateway.semel.resident_bytes();
  std::atomic<std::size_t> sent = 0;
  std::future<void> pushing = std::async(std::launch::async, [&] {
    HttpClient client(gateway.semel.port(), milliseconds{1'500});
    client.send(Request{"POST", "/files/a", {{"Content-Length", std::to_string(kPushed)}}, {}});
    const std::string piece(64 * 1024, 'x');
    while (sent < kPushed && client.send(piece)) sent += piece.size();
  });
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  wait_until_it_stands(sent);
  EXPECT_LT(sent, kPushed) << "the client is held up";
  EXPECT_LT(gateway.semel.resident_bytes(), before + kHeldMax);
  pushing.get();
}

}  // namespace
}  // namespace semel::testing
