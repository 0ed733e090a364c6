#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/network.h"
#include "tests/sim/process.h"

namespace semel::sim {

/// The simulated operating system under the proxies: descriptors, sockets, epoll, timers and the
/// clocks. The functions of the C library that are interposed in libc.cc end here.
///
/// One instance at a time is the machine; without one the real kernel answers.
class Kernel {
 public:
  Kernel(Timeline& timeline, Dice dice, Weather weather);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] static Kernel* current();
  /// The lowest descriptor of ours: those of the real kernel are smaller.
  static constexpr int kFirstDescriptor = 1 << 20;
  [[nodiscard]] static bool is_ours(int fd) { return fd >= kFirstDescriptor; }

  // For actors that are no processes: clients and the tool.

  /// Connects to a port. The caller sets the end's `on_news`, which is not called before it
  /// returns.
  [[nodiscard]] EndPtr dial(std::uint16_t port) { return start_connection(port); }
  /// Every connection to `port` is given to `accept`, which sets the end's `on_news`.
  void serve(std::uint16_t port, std::function<void(const EndPtr&)> accept);
  void stop_serving(std::uint16_t port) { actors_.erase(port); }

  /// What a process leaves behind: its connections break, its listeners are gone.
  void close_all_of(std::uint16_t process);

  // The system calls, as errno or a result. All of the calling process.
  int open_socket();
  int bind(int fd, std::uint16_t port);
  int listen(int fd);
  int accept(int fd, sockaddr* address, socklen_t* size);
  int connect(int fd, std::uint16_t port);
  int close(int fd);
  int shutdown_write(int fd);
  void set_linger_zero(int fd);
  int take_error(int fd);
  ssize_t receive(int fd, char* into, std::size_t size, bool peek);
  ssize_t send(int fd, std::string_view bytes);
  /// poll()'s events that hold now.
  [[nodiscard]] short poll_events(int fd) const;

  int epoll_create();
  int epoll_ctl(int epoll, int operation, int fd, const epoll_event* event);
  int epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms);
  int timerfd_create();
  int timerfd_settime(int fd, Time value, bool absolute);
  int eventfd(std::uint64_t count);
  ssize_t read_counter(int fd, void* into, std::size_t size);
  ssize_t write_counter(int fd, const void* from, std::size_t size);
  [[nodiscard]] bool is_stream(int fd) const;

  // Clocks and chance.
  [[nodiscard]] Time monotonic();
  [[nodiscard]] Time boot();
  [[nodiscard]] Time wall();
  void move_wall(Time by) { wall_offset_ += by; }
  void fill_random(void* into, std::size_t size);

  /// Called when bytes of a process have left.
  std::function<void(const EndPtr& end, std::string_view bytes)> on_sent;
  unsigned short_writes = 0;  ///< In permille: writes of which a part is taken.
  /// Asked before each call of a process that speaks with the network.
  std::function<Fate(Process&)> on_call;

  [[nodiscard]] Network& network() { return network_; }

 private:
  struct File;
  [[nodiscard]] File* file(int fd) const;
  enum class Type : std::uint8_t { Socket, Listener, Stream, Epoll, Timer, Counter };
  int open(Type type);
  [[nodiscard]] std::uint32_t readiness(const File& file) const;
  void wake(File& file);
  [[nodiscard]] EndPtr start_connection(std::uint16_t port);
  void arrive(const EndPtr& dialler, const EndPtr& acceptor);
  /// What stops a process here, if the world wants it stopped.
  void stopping_point();
  int collect(File& epoll, epoll_event* events, int count);

  Timeline& timeline_;
  Dice dice_;
  Network network_;
  std::vector<std::unique_ptr<File>> files_;
  std::map<std::uint16_t, File*> listeners_;
  std::map<std::uint16_t, std::function<void(const EndPtr&)>> actors_;
  Time wall_offset_{0};
};

}  // namespace semel::sim
