#pragma once

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/socket.h"
#include "tests/support/wake_pipe.h"

namespace semel::testing {

/// Something that answers like a Redis primary, one connection after the other, and says what came.
/// For what a real one cannot be made to do.
class FakeRedis {
 public:
  using Words = std::vector<std::string>;
  /// What it answers to anything but a greeting, in bytes of the protocol.
  using Answer = std::function<std::string(const Words& command)>;

  explicit FakeRedis(Answer answer)
      : answer_(std::move(answer)),
        port_(free_port()),
        listener_(Socket::listen_on(port_)),
        thread_([this] { serve(); }) {}
  ~FakeRedis() {
    ends_ = true;
    woken_.wake();
    thread_.join();
  }

  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  /// Segments with bytes in them that have come on the connection that is open now. Over loopback
  /// and without delay each write is one.
  [[nodiscard]] unsigned segments() const { return segments_; }

 private:
  static std::string text(const std::string& bytes) {
    return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
  }

  void serve() {
    while (!ends_) {
      std::string nothing;
      const Deadline soon(milliseconds{60'000});
      pollfd polled[2] = {{listener_.fd(), POLLIN, 0}, {woken_.fd(), POLLIN, 0}};
      ::poll(polled, 2, soon.left());
      if (ends_) return;
      const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      const Socket peer(fd);
      std::string received;
      while (peer.read_some(received, soon, woken_.fd()) == Incoming::Bytes) {
        count(peer);
        std::string replies;
        while (const auto command = take(received)) replies += reply_to(*command);
        if (replies.find(kHangUp) != std::string::npos) break;
        if (!peer.send_all(replies, soon)) break;
      }
    }
  }

  void count(const Socket& peer) {
    tcp_info told{};
    socklen_t size = sizeof told;
    ::getsockopt(peer.fd(), IPPROTO_TCP, TCP_INFO, &told, &size);
    segments_ = told.tcpi_data_segs_in;
  }

  /// The first command that is there whole, taken off the front.
  static std::optional<Words> take(std::string& received) {
    std::size_t at = 0;
    const auto number = [&](char mark) -> std::optional<std::size_t> {
      const auto end = received.find("\r\n", at);
      if (end == std::string::npos || received[at] != mark) return std::nullopt;
      const std::size_t value = std::stoul(received.substr(at + 1, end - at - 1));
      at = end + 2;
      return value;
    };
    const auto count = number('*');
    if (!count) return std::nullopt;
    Words words;
    for (std::size_t i = 0; i < *count; ++i) {
      const auto size = number('$');
      if (!size || received.size() < at + *size + 2) return std::nullopt;
      words.push_back(received.substr(at, *size));
      at += *size + 2;
    }
    received.erase(0, at);
    return words;
  }

  std::string reply_to(const Words& command) const {
    if (command[0] == "CLIENT" || command[0] == "SCRIPT") return "+OK\r\n";
    if (command[0] == "INFO") {
      return text("redis_version:7.0.15\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n");
    }
    if (command[0] == "CONFIG") return "*2\r\n" + text("appendfsync") + text("always");
    return answer_(command);
  }

 public:
  /// As an answer: the connection ends instead.
  static constexpr const char* kHangUp = "hang up";

 private:
  const Answer answer_;
  const std::uint16_t port_;
  const Socket listener_;
  const WakePipe woken_;
  std::atomic<bool> ends_{false};
  std::atomic<unsigned> segments_{0};
  std::thread thread_;
};

}  // namespace semel::testing
