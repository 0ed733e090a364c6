// Loaded with LD_PRELOAD into the program under test: the N-th call of one kind is killed, stopped,
// fails or moves one byte only, as the plan says that a test has mapped (nth_call_plan.h). The file
// named by SEMEL_NTH_CALL is the plan. Only calls on the store's files, on sockets and of the event
// loop are counted, whichever thread makes them.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "tests/support/preload/nth_call_plan.h"

namespace {

using namespace semel::testing;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

NthCallPlan* map_plan() {
  const char* file = std::getenv("SEMEL_NTH_CALL");
  const int fd = file == nullptr ? -1 : next<decltype(&::open)>("open")(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* page = ::mmap(nullptr, sizeof(NthCallPlan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  next<decltype(&::close)>("close")(fd);
  return page == MAP_FAILED ? nullptr : static_cast<NthCallPlan*>(page);
}

/// The plan, where somebody asks for calls of that kind at all.
NthCallPlan* plan_for(Syscall call) {
  static NthCallPlan* const plan = map_plan();
  if (plan == nullptr) return nullptr;
  const bool asked = plan->strike.load().call == call || plan->is_counting != 0;
  return asked ? plan : nullptr;
}

bool names_a_store(std::string_view path) { return path.find("semel.db") != path.npos; }

bool links_to(int fd, std::string_view part) {
  const int saved = errno;
  std::array<char, 32> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  std::array<char, 512> path{};
  const ssize_t size = ::readlink(link.data(), path.data(), path.size());
  errno = saved;
  return size > 0 && std::string_view(path.data(), static_cast<std::size_t>(size)).find(part) !=
                         std::string_view::npos;
}
bool is_store(int fd) { return links_to(fd, "semel.db"); }

bool is_socket(int fd) {
  const int saved = errno;
  struct stat file{};
  const bool is = ::fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode);
  errno = saved;
  return is;
}

/// Counts one call of that kind. @return what it meets.
Strike count(NthCallPlan& plan, Syscall call) {
  if (plan.is_counting != 0) ++plan.seen[static_cast<std::size_t>(call)];
  Strike strike = plan.strike;
  while (strike.call == call && strike.left > 0) {
    Strike after = strike;
    --after.left;
    if (plan.strike.compare_exchange_weak(strike, after))
      return after.left == 0 ? strike : Strike();
  }
  return {};
}

template <class Matches>
Strike meet(Syscall call, Matches matches) {
  NthCallPlan* const plan = plan_for(call);
  if (plan == nullptr || !matches()) return {};
  return count(*plan, call);
}
Strike meet_file(Syscall call, int fd) {
  return meet(call, [fd] { return is_store(fd); });
}
Strike meet_socket(Syscall call, int fd) {
  return meet(call, [fd] { return is_socket(fd); });
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// Which events an epoll waits for on a descriptor, as it was told.
struct Watch {
  int epoll = -1;
  epoll_event event{};
};
constexpr std::size_t kWatchesMax = 4'096;
std::mutex watches_mutex;
std::array<Watch, kWatchesMax> watches;

/// A descriptor that was not ready becomes so later: an edge that is told anew.
void announce_again(int fd) {
  const std::lock_guard lock(watches_mutex);
  if (fd < 0 || static_cast<std::size_t>(fd) >= kWatchesMax) return;
  Watch& watch = watches[static_cast<std::size_t>(fd)];
  if (watch.epoll < 0) return;
  next<decltype(&::epoll_ctl)>("epoll_ctl")(watch.epoll, EPOLL_CTL_MOD, fd, &watch.event);
}

/// Carries out what `strike` says of a call.
/// @param whole  The real call.
/// @param part   The real call on one byte.
/// @param fd     Its descriptor, or -1.
template <class Whole, class Part>
auto carry_out(const Strike& strike, int fd, Whole whole, Part part) -> decltype(whole()) {
  switch (strike.fate) {
    case Fate::Spared:
      return whole();
    case Fate::Kill:
      die();
    case Fate::KillBehind:
      static_cast<void>(whole());
      die();
    case Fate::Stop:
      ::kill(::getpid(), SIGSTOP);
      return whole();
    case Fate::Short:
      return part();
    case Fate::Cut: {
      const auto moved = part();
      ::shutdown(fd, SHUT_RDWR);
      return moved;
    }
    case Fate::Fail:
      break;
  }
  if (strike.error == EAGAIN) announce_again(fd);
  errno = strike.error;
  return -1;
}

template <class Whole>
auto carry_out(const Strike& strike, int fd, Whole whole) -> decltype(whole()) {
  return carry_out(strike, fd, whole, whole);
}

/// The first byte of what is to be sent or received.
iovec one_byte(const iovec* vectors, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (vectors[i].iov_len > 0) return {vectors[i].iov_base, 1};
  }
  return {nullptr, 0};
}

template <class Real>
ssize_t vectored(Syscall call, Real real, int fd, const iovec* vectors, int count) {
  const auto whole = [&] { return real(fd, vectors, count); };
  const auto part = [&] {
    const iovec one = one_byte(vectors, static_cast<std::size_t>(count));
    return real(fd, &one, 1);
  };
  return carry_out(meet_socket(call, fd), fd, whole, part);
}

template <class Real, class Message>
ssize_t message_call(Syscall call, Real real, int fd, Message* message, int flags) {
  const auto whole = [&] { return real(fd, message, flags); };
  const auto part = [&] {
    iovec one = one_byte(message->msg_iov, message->msg_iovlen);
    msghdr shorter = *message;
    shorter.msg_iov = &one;
    shorter.msg_iovlen = 1;
    return real(fd, &shorter, flags);
  };
  return carry_out(meet_socket(call, fd), fd, whole, part);
}

template <class Real, class Bytes>
ssize_t positioned(Syscall call, Real real, int fd, Bytes* bytes, size_t size, off_t at) {
  const auto whole = [&] { return real(fd, bytes, size, at); };
  const auto part = [&] { return real(fd, bytes, size > 0 ? 1 : 0, at); };
  return carry_out(meet_file(call, fd), fd, whole, part);
}

template <class Real>
int opened(Real real, const char* path, int flags, mode_t mode) {
  const Strike strike = meet(Syscall::Open, [path] { return names_a_store(path); });
  return carry_out(strike, -1, [&] { return real(path, flags, mode); });
}

mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto real = next<decltype(&::open)>("open");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(real, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  static const auto real = next<decltype(&::open64)>("open64");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(real, path, flags, mode);
}

ssize_t pread(int fd, void* bytes, size_t size, off_t at) {
  static const auto real = next<decltype(&::pread)>("pread");
  return positioned(Syscall::Pread, real, fd, bytes, size, at);
}
ssize_t pread64(int fd, void* bytes, size_t size, off_t at) {
  static const auto real = next<decltype(&::pread64)>("pread64");
  return positioned(Syscall::Pread, real, fd, bytes, size, at);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  static const auto real = next<decltype(&::pwrite)>("pwrite");
  return positioned(Syscall::Pwrite, real, fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t at) {
  static const auto real = next<decltype(&::pwrite64)>("pwrite64");
  return positioned(Syscall::Pwrite, real, fd, bytes, size, at);
}

int fdatasync(int fd) {
  static const auto real = next<decltype(&::fdatasync)>("fdatasync");
  return carry_out(meet_file(Syscall::Fdatasync, fd), fd, [&] { return real(fd); });
}
int fsync(int fd) {
  static const auto real = next<decltype(&::fsync)>("fsync");
  return carry_out(meet_file(Syscall::Fsync, fd), fd, [&] { return real(fd); });
}
int ftruncate(int fd, off_t size) noexcept {
  static const auto real = next<decltype(&::ftruncate)>("ftruncate");
  return carry_out(meet_file(Syscall::Ftruncate, fd), fd, [&] { return real(fd, size); });
}
int ftruncate64(int fd, off_t size) noexcept {
  static const auto real = next<decltype(&::ftruncate64)>("ftruncate64");
  return carry_out(meet_file(Syscall::Ftruncate, fd), fd, [&] { return real(fd, size); });
}
int fallocate(int fd, int mode, off_t at, off_t size) {
  static const auto real = next<decltype(&::fallocate)>("fallocate");
  return carry_out(meet_file(Syscall::Fallocate, fd), fd, [&] { return real(fd, mode, at, size); });
}

int close(int fd) {
  static const auto real = next<decltype(&::close)>("close");
  Strike strike = meet_file(Syscall::CloseFile, fd);
  if (strike.fate == Fate::Spared) strike = meet_socket(Syscall::CloseSocket, fd);
  if (strike.fate == Fate::Fail) real(fd);  // Linux has closed it whatever it says.
  return carry_out(strike, fd, [&] { return real(fd); });
}

int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  static const auto real = next<decltype(&::accept4)>("accept4");
  return carry_out(meet_socket(Syscall::Accept, fd), fd,
                   [&] { return real(fd, peer, size, flags); });
}
int socket(int domain, int type, int protocol) noexcept {
  static const auto real = next<decltype(&::socket)>("socket");
  const Strike strike = meet(Syscall::Socket, [] { return true; });
  return carry_out(strike, -1, [&] { return real(domain, type, protocol); });
}
int connect(int fd, const sockaddr* peer, socklen_t size) {
  static const auto real = next<decltype(&::connect)>("connect");
  return carry_out(meet_socket(Syscall::Connect, fd), fd, [&] { return real(fd, peer, size); });
}
int shutdown(int fd, int how) noexcept {
  static const auto real = next<decltype(&::shutdown)>("shutdown");
  return carry_out(meet_socket(Syscall::Shutdown, fd), fd, [&] { return real(fd, how); });
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  static const auto real = next<decltype(&::setsockopt)>("setsockopt");
  return carry_out(meet_socket(Syscall::Setsockopt, fd), fd,
                   [&] { return real(fd, level, name, value, size); });
}
int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  static const auto real = next<decltype(&::getsockopt)>("getsockopt");
  return carry_out(meet_socket(Syscall::Getsockopt, fd), fd,
                   [&] { return real(fd, level, name, value, size); });
}
int ioctl(int fd, unsigned long request, ...) noexcept {
  static const auto real = next<int (*)(int, unsigned long, void*)>("ioctl");
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return carry_out(meet_socket(Syscall::Ioctl, fd), fd,
                   [&] { return real(fd, request, argument); });
}

ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  static const auto real = next<decltype(&::recv)>("recv");
  return carry_out(
      meet_socket(Syscall::Recv, fd), fd, [&] { return real(fd, bytes, size, flags); },
      [&] { return real(fd, bytes, size > 0 ? 1 : 0, flags); });
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto real = next<decltype(&::recvmsg)>("recvmsg");
  return message_call(Syscall::Recv, real, fd, message, flags);
}
ssize_t readv(int fd, const iovec* vectors, int count) {
  static const auto real = next<decltype(&::readv)>("readv");
  return vectored(Syscall::Recv, real, fd, vectors, count);
}
ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  static const auto real = next<decltype(&::send)>("send");
  return carry_out(
      meet_socket(Syscall::Send, fd), fd, [&] { return real(fd, bytes, size, flags); },
      [&] { return real(fd, bytes, size > 0 ? 1 : 0, flags); });
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto real = next<decltype(&::sendmsg)>("sendmsg");
  return message_call(Syscall::Send, real, fd, message, flags);
}
ssize_t writev(int fd, const iovec* vectors, int count) {
  static const auto real = next<decltype(&::writev)>("writev");
  return vectored(Syscall::Send, real, fd, vectors, count);
}
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  static const auto real = next<decltype(&::epoll_ctl)>("epoll_ctl");
  const Strike strike = meet(Syscall::EpollCtl, [] { return true; });
  const int result = carry_out(strike, fd, [&] { return real(epoll, operation, fd, event); });
  if (result == 0 && fd >= 0 && static_cast<std::size_t>(fd) < kWatchesMax) {
    const std::lock_guard lock(watches_mutex);
    Watch& watch = watches[static_cast<std::size_t>(fd)];
    watch = operation == EPOLL_CTL_DEL ? Watch{} : Watch{epoll, *event};
  }
  return result;
}
int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static const auto real = next<decltype(&::epoll_wait)>("epoll_wait");
  const Strike strike = meet(Syscall::EpollWait, [] { return true; });
  return carry_out(strike, -1, [&] { return real(epoll, events, most, timeout); });
}

}  // extern "C"
