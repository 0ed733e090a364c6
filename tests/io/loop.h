#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "io/deadlines.h"
#include "io/task.h"
#include "io/tcp.h"
#include "tests/support/socket.h"

namespace semel::testing {

/// What a coroutine that was started has come to.
template <class T>
class Started {
 public:
  [[nodiscard]] bool has_ended() const { return ended_->has_value(); }
  [[nodiscard]] T& value() const { return ended_->value(); }

 private:
  friend class Loop;
  std::shared_ptr<std::optional<T>> ended_ = std::make_shared<std::optional<T>>();
};

/// What a worker has: an io_context and its deadlines. Only the test turns it, and only the test
/// moves the deadlines' time.
class Loop {
 public:
  static constexpr std::chrono::seconds kPatience{10};

  [[nodiscard]] Executor executor() { return io.get_executor(); }

  /// Starts `task` and lets it run until it waits for something.
  template <class T>
  Started<T> start(Task<T> task) {
    Started<T> started;
    asio::co_spawn(io, std::move(task), [to = started.ended_](std::exception_ptr failed, T value) {
      if (failed) std::rethrow_exception(failed);
      *to = std::move(value);
    });
    turn();
    return started;
  }

  /// Runs everything that can go on without waiting.
  void turn() {
    io.restart();
    while (io.poll() != 0) io.restart();
  }

  /// Runs until `started` has ended. @throws std::runtime_error when it does not.
  template <class T>
  T& wait_for(const Started<T>& started) {
    io.restart();
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!started.has_ended()) {
      if (io.run_one_until(until) == 0) throw std::runtime_error("a task does not end");
    }
    return started.value();
  }

  template <class T>
  T run(Task<T> task) {
    return std::move(wait_for(start(std::move(task))));
  }
  void run(Task<> task) { wait_for(start(ended(std::move(task)))); }

  /// Lets every deadline up to `at` pass, and what ends by it.
  void pass(Deadlines::Clock::time_point at) {
    deadlines.sweep(at);
    turn();
  }

  asio::io_context io{1};
  Deadlines deadlines;

 private:
  struct Ended {};
  static Task<Ended> ended(Task<> task) {
    co_await std::move(task);
    co_return Ended{};
  }
};

/// The two ends of one stream: ours, and the peer's as a plain socket.
struct Stream {
  std::unique_ptr<Connection> ours;
  Socket theirs;
};

/// Over TCP, where a reset can be told from a clean end.
inline Stream tcp_stream(Loop& loop) {
  static const std::uint16_t port = free_port();
  const Deadline deadline{milliseconds{10'000}};
  const Socket listener = Socket::listen_on(port);
  Socket theirs = Socket::connect_to(port, deadline);
  const int fd = ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "accept");
  const asio::generic::stream_protocol protocol(AF_INET, IPPROTO_TCP);
  Connection::Socket socket(loop.executor(), protocol, fd);
  return {std::make_unique<Connection>(std::move(socket), loop.deadlines), std::move(theirs)};
}

/// Everything that has come, without waiting for more.
inline std::string arrived(const Socket& socket) {
  std::string text;
  char block[16 * 1024];
  for (;;) {
    const auto got = ::recv(socket.fd(), block, sizeof block, MSG_DONTWAIT);
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

/// How the stream goes on behind what has come: bytes, an end, a reset, or nothing yet.
inline Incoming next_news(const Socket& socket) {
  char byte;
  const auto got = ::recv(socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return Incoming::Bytes;
  if (got == 0) return Incoming::Finished;
  return errno == EAGAIN ? Incoming::TimedOut : Incoming::Reset;
}

}  // namespace semel::testing
