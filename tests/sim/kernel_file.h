#pragma once

#include <deque>
#include <vector>

#include "tests/sim/kernel.h"

namespace semel::sim {

/// What stands behind a descriptor of the simulated kernel, and who watches it.
struct Kernel::File {
  Type type = Type::Socket;
  int fd = -1;
  Process* owner = nullptr;

  // Listener and stream.
  std::uint16_t port = 0;
  std::deque<EndPtr> backlog;
  EndPtr end;
  bool linger_zero = false;

  // Epoll: who sleeps in it, and which descriptors have news.
  Process* sleeper = nullptr;
  std::vector<int> ready;

  // Timer and counter.
  std::uint64_t setting = 0;  ///< Of the timer that counts.
  std::uint64_t count = 0;    ///< Expirations, or the counter's value.

  // As a member of an epoll set; at most of one.
  int watched_by = -1;
  epoll_event interest{};
  bool is_queued = false;
};

}  // namespace semel::sim
