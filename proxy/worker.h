#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "io/gate.h"
#include "io/random.h"
#include "io/tcp.h"
#include "proxy/access_log.h"
#include "proxy/arena.h"
#include "proxy/outfit.h"
#include "proxy/release_queue.h"
#include "proxy/site.h"

namespace semel::proxy {

/// One thread, one io_context, one listening socket. What stands here is touched by no other
/// thread.
class Worker {
 public:
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, Executor>;
  static constexpr std::chrono::milliseconds kTick{20};

  Worker(Site& site, std::size_t index, std::shared_ptr<const Edition> edition);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// @param fd  A bound, listening, non-blocking socket; owned from here on.
  void listen(int fd);
  /// Runs until every session has ended after stop().
  void run();

  /// Takes up an edition for the requests to come; those under way go on with theirs.
  /// @param taken  Called on this worker's thread once it has.
  /// @thread The one that renders the metrics.
  void adopt(std::shared_ptr<const Edition> edition, std::function<void()> taken);

  /// Stops accepting and ends idle connections; what flies goes on. From any thread.
  void drain();
  /// Ends what still flies: every deadline counts as passed. From any thread.
  void expire_all();

  /// True once expire_all() was called: what goes on behind replies ends, too.
  [[nodiscard]] bool is_ending() const { return ending_; }

  /// Starts a coroutine that the gate holds and whose exceptions are reported.
  void start(Task<> task);

  /// A client's connection while its session lives, so that a drain finds the idle ones.
  struct Guest {
    Connection* connection = nullptr;
    bool is_idle = false;
  };
  [[nodiscard]] std::list<Guest>& guests() { return guests_; }

  [[nodiscard]] Executor executor() { return io_.get_executor(); }
  /// What a request that begins now works with, and holds until it has ended.
  [[nodiscard]] const std::shared_ptr<Outfit>& outfit() const { return outfit_; }

  Site& site;
  Deadlines deadlines;
  BufferPool buffers;
  RandomBits random;
  MetricsShard& metrics;
  AccessLog access_log;
  ReleaseQueue releases;
  const Spawn spawn;

 private:
  [[nodiscard]] Task<> accept_loop();
  [[nodiscard]] Task<> tick();
  [[nodiscard]] std::shared_ptr<Outfit> fit(std::shared_ptr<const Edition> edition);
  void admit(int fd, std::string address);
  void finish_if_drained();

  // Its sockets are this thread's alone; posting to it from others stays safe.
  asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  std::unique_ptr<asio::posix::basic_stream_descriptor<Executor>> listening_;
  Timer tick_timer_;
  const std::size_t index_;
  const bool is_unix_;  // Where it listens: no edition changes that.
  std::shared_ptr<Outfit> outfit_;
  std::list<Guest> guests_;
  Gate gate_;
  bool draining_ = false;
  bool ending_ = false;
};

}  // namespace semel::proxy
