// One thread polls every socket of a link. What it may do next follows from each flow's state
// alone.
#include "tests/support/faulty_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace semel::testing {
namespace {

using Way = FaultyLink::Way;

constexpr std::array<Way, 2> kWays = {Way::Forth, Way::Back};
constexpr milliseconds kDialling{5'000};

Way opposite(Way way) { return way == Way::Forth ? Way::Back : Way::Forth; }

}  // namespace

FaultyLink::FaultyLink(std::uint16_t target, std::uint64_t seed)
    : target_(target),
      port_(free_port()),
      listener_(Socket::listen_on(port_)),
      random_(seed),
      thread_([this] { run(); }) {}

FaultyLink::~FaultyLink() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  woken_.wake();
  thread_.join();
}

void FaultyLink::arm(Break fault) {
  const std::lock_guard lock(mutex_);
  armed_ = fault;
  has_broken_ = false;
  passed_ = {};
}

bool FaultyLink::disarm() {
  bool broke = false;
  {
    const std::lock_guard lock(mutex_);
    armed_.reset();
    passed_ = {};
    broke = std::exchange(has_broken_, false);
    ends_stalls_ = true;
  }
  woken_.wake();
  return broke;
}

void FaultyLink::pace(Pace pace) {
  const std::lock_guard lock(mutex_);
  pace_ = pace;
}

void FaultyLink::hold() { is_held_ = true; }

void FaultyLink::let_pass() {
  is_held_ = false;
  woken_.wake();
}

std::size_t FaultyLink::passed(Way way) const {
  const std::lock_guard lock(mutex_);
  return passed_[index(way)];
}

bool FaultyLink::has_broken() const {
  const std::lock_guard lock(mutex_);
  return has_broken_;
}

void FaultyLink::run() {
  std::vector<std::pair<Pair*, std::size_t>> sockets;
  for (;;) {
    if (poll_once(sockets) < 0) return;
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
      const bool ends_stalls = std::exchange(ends_stalls_, false);
      for (Pair& pair : pairs_) {
        const bool stalls = pair.flows[0].is_stalled || pair.flows[1].is_stalled;
        if (ends_stalls && stalls) pair.is_over = true;
        for (const Way way : kWays) {
          const bool may_pass = !pair.is_over && !is_held_;
          if (may_pass && is_due(pair.flows[index(way)])) deliver(pair, way);
        }
      }
    }
    pairs_.remove_if([](const Pair& pair) { return is_done(pair); });
  }
}

