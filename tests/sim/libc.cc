// The functions of the C library that Asio and the proxy use, interposed by symbol: this program
// defines them, so that the production code and libstdc++ call these. Descriptors of the simulated
// kernel end there; everything else goes to the real one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <ctime>
#include <string>

#include "tests/sim/kernel.h"

namespace {

using semel::sim::Kernel;
using semel::sim::Time;

/// A descriptor of ours, while there is a machine of ours.
Kernel* owner_of(int fd) { return Kernel::is_ours(fd) ? Kernel::current() : nullptr; }

/// An error number as a system call reports it.
int reported(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

std::uint16_t port_of(const sockaddr* address) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
}

std::string joined(const iovec* pieces, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    all.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  }
  return all;
}

ssize_t receive_into(Kernel& kernel, int fd, const iovec* rooms, std::size_t count, bool peek) {
  ssize_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (rooms[i].iov_len == 0) continue;
    const ssize_t got =
        kernel.receive(fd, static_cast<char*>(rooms[i].iov_base), rooms[i].iov_len, peek);
    if (got <= 0) return all > 0 ? all : got;
    all += got;
    if (static_cast<std::size_t>(got) < rooms[i].iov_len) break;
  }
  return all;
}

timespec spec_of(Time time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      *now = spec_of(kernel->wall());
      return 0;
    case CLOCK_BOOTTIME:
      *now = spec_of(kernel->boot());
      return 0;
    default:
      *now = spec_of(kernel->monotonic());
      return 0;
  }
}

std::time_t time(std::time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

ssize_t getrandom(void* into, std::size_t size, unsigned flags) {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return syscall(SYS_getrandom, into, size, flags);
  kernel->fill_random(into, size);
  return static_cast<ssize_t>(size);
}

int socket(int domain, int type, int protocol) noexcept {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
  return kernel->open_socket();
}

int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_bind, fd, address, size));
  return reported(kernel->bind(fd, port_of(address)));
}

int listen(int fd, int backlog) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_listen, fd, backlog));
  return reported(kernel->listen(fd));
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_accept4, fd, address, size, flags));
  return kernel->accept(fd, address, size);
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_connect, fd, address, size));
  return reported(kernel->connect(fd, port_of(address)));
}

int close(int fd) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_close, fd));
  return reported(kernel->close(fd));
}

int shutdown(int fd, int how) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_shutdown, fd, how));
  return how == SHUT_RD ? 0 : reported(kernel->shutdown_write(fd));
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_recvmsg, fd, message, flags);
  return receive_into(*kernel, fd, message->msg_iov, message->msg_iovlen, (flags & MSG_PEEK) != 0);
}

ssize_t recv(int fd, void* into, std::size_t size, int flags) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_recvfrom, fd, into, size, flags, nullptr, nullptr);
  return kernel->receive(fd, static_cast<char*>(into), size, (flags & MSG_PEEK) != 0);
}

ssize_t read(int fd, void* into, std::size_t size) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_read, fd, into, size);
  if (!kernel->is_stream(fd)) return kernel->read_counter(fd, into, size);
  return kernel->receive(fd, static_cast<char*>(into), size, false);
}

ssize_t readv(int fd, const iovec* rooms, int count) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_readv, fd, rooms, count);
  return receive_into(*kernel, fd, rooms, static_cast<std::size_t>(count), false);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_sendmsg, fd, message, flags);
  return kernel->send(fd, joined(message->msg_iov, message->msg_iovlen));
}

ssize_t send(int fd, const void* from, std::size_t size, int flags) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_sendto, fd, from, size, flags, nullptr, 0);
  return kernel->send(fd, {static_cast<const char*>(from), size});
}

ssize_t write(int fd, const void* from, std::size_t size) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_write, fd, from, size);
  if (!kernel->is_stream(fd)) return kernel->write_counter(fd, from, size);
  return kernel->send(fd, {static_cast<const char*>(from), size});
}

ssize_t writev(int fd, const iovec* pieces, int count) {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) return syscall(SYS_writev, fd, pieces, count);
  return kernel->send(fd, joined(pieces, static_cast<std::size_t>(count)));
}

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (owner_of(fd) == nullptr) return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
  return 0;  // FIONBIO: nothing of ours ever blocks.
}

int setsockopt(int fd, int level, int option, const void* value, socklen_t size) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) {
    return static_cast<int>(syscall(SYS_setsockopt, fd, level, option, value, size));
  }
  if (level == SOL_SOCKET && option == SO_LINGER && size == sizeof(linger)) {
    const auto* wanted = static_cast<const linger*>(value);
    if (wanted->l_onoff != 0 && wanted->l_linger == 0) kernel->set_linger_zero(fd);
  }
  return 0;
}

int getsockopt(int fd, int level, int option, void* value, socklen_t* size) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) {
    return static_cast<int>(syscall(SYS_getsockopt, fd, level, option, value, size));
  }
  *static_cast<int*>(value) =
      level == SOL_SOCKET && option == SO_ERROR ? kernel->take_error(fd) : 0;
  *size = sizeof(int);
  return 0;
}

// glibc declares the array as written only, and gcc believes it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
int poll(pollfd* watched, nfds_t count, int timeout) {
  Kernel* kernel = count == 1 ? owner_of(watched[0].fd) : nullptr;
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_poll, watched, count, timeout));
  const int wanted = watched[0].events | POLLERR | POLLHUP;
  watched[0].revents = static_cast<short>(kernel->poll_events(watched[0].fd) & wanted);
  return watched[0].revents != 0 ? 1 : 0;
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

int epoll_create1(int flags) noexcept {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_epoll_create1, flags));
  return kernel->epoll_create();
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  Kernel* kernel = owner_of(epoll);
  if (kernel == nullptr) {
    return static_cast<int>(syscall(SYS_epoll_ctl, epoll, operation, fd, event));
  }
  return reported(kernel->epoll_ctl(epoll, operation, fd, event));
}

int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  Kernel* kernel = owner_of(epoll);
  if (kernel == nullptr) {
    return static_cast<int>(
        syscall(SYS_epoll_pwait, epoll, events, count, timeout, nullptr, std::size_t{8}));
  }
  return kernel->epoll_wait(epoll, events, count, timeout);
}

int timerfd_create(clockid_t clock, int flags) noexcept {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_timerfd_create, clock, flags));
  return kernel->timerfd_create();
}

int timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* before) noexcept {
  Kernel* kernel = owner_of(fd);
  if (kernel == nullptr) {
    return static_cast<int>(syscall(SYS_timerfd_settime, fd, flags, value, before));
  }
  const Time wanted = std::chrono::seconds(value->it_value.tv_sec) +
                      std::chrono::nanoseconds(value->it_value.tv_nsec);
  return reported(kernel->timerfd_settime(fd, wanted, (flags & TFD_TIMER_ABSTIME) != 0));
}

int eventfd(unsigned int count, int flags) noexcept {
  Kernel* kernel = Kernel::current();
  if (kernel == nullptr) return static_cast<int>(syscall(SYS_eventfd2, count, flags));
  return kernel->eventfd(count);
}

}  // extern "C"
