#include "stores/redis_dial.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/io/loop.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::Loop;
using testing::Socket;

Task<std::string> dial_until(std::shared_ptr<LinkWatch> watch, std::uint16_t port,
                             std::chrono::milliseconds patience, std::string host = "127.0.0.1") {
  const Peer peer{std::move(host), port, ""};
  const RedisDialled dialled =
      co_await dial_redis(watch, nullptr, peer, Deadlines::Clock::now() + patience);
  co_return dialled.stream == nullptr ? dialled.failure : "a stream";
}

TEST(RedisDial, AHostThatAnswersNothingIsGivenUpAlsoWhenNobodyElseWaits) {
  Loop loop;
  const std::uint16_t port = testing::free_port();
  const Socket listener = Socket::listen_on(port, 0);
  // Whoever fills its queue leaves no answer to those that come later.
  std::vector<Socket> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(Socket::connect_to(port, testing::Deadline(100ms)));
  }
  const auto watch = std::make_shared<LinkWatch>(loop.executor());
  EXPECT_EQ(loop.run(dial_until(watch, port, 100ms)),
            "127.0.0.1:" + std::to_string(port) + " cannot be reached");
  EXPECT_TRUE(watch->deadlines().is_idle());
}

TEST(RedisDial, OfANameItSaysThatItMayBeUnknown) {
  Loop loop;
  const std::uint16_t port = testing::free_port();
  const auto watch = std::make_shared<LinkWatch>(loop.executor());
  EXPECT_EQ(
      loop.run(dial_until(watch, port, 10s, "localhost")),
      "localhost:" + std::to_string(port) + " cannot be reached, or its name is not known here");
}

TEST(RedisDial, AWatchThatNobodyNeedsSleeps) {
  Loop loop;
  const std::uint16_t port = testing::free_port();
  const Socket listener = Socket::listen_on(port);
  const auto watch = std::make_shared<LinkWatch>(loop.executor());
  EXPECT_EQ(loop.run(dial_until(watch, port, 10s)), "a stream");
  // Nothing is left to run but the timer that finds nothing armed.
  loop.io.restart();
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (loop.io.run_one_until(until) != 0) continue;
  EXPECT_TRUE(loop.io.stopped());
}

}  // namespace
}  // namespace semel
