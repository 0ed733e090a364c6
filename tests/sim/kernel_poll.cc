// Waiting in the simulated kernel: epoll, timers, counters.
#include <poll.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "tests/sim/kernel_file.h"

namespace semel::sim {

std::uint32_t Kernel::readiness(const File& file) const {
  switch (file.type) {
    case Type::Socket:
    case Type::Epoll:
      return 0;
    case Type::Listener:
      return file.backlog.empty() ? 0u : std::uint32_t{EPOLLIN};
    case Type::Timer:
    case Type::Counter:
      return file.count > 0 ? std::uint32_t{EPOLLIN} : 0u;
    case Type::Stream:
      break;
  }
  const End& end = *file.end;
  if (end.refused) return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
  if (end.broken) return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
  if (!end.is_open) return 0;
  std::uint32_t events = 0;
  if (!end.inbox.empty() || end.peer_ended) events |= EPOLLIN;
  if (network_.room(end) > 0) events |= EPOLLOUT;
  if (end.peer_ended && end.sent_end) events |= EPOLLHUP;
  return events;
}

short Kernel::poll_events(int fd) const {
  const std::uint32_t events = readiness(*file(fd));
  short said = 0;
  if ((events & EPOLLIN) != 0) said |= POLLIN;
  if ((events & EPOLLOUT) != 0) said |= POLLOUT;
  if ((events & EPOLLERR) != 0) said |= POLLERR;
  if ((events & EPOLLHUP) != 0) said |= POLLHUP;
  return said;
}

/// News of a descriptor: it goes to the end of its set's queue, and whoever waits there is woken.
void Kernel::wake(File& watched) {
  File* epoll = file(watched.watched_by);
  const std::uint32_t wanted = watched.interest.events | EPOLLERR | EPOLLHUP;
  if (epoll == nullptr || (readiness(watched) & wanted) == 0) return;
  if (!std::exchange(watched.is_queued, true)) epoll->ready.push_back(watched.fd);
  if (epoll->sleeper != nullptr) epoll->sleeper->wake();
}

int Kernel::epoll_create() { return open(Type::Epoll); }

int Kernel::epoll_ctl(int epoll, int operation, int fd, const epoll_event* event) {
  File* watched = file(fd);
  if (watched == nullptr) return EBADF;
  if (operation == EPOLL_CTL_DEL) {
    watched->watched_by = -1;
    return 0;
  }
  watched->watched_by = epoll;
  watched->interest = *event;
  wake(*watched);
  return 0;
}

int Kernel::collect(File& epoll, epoll_event* events, int count) {
  int found = 0;
  std::vector<int> again;
  std::size_t seen = 0;
  for (; seen < epoll.ready.size() && found < count; ++seen) {
    File* watched = file(epoll.ready[seen]);
    if (watched == nullptr || watched->watched_by != epoll.fd) continue;
    watched->is_queued = false;
    const std::uint32_t wanted = watched->interest.events | EPOLLERR | EPOLLHUP;
    const std::uint32_t happened = readiness(*watched) & wanted;
    if (happened == 0) continue;
    events[found] = watched->interest;
    events[found++].events = happened;
    if ((watched->interest.events & EPOLLET) == 0) {
      watched->is_queued = true;
      again.push_back(watched->fd);
    }
  }
  epoll.ready.erase(epoll.ready.begin(), epoll.ready.begin() + static_cast<std::ptrdiff_t>(seen));
  epoll.ready.insert(epoll.ready.end(), again.begin(), again.end());
  return found;
}

int Kernel::epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
  File* set = file(epoll);
  const int found = collect(*set, events, count);
  if (found > 0 || timeout_ms == 0) return found;
  Process* process = Process::current();
  SEMEL_CHECK(process != nullptr);
  set->sleeper = process;
  process->wait(timeout_ms < 0 ? Time::max()
                               : timeline_.now() + std::chrono::milliseconds(timeout_ms));
  set->sleeper = nullptr;
  return collect(*set, events, count);
}

int Kernel::timerfd_create() { return open(Type::Timer); }

int Kernel::timerfd_settime(int fd, Time value, bool absolute) {
  File* timer = file(fd);
  timer->count = 0;
  const std::uint64_t setting = ++timer->setting;
  if (value == Time(0)) return 0;
  // Absolute values are in the past: the one that Asio sets for "at once".
  const Time due = absolute ? timeline_.now() : timeline_.now() + value;
  timeline_.at(due, [this, fd, setting] {
    File* still = file(fd);
    if (still == nullptr || still->setting != setting) return;
    still->count = 1;
    wake(*still);
  });
  return 0;
}

int Kernel::eventfd(std::uint64_t count) {
  const int fd = open(Type::Counter);
  file(fd)->count = count;
  return fd;
}

ssize_t Kernel::read_counter(int fd, void* into, std::size_t size) {
  File* counter = file(fd);
  if (counter->count == 0 || size < sizeof counter->count) {
    errno = counter->count == 0 ? EAGAIN : EINVAL;
    return -1;
  }
  std::memcpy(into, &counter->count, sizeof counter->count);
  counter->count = 0;
  return sizeof counter->count;
}

ssize_t Kernel::write_counter(int fd, const void* from, std::size_t size) {
  std::uint64_t more = 0;
  SEMEL_CHECK(size == sizeof more);
  std::memcpy(&more, from, sizeof more);
  file(fd)->count += more;
  wake(*file(fd));
  return sizeof more;
}

}  // namespace semel::sim
