#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace semel::testing {

/// Wakes a thread that polls. Its descriptor is readable from wake() until clear().
/// @thread wake() from any, clear() from the one that polls.
class WakePipe {
 public:
  WakePipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
  }
  ~WakePipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  [[nodiscard]] int fd() const { return ends_[0]; }
  void wake() const {
    // A pipe that is full is readable already.
    while (::write(ends_[1], "x", 1) < 0 && errno == EINTR) {
    }
  }
  void clear() const {
    std::array<char, 64> ignored;
    while (::read(ends_[0], ignored.data(), ignored.size()) > 0) {
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace semel::testing
