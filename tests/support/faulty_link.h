#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/socket.h"
#include "tests/support/wake_pipe.h"

namespace semel::testing {

/// A TCP link on 127.0.0.1 that breaks where the test says: whoever dials its port talks to the
/// target's, and bytes pass both ways, ends and resets too.
///
/// @thread All members may be called while bytes pass; one thread of the link's own passes them.
class FaultyLink {
 public:
  /// Which way bytes go, seen from the one who dialled.
  enum class Way : std::uint8_t { Forth, Back };
  enum class How : std::uint8_t {
    Close,      ///< Both ends read a FIN; what either still sends is lost.
    Reset,      ///< Both ends see an RST.
    HalfClose,  ///< The reader of that way sees a FIN; the other way goes on.
    Stall,      ///< No further byte of that way passes; the connection stays.
  };
  /// One break, after `at` bytes of that way have passed since it was armed, on whichever
  /// connection they went. At 0 it comes in place of the first byte.
  struct Break {
    Way way = Way::Forth;
    How how = How::Close;
    std::size_t at = 0;
  };
  /// How bytes are handed on, both ways.
  struct Pace {
    /// Pieces of 1 to that many bytes, drawn from the link's seed.
    std::size_t piece_max = std::numeric_limits<std::size_t>::max();
    milliseconds delay{0};  ///< Before each piece.
  };

  explicit FaultyLink(std::uint16_t target, std::uint64_t seed = 1);
  ~FaultyLink();
  FaultyLink(const FaultyLink&) = delete;
  FaultyLink& operator=(const FaultyLink&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Breaks once. Counting begins anew.
  void arm(Break fault);
  /// Breaks no more, and ends what stalls. Counting begins anew. @return whether it broke.
  bool disarm();
  void pace(Pace pace);
  /// From now on nothing passes, either way, on any connection, new ones among them: no byte, no
  /// end and no reset, as where a network loses every packet. What is on its way is kept.
  void hold();
  /// What was kept passes, as packets that are sent again do, however late.
  void let_pass();
  /// Who dials from now on talks to another port, as where an address moves to another machine.
  void lead_to(std::uint16_t target) { target_ = target; }

  /// Bytes that were handed on that way since arm() or disarm().
  [[nodiscard]] std::size_t passed(Way way) const;
  [[nodiscard]] bool has_broken() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kConnectionsMax = 512;
  static constexpr std::size_t kPendingMax = 64 * 1024;

  /// Bytes of one way of one connection, from one socket to the other.
  struct Flow {
    std::string pending;
    Clock::time_point due{};
    bool has_ended = false;      ///< Its source has sent a FIN.
    bool is_end_passed = false;  ///< Its reader has been sent one.
    bool is_lost = false;        ///< What still comes is dropped.
    bool is_stalled = false;
  };
  struct Pair {
    std::array<Socket, 2> ends;  ///< Of the one who dialled, and of the target.
    std::array<Flow, 2> flows;   ///< By Way: Forth reads from the first.
    bool is_over = false;
  };
  static std::size_t index(Way way) { return static_cast<std::size_t>(way); }

  void run();
  [[nodiscard]] int poll_once(std::vector<std::pair<Pair*, std::size_t>>& sockets);
  void accept_one();
  void receive(Pair& pair, Way way);
  void deliver(Pair& pair, Way way);
  [[nodiscard]] std::size_t piece_of(std::size_t pending, Way way);
  void pass_end(Pair& pair, Way way);
  void fire(Pair& pair);
  static void reset(Pair& pair);
  [[nodiscard]] static bool is_done(const Pair& pair);
  [[nodiscard]] bool is_due(const Flow& flow) const;

  std::atomic<std::uint16_t> target_;
  const std::uint16_t port_;
  const Socket listener_;
  const WakePipe woken_;
  std::list<Pair> pairs_;  ///< The link's thread's.
  std::atomic<bool> is_held_{false};

  mutable std::mutex mutex_;  ///< Guards what follows.
  std::optional<Break> armed_;
  bool has_broken_ = false;
  bool ends_stalls_ = false;
  bool is_ending_ = false;
  Pace pace_;
  std::mt19937_64 random_;
  std::array<std::size_t, 2> passed_{};

  std::thread thread_;
};

}  // namespace semel::testing
