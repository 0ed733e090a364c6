#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/deadline.h"

namespace semel::testing {

/// How one wait for bytes ended.
enum class Incoming : std::uint8_t {
  Bytes,     ///< At least one byte was appended.
  Finished,  ///< A clean FIN.
  Reset,     ///< RST, or another error of the connection.
  TimedOut,  ///< Nothing before the deadline.
  Woken,     ///< The wake descriptor became readable first.
};

/// One TCP socket on 127.0.0.1, or one unix socket; blocking with a deadline. Closed by its
/// destructor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }

  /// @return A closed socket if nobody accepts before the deadline.
  [[nodiscard]] static Socket connect_to(std::uint16_t port, Deadline deadline);
  /// @throws std::system_error if the port cannot be had.
  [[nodiscard]] static Socket listen_on(std::uint16_t port, int backlog = 1024);
  /// Listens on a unix socket of that path instead.
  /// @throws std::system_error if the path is taken or too long.
  [[nodiscard]] static Socket listen_on(const std::string& unix_path);

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }

  /// @return false if the peer is gone or takes no more before the deadline.
  bool send_all(std::string_view bytes, Deadline deadline) const;
  /// Waits for bytes and appends them to `into`.
  Incoming read_some(std::string& into, Deadline deadline, int wake_fd = -1) const;

  /// Ends our direction; the peer reads a FIN.
  void half_close() const;
  void close();
  /// Closes with RST: unread and unsent bytes are thrown away.
  void reset();

 private:
  int fd_ = -1;
};

/// A port of 127.0.0.1 that nobody else gets while this process lives, outside the range of
/// outgoing connections, so that "connection refused" stays refused and tests may run side by side.
/// @throws std::runtime_error if none is left.
[[nodiscard]] std::uint16_t free_port();

}  // namespace semel::testing
