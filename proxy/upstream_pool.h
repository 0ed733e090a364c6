#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "io/tcp.h"

namespace semel::proxy {

/// Connections to one upstream that wait for their next request, newest first; and, where every
/// slot is taken, the calls that wait for one, in the order in which they came. A slot that comes
/// free is the first one's: nobody who comes later can be faster. So connections wait or calls do,
/// never both.
/// @thread One worker's.
class UpstreamPool {
 public:
  using Clock = Deadlines::Clock;
  static constexpr std::chrono::seconds kIdleMax{60};
  /// An upstream that announced when it closes is not raced against its announcement.
  static constexpr std::chrono::seconds kAnnouncedMargin{1};
  /// Calls that wait for a slot. One more is better told at once.
  static constexpr std::size_t kWaitingMax = 1024;

  /// @param endpoints  How many endpoints the upstream has.
  /// @param open_max   Connections in all, in use or waiting.
  UpstreamPool(std::size_t endpoints, std::size_t open_max)
      : idle_(endpoints), open_max_(open_max) {}

  /// A connection to `endpoint` whose last answer is at most `age_max` old, and which is still open
  /// and silent. @return Null where there is none.
  [[nodiscard]] std::unique_ptr<Connection> take(std::size_t endpoint, Clock::duration age_max);

  /// Gives one back after a complete answer.
  /// @param announced  The value of `Keep-Alive: timeout`, if the upstream sent one.
  /// @param answered   When the answer was complete: the upstream counts its patience from there,
  ///                   however long the store and the client took since.
  void give(std::size_t endpoint, std::unique_ptr<Connection> connection,
            std::optional<std::chrono::seconds> announced,
            Clock::time_point answered = Clock::now());

  /// A slot for one more connection. @return false: none left.
  [[nodiscard]] bool reserve();
  /// The connection of a slot is closed.
  void forget();

  /// A slot that one waited for.
  struct Handed {
    std::unique_ptr<Connection> connection;  ///< Null: the slot is empty; dial.
    std::size_t endpoint = 0;                ///< Of the connection.
  };
  /// Waits in turn for a slot, when reserve() has none. A retired pool serves its queue to the end.
  /// @param age_max  As for take(): an older connection is closed, and only its slot handed on.
  /// @return Absent: `until` passed, the worker ends, or too many wait already.
  [[nodiscard]] Task<std::optional<Handed>> wait(Executor executor, Deadlines& deadlines,
                                                 Clock::time_point until, Clock::duration age_max);

  /// Closes what has waited too long.
  void sweep(Clock::time_point now);

  /// Closes all that waits; what is given back from now on is closed, too.
  void retire();

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    Clock::time_point last_answer;
    Clock::time_point usable_until;

    [[nodiscard]] bool is_usable(Clock::time_point now) const {
      return now < usable_until && connection->is_idle_and_open();
    }
  };
  struct Waiter;

  std::vector<std::vector<Idle>> idle_;
  std::list<Waiter*> waiting_;
  std::size_t open_max_;
  std::size_t open_ = 0;
  bool is_retired_ = false;
};

}  // namespace semel::proxy
