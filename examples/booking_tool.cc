// An unmodified tool to stand behind Semel: it books flights, counts what it did, and misbehaves
// when asked to. Nothing here knows of keys, retries or records.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "examples/booking_desk.h"
#include "examples/http_connection.h"

namespace semel::examples {
namespace {

constexpr std::string_view kUsage =
    "usage: booking_tool [--address 127.0.0.1] --port N\n"
    "  POST /tools/book  {\"flight\": ...}                     EFFECTFUL: a booking\n"
    "  POST /tools/seat  {\"booking_ref\": ..., \"seat\": ...}   IDEMPOTENT: sets the seat\n"
    "  POST /tools/fare  {\"flight\": ...}                     READ_ONLY: a price\n"
    "  GET  /effects                                         what happened so far\n"
    "  POST /control     {\"delay_ms\": 300}, {\"mode\": \"hang_after_commit\"}, {\"reset\": "
    "true}\n"
    "One call misbehaves with a header: X-Example-Behaviour: delay=300 | hang | close | "
    "status=500\n";

struct Options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};

/// Accepts connections and gives each a thread, until it is stopped.
class BookingServer {
 public:
  /// @throws std::runtime_error when the port is not to be had.
  explicit BookingServer(const Options& options) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    if (::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1) {
      throw std::runtime_error(options.address + " is no IPv4 address");
    }
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener_, SOMAXCONN) != 0) {
      throw std::runtime_error("cannot listen on " + options.address + ":" +
                               std::to_string(options.port) + ": " + std::strerror(errno));
    }
  }

  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  void run() {
    while (true) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex_);
      if (is_stopping_) {
        if (socket >= 0) ::close(socket);
        return;
      }
      if (socket < 0) continue;
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      open_.insert(socket);
      std::thread([this, socket] { serve(socket); }).detach();
    }
  }

  /// Ends run() and every connection, also those that hang by request, and waits for them.
  void stop() {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_.empty(); });
  }

 private:
  void serve(int socket) {
    std::optional<HttpConnection> connection(std::in_place, socket);
    while (const auto request = connection->read_request()) {
      if (!serve_one(*connection, *request)) break;
    }
    // Closed under the lock: stop() never touches a number that was given to somebody else.
    const std::lock_guard lock(mutex_);
    connection.reset();
    open_.erase(socket);
    changed_.notify_all();
  }

  bool serve_one(HttpConnection& connection, const Request& request) {
    const Outcome outcome = desk_.answer(request);
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, outcome.delay, [this] { return is_stopping_; })) return false;
    }
    switch (outcome.ending) {
      case Ending::Answer:
      case Ending::Status:
        return connection.write(outcome.response, request.keep_alive) && request.keep_alive;
      case Ending::HangAfterCommit:
        connection.outwait_client();
        return false;
      case Ending::CloseAfterCommit:
        return false;
    }
    return false;
  }

  int listener_ = -1;
  BookingDesk desk_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> open_;
  bool is_stopping_ = false;
};

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::runtime_error("--port takes a number from 0 to 65535");
  }
  return port;
}

Options parse_options(int argc, char** argv) {
  Options options;
  bool has_port = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--port") {
      options.port = parse_port(argv[i + 1]);
      has_port = true;
    } else if (name == "--address") {
      options.address = argv[i + 1];
    } else {
      throw std::runtime_error(std::string(kUsage));
    }
  }
  if (!has_port || argc % 2 == 0) throw std::runtime_error(std::string(kUsage));
  return options;
}

void run_until_signal(const Options& options) {
  // Blocked before any thread starts, so that only sigwait below sees them.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  BookingServer server(options);
  std::thread accepting([&server] { server.run(); });
  std::printf("listening on %s:%u\n", options.address.c_str(), unsigned{server.port()});
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&signals, &signal);
  server.stop();
  accepting.join();
}

}  // namespace
}  // namespace semel::examples

int main(int argc, char** argv) {
  try {
    semel::examples::run_until_signal(semel::examples::parse_options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "booking_tool: %s\n", error.what());
    return 2;
  }
}
