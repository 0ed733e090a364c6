#include "proxy/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace semel::proxy {
namespace {

constexpr int kBacklog = 4096;

[[noreturn]] void fail(int fd, const config::Address& address) {
  const std::string cause = std::strerror(errno);
  if (fd >= 0) ::close(fd);
  throw std::runtime_error("listen.address: cannot listen on " + address.text() + ": " + cause);
}

}  // namespace

int open_listener(const config::Address& address) {
  sockaddr_storage where{};
  socklen_t size = 0;
  auto& v4 = reinterpret_cast<sockaddr_in&>(where);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(where);
  if (!address.unix_path.empty()) {
    auto& un = reinterpret_cast<sockaddr_un&>(where);
    if (address.unix_path.size() >= sizeof un.sun_path) {
      errno = ENAMETOOLONG;
      fail(-1, address);
    }
    un.sun_family = AF_UNIX;
    std::memcpy(un.sun_path, address.unix_path.c_str(), address.unix_path.size() + 1);
    size = sizeof un;
    ::unlink(address.unix_path.c_str());
  } else if (inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    size = sizeof v4;
  } else if (inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    size = sizeof v6;
  } else {
    throw std::runtime_error("listen.address: " + address.text() + " is no IP address");
  }
  const int fd = ::socket(where.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(fd, address);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (where.ss_family != AF_UNIX) ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&where), size) != 0) fail(fd, address);
  if (::listen(fd, kBacklog) != 0) fail(fd, address);
  return fd;
}

}  // namespace semel::proxy
