#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/socket.h"
#include "tests/support/wake_pipe.h"

namespace semel::testing {

/// A tool for many calls: one thread, one effect for each request that arrives whole, counted by
/// its `X-Run-Id`. Answers 201 at once, with a body that names the run and which effect of it this
/// is.
///
/// @thread All members may be called while it serves.
class CountingTool {
 public:
  struct Options {
    std::size_t answer_bytes = 300;     ///< Of a whole answer, head and body; of three digits.
    std::chrono::milliseconds idle{0};  ///< Ends connections that bring no request for so long;
                                        ///< 0: never.
    std::string more_lines = {};        ///< Of each answer's head: `Connection: close\r\n`.
  };
  explicit CountingTool(Options options);
  ~CountingTool();
  CountingTool(const CountingTool&) = delete;
  CountingTool& operator=(const CountingTool&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int effects_of(const std::string& run) const;
  /// Of all runs.
  [[nodiscard]] long effects() const;
  [[nodiscard]] long connections() const { return connections_; }
  /// Requests on connections that had been idle for at least three quarters of the tool's patience.
  [[nodiscard]] long late_uses() const { return late_uses_; }
  /// Connections that it ended because they were idle for too long.
  [[nodiscard]] long idle_ends() const { return idle_ends_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Caller {
    Socket socket;
    std::string received;
    Clock::time_point idle_since = Clock::now();
    bool is_used = false;
    bool is_over = false;
  };

  void run();
  void accept_all();
  void receive(Caller& caller);
  void serve(Caller& caller);
  [[nodiscard]] std::string answer_to(const std::string& run);

  const Options options_;
  const std::uint16_t port_;
  const Socket listener_;
  const WakePipe woken_;
  std::list<Caller> callers_;  ///< The tool's thread's.
  std::atomic<bool> is_ending_{false};
  std::atomic<long> connections_{0};
  std::atomic<long> idle_ends_{0};
  std::atomic<long> late_uses_{0};

  mutable std::mutex mutex_;
  std::map<std::string, int> effects_;  ///< Under the mutex.

  std::thread thread_;
};

}  // namespace semel::testing