/// Waits for news and takes in what is there. @return less than 0: polling failed.
int FaultyLink::poll_once(std::vector<std::pair<Pair*, std::size_t>>& sockets) {
  std::vector<pollfd> entries = {{woken_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
  if (pairs_.size() >= kConnectionsMax) entries[1].fd = -1;
  sockets.assign(2, {nullptr, 0});
  auto wake_at = Clock::time_point::max();
  for (Pair& pair : pairs_) {
    for (const Way way : kWays) {
      const Flow& flow = pair.flows[index(way)];
      const Flow& back = pair.flows[index(opposite(way))];  // What this flow's source reads.
      short events = 0;
      if (!flow.has_ended && !flow.is_stalled && flow.pending.size() < kPendingMax) {
        events |= POLLIN;
      }
      if (!is_held_ && !back.pending.empty() && back.due <= Clock::now()) events |= POLLOUT;
      if (!is_held_ && !flow.pending.empty()) wake_at = std::min(wake_at, flow.due);
      if (events == 0) continue;
      entries.push_back({pair.ends[index(way)].fd(), events, 0});
      sockets.emplace_back(&pair, index(way));
    }
  }
  int timeout = -1;
  if (wake_at != Clock::time_point::max() && wake_at > Clock::now()) {
    timeout = static_cast<int>(std::chrono::ceil<milliseconds>(wake_at - Clock::now()).count());
  }
  const int ready = ::poll(entries.data(), entries.size(), timeout);
  if (ready < 0) return errno == EINTR ? 0 : -1;
  if (entries[0].revents != 0) woken_.clear();
  for (std::size_t i = 2; i < entries.size(); ++i) {
    const short mask = POLLIN | POLLHUP | POLLERR;
    Pair& pair = *sockets[i].first;
    if ((entries[i].revents & mask) != 0 && !pair.is_over) {
      receive(pair, kWays[sockets[i].second]);
    }
  }
  if (entries[1].revents != 0) accept_one();
  return ready;
}

void FaultyLink::accept_one() {
  Socket dialled(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!dialled.is_open()) return;
  const int yes = 1;
  ::setsockopt(dialled.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Socket target = Socket::connect_to(target_, Deadline(kDialling));
  if (!target.is_open()) {
    dialled.reset();
    return;
  }
  Pair& pair = pairs_.emplace_back();
  pair.ends = {std::move(dialled), std::move(target)};
}

void FaultyLink::receive(Pair& pair, Way way) {
  Flow& flow = pair.flows[index(way)];
  std::array<char, 16 * 1024> block;
  const Socket& from = pair.ends[index(way)];
  const ssize_t got = ::recv(from.fd(), block.data(), block.size(), MSG_DONTWAIT);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    // A reset is a packet, too: it does not overtake what is held.
    if (!is_held_) return reset(pair);
    flow.has_ended = true;
    return;
  }
  if (got == 0) {
    flow.has_ended = true;
    // Whoever waited behind a stall has given up.
    if (pair.flows[index(opposite(way))].is_stalled) pair.is_over = true;
    return;
  }
  if (flow.is_lost) return;
  if (flow.pending.empty()) {
    const std::lock_guard lock(mutex_);
    flow.due = Clock::now() + pace_.delay;
  }
  flow.pending.append(block.data(), static_cast<std::size_t>(got));
}

bool FaultyLink::is_due(const Flow& flow) const {
  return !flow.is_stalled &&
         (flow.pending.empty() ? flow.has_ended && !flow.is_end_passed : flow.due <= Clock::now());
}

/// How much may be handed on at once.
std::size_t FaultyLink::piece_of(std::size_t pending, Way way) {
  std::size_t size = pending;
  if (pace_.piece_max < kPendingMax) {
    size = std::min(size, static_cast<std::size_t>(1 + random_() % pace_.piece_max));
  }
  if (armed_ && armed_->way == way) size = std::min(size, armed_->at - passed_[index(way)]);
  return size;
}

void FaultyLink::deliver(Pair& pair, Way way) {
  Flow& flow = pair.flows[index(way)];
  const Socket& reader = pair.ends[index(opposite(way))];
  std::size_t& passed = passed_[index(way)];
  const auto breaks_here = [&] { return armed_ && armed_->way == way && armed_->at == passed; };
  while (!flow.pending.empty() && flow.due <= Clock::now()) {
    if (breaks_here()) return fire(pair);
    const std::size_t size = piece_of(flow.pending.size(), way);
    const ssize_t sent =
        ::send(reader.fd(), flow.pending.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR) reset(pair);
      return;
    }
    passed += static_cast<std::size_t>(sent);
    flow.pending.erase(0, static_cast<std::size_t>(sent));
    flow.due = Clock::now() + pace_.delay;
    if (breaks_here()) return fire(pair);
  }
  if (flow.pending.empty() && flow.has_ended) pass_end(pair, way);
}

void FaultyLink::pass_end(Pair& pair, Way way) {
  Flow& flow = pair.flows[index(way)];
  if (std::exchange(flow.is_end_passed, true)) return;
  pair.ends[index(opposite(way))].half_close();
}

void FaultyLink::fire(Pair& pair) {
  const Break fault = *armed_;
  armed_.reset();
  has_broken_ = true;
  Flow& flow = pair.flows[index(fault.way)];
  switch (fault.how) {
    case How::Reset:
      return reset(pair);
    case How::Stall:
      flow.is_stalled = true;
      flow.pending.clear();
      return;
    case How::Close:
    case How::HalfClose:
      break;
  }
  for (const Way way : kWays) {
    if (way != fault.way && fault.how == How::HalfClose) continue;
    Flow& lost = pair.flows[index(way)];
    lost.is_lost = true;
    lost.pending.clear();
    pass_end(pair, way);
  }
}

void FaultyLink::reset(Pair& pair) {
  for (Socket& end : pair.ends) end.reset();
  pair.is_over = true;
}

bool FaultyLink::is_done(const Pair& pair) {
  return pair.is_over || std::ranges::all_of(pair.flows, [](const Flow& flow) {
           return flow.has_ended && flow.is_end_passed && flow.pending.empty();
         });
}

}  // namespace semel::testing
