#include "tests/sim/network.h"

#include <algorithm>
#include <utility>

namespace semel::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// What a socket's two buffers hold together before its sender has to wait.
constexpr std::size_t kBuffered = 96 * 1024;
/// Faults are drawn into the first bytes of a connection: most messages are no longer.
constexpr std::uint64_t kFaultWithin = 1'500;

}  // namespace

Network::Pair Network::connect(std::uint16_t port) {
  Pair pair{std::make_shared<End>(), std::make_shared<End>()};
  pair.dialler->peer = pair.acceptor;
  pair.acceptor->peer = pair.dialler;
  pair.dialler->port = pair.acceptor->port = port;
  pair.dialler->line = pair.acceptor->line = ++lines_;
  const Time latency = dice_.chance(weather_.slow)
                           ? dice_.between(milliseconds(10), milliseconds(150))
                           : dice_.between(microseconds(30), microseconds(900));
  pair.dialler->latency = pair.acceptor->latency = latency;
  draw_faults(*pair.dialler);
  draw_faults(*pair.acceptor);
  return pair;
}

void Network::draw_faults(End& end) {
  if (dice_.chance(weather_.cut)) end.cut_at = dice_.below(kFaultWithin);
  if (dice_.chance(weather_.stalled)) {
    end.stall_at = dice_.below(kFaultWithin);
    end.stall = dice_.between(milliseconds(50), milliseconds(4'000));
  }
}

Time Network::travel(const End& from) {
  return from.latency + dice_.between(microseconds(0), microseconds(from.latency.count() / 4'000));
}

Time Network::arrival(End& from) {
  from.last_arrival = std::max(from.last_arrival, timeline_.now() + travel(from));
  return from.last_arrival;
}

std::size_t Network::room(const End& end) const {
  return end.underway >= kBuffered ? 0 : kBuffered - end.underway;
}

std::size_t Network::send(const EndPtr& end, std::string_view bytes) {
  bytes = bytes.substr(0, room(*end));
  if (bytes.empty()) return 0;
  const std::size_t taken = bytes.size();
  end->underway += taken;
  // Sometimes a message comes in two pieces.
  const std::size_t first =
      bytes.size() > 1 && dice_.chance(100) ? 1 + dice_.below(bytes.size() - 1) : bytes.size();
  deliver(end, std::string(bytes.substr(0, first)));
  if (first < bytes.size()) deliver(end, std::string(bytes.substr(first)));
  return taken;
}

void Network::deliver(const EndPtr& from, std::string bytes) {
  const std::uint64_t before = from->sent;
  from->sent += bytes.size();
  if (before <= from->stall_at && from->stall_at < from->sent) {
    from->last_arrival = std::max(from->last_arrival, timeline_.now()) + from->stall;
  }
  if (before <= from->cut_at && from->cut_at < from->sent) {
    bytes.resize(from->cut_at - before);
  } else if (before > from->cut_at) {
    return;  // The line is dead: nothing arrives any more.
  }
  const bool is_cut = from->sent > from->cut_at;
  const Time when = std::max(arrival(*from), timeline_.now());
  timeline_.at(when, [this, from, bytes = std::move(bytes), is_cut] {
    const EndPtr to = from->peer.lock();
    if (to != nullptr && !to->closed && !bytes.empty() && !to->broken) {
      to->inbox += bytes;
      to->arrived += bytes.size();
      if (on_arrival) on_arrival(to, bytes);
      tell(to);
    } else if ((to == nullptr || to->closed) && !bytes.empty()) {
      break_at(from, timeline_.now() + travel(*from));  // A closed socket answers with RST.
    }
    if (!is_cut) return;
    if (to != nullptr) break_at(to, timeline_.now());
    break_at(from, timeline_.now() + travel(*from));
  });
}

void Network::tell(const EndPtr& end) {
  if (end->closed || !end->on_news) return;
  const auto told = end->on_news;  // It may be replaced by what it does.
  told();
}

void Network::break_at(const EndPtr& end, Time when) {
  timeline_.at(when, [end] {
    if (std::exchange(end->broken, true)) return;
    tell(end);
  });
}

void Network::finish(const EndPtr& end) {
  if (std::exchange(end->sent_end, true) || end->broken) return;
  if (end->sent > end->cut_at) return;
  timeline_.at(arrival(*end), [this, end] {
    const EndPtr to = end->peer.lock();
    if (to == nullptr || to->broken || std::exchange(to->peer_ended, true)) return;
    if (on_arrival && !to->closed) on_arrival(to, {});
    tell(to);
  });
}

void Network::reset(const EndPtr& end) {
  end->sent_end = true;
  const EndPtr to = end->peer.lock();
  if (to != nullptr && !end->broken) break_at(to, arrival(*end));
}

void Network::close(const EndPtr& end) {
  if (std::exchange(end->closed, true)) return;
  end->on_news = nullptr;
  if (end->inbox.empty()) {
    finish(end);
  } else {
    reset(end);
  }
}

std::string Network::take(const EndPtr& end) {
  std::string bytes = end->inbox;
  drop_first(end, bytes.size());
  return bytes;
}

void Network::drop_first(const EndPtr& end, std::size_t bytes) {
  end->inbox.erase(0, bytes);
  const EndPtr from = end->peer.lock();
  if (from == nullptr) return;
  const bool was_full = room(*from) == 0;
  from->underway -= std::min(bytes, from->underway);
  if (was_full && room(*from) > 0) {
    timeline_.after(travel(*end), [from] { tell(from); });
  }
}

}  // namespace semel::sim
