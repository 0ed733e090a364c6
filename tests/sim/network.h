#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "tests/sim/dice.h"
#include "tests/sim/timeline.h"

namespace semel::sim {

/// How bad the network is, in permille of the connections.
struct Weather {
  unsigned slow = 50;     ///< Delays of tens of milliseconds instead of fractions of one.
  unsigned cut = 20;      ///< Broken for both ends somewhere in its first kilobytes.
  unsigned stalled = 20;  ///< Stands still for a while somewhere in its first kilobytes.
  unsigned lost = 5;      ///< Never established, and nobody says so.
};

/// One end of a connection: what has arrived here, and how what is sent from here travels.
struct End {
  std::string inbox;              ///< Arrived and not read.
  bool is_open = false;           ///< The connection is established.
  bool refused = false;           ///< Nobody listens there.
  bool peer_ended = false;        ///< FIN has arrived.
  bool broken = false;            ///< RST has arrived.
  bool closed = false;            ///< By its owner: nothing is told any more.
  bool sent_end = false;          ///< No further byte may be sent.
  std::size_t underway = 0;       ///< Sent from here and not read by the peer.
  std::uint64_t sent = 0;         ///< Bytes that left here, in all.
  std::uint64_t arrived = 0;      ///< Bytes that arrived here, in all.
  std::uint16_t process = 0;      ///< The owner; 0: an actor.
  std::uint16_t port = 0;         ///< Which was dialled.
  std::uint32_t line = 0;         ///< The same number on both ends.
  std::function<void()> on_news;  ///< Open, refused, bytes, an end, or room to send again.
  std::weak_ptr<End> peer;

  Time opened{0};
  Time latency{0};
  Time last_arrival{0};  ///< Of what was sent from here: nothing overtakes.
  std::uint64_t cut_at = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t stall_at = std::numeric_limits<std::uint64_t>::max();
  Time stall{0};
};
using EndPtr = std::shared_ptr<End>;

/// Connections as queues in memory: bytes arrive in order, in pieces, late, or not at all.
class Network {
 public:
  Network(Timeline& timeline, Dice dice, Weather weather)
      : timeline_(timeline), dice_(dice), weather_(weather) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Both ends of a new connection, not open yet.
  struct Pair {
    EndPtr dialler;
    EndPtr acceptor;
  };
  [[nodiscard]] Pair connect(std::uint16_t port);
  /// True: the first packet of this connection is lost.
  [[nodiscard]] bool loses_it() { return dice_.chance(weather_.lost); }
  /// The time from one end to the other, drawn anew for each message.
  [[nodiscard]] Time travel(const End& from);

  /// How much may be sent now.
  [[nodiscard]] std::size_t room(const End& end) const;
  /// @return How many bytes were taken; fewer than asked for where the peer does not read.
  std::size_t send(const EndPtr& end, std::string_view bytes);
  /// FIN. What was sent before arrives before.
  void finish(const EndPtr& end);
  /// RST: the peer finds the connection broken, once what is underway has arrived.
  void reset(const EndPtr& end);
  /// As close(2): FIN, or RST where bytes that arrived were not read.
  void close(const EndPtr& end);
  /// Takes what has arrived.
  std::string take(const EndPtr& end);
  /// Takes the first bytes of what has arrived, which the caller has seen.
  void drop_first(const EndPtr& end, std::size_t bytes);
  /// Lets the owner of an end know, unless it has closed it.
  static void tell(const EndPtr& end);
  /// From now on no connection is cut or stalled.
  void clear_up() { weather_ = Weather{0, 0, 0, 0}; }

  /// Called when bytes, or with none the peer's end, have arrived, before the end is told.
  std::function<void(const EndPtr& end, std::string_view bytes)> on_arrival;

 private:
  void deliver(const EndPtr& from, std::string bytes);
  void break_at(const EndPtr& end, Time when);
  [[nodiscard]] Time arrival(End& from);
  void draw_faults(End& end);

  Timeline& timeline_;
  Dice dice_;
  Weather weather_;
  std::uint32_t lines_ = 0;
};

}  // namespace semel::sim
