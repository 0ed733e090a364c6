#include "tests/support/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace semel::testing {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool wait_for(int fd, short events, const Deadline& deadline) {
  pollfd entry{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&entry, 1, deadline.left());
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool is_bindable(std::uint16_t port) {
  const Socket probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  return ::bind(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Socket Socket::connect_to(std::uint16_t port, Deadline deadline) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(port);
  const int started =
      ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (started != 0 && errno != EINPROGRESS) return {};
  if (!wait_for(socket.fd(), POLLOUT, deadline)) return {};
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return {};
  const int yes = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

Socket Socket::listen_on(std::uint16_t port, int backlog) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.fd(), backlog) != 0) {
    throw std::system_error(errno, std::generic_category(), "port " + std::to_string(port));
  }
  return socket;
}

Socket Socket::listen_on(const std::string& unix_path) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (unix_path.size() >= sizeof address.sun_path) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), unix_path);
  }
  unix_path.copy(address.sun_path, unix_path.size());
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.fd(), 1024) != 0) {
    throw std::system_error(errno, std::generic_category(), unix_path);
  }
  return socket;
}

bool Socket::send_all(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd_, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Incoming Socket::read_some(std::string& into, Deadline deadline, int wake_fd) const {
  std::array<char, 64 * 1024> bytes;
  for (;;) {
    std::array<pollfd, 2> entries{pollfd{fd_, POLLIN, 0}, pollfd{wake_fd, POLLIN, 0}};
    const int ready = ::poll(entries.data(), wake_fd < 0 ? 1 : 2, deadline.left());
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Incoming::TimedOut;
    if (entries[0].revents == 0) return Incoming::Woken;
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return Incoming::Reset;
    if (got == 0) return Incoming::Finished;
    into.append(bytes.data(), static_cast<std::size_t>(got));
    return Incoming::Bytes;
  }
}

void Socket::half_close() const { ::shutdown(fd_, SHUT_WR); }

void Socket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Socket::reset() {
  const linger hard{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close();
}

std::uint16_t free_port() {
  // Below 32768, where Linux takes the ports of outgoing connections from. A lock file a port, held
  // until the process ends, keeps tests that run at the same time apart.
  constexpr int kFirst = 18'000;
  constexpr int kCount = 14'000;
  const char* base = std::getenv("TMPDIR");
  const std::string folder = std::string(base != nullptr ? base : "/tmp") + "/semel-test-ports";
  ::mkdir(folder.c_str(), 01777);
  static int next = static_cast<int>(::getpid()) * 37;
  for (int tries = 0; tries < kCount; ++tries) {
    const auto port = static_cast<std::uint16_t>(kFirst + (next++ % kCount));
    const std::string file = folder + "/" + std::to_string(port);
    const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0 && is_bindable(port)) return port;
    ::close(lock);
  }
  throw std::runtime_error("no free port left between 18000 and 32000");
}

}  // namespace semel::testing
