#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "io/task.h"
#include "proxy/settling_pause.h"
#include "stores/claim_reply.h"

namespace semel::proxy {

class Worker;

/// For how long a claim is tried to be given back.
enum class GiveBack : std::uint8_t {
  /// Nothing of the attempt can have had an effect. A store that is slow may make the claim after
  /// its lease, and it would stand there as an unknown outcome: asked until the store has answered.
  UntilAnswered,
  /// What was sent may be sent again while the promise is of that kind, and that may change.
  UntilLeaseEnds,
};

/// The claims of one worker that are given back behind their replies. A store that fails is asked
/// by one call at a time, between pauses that grow to two seconds; one that answers, by a few. What
/// has no room in the site's `DisownedClaims` is left to its lease, and counted.
/// @thread One worker's.
class ReleaseQueue {
 public:
  static constexpr std::size_t kCallsMax = 8;

  explicit ReleaseQueue(Worker& worker) : worker_(worker) {}
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  /// @param lease_ends  CLOCK_BOOTTIME.
  void add(const Attempt& attempt, GiveBack until, std::chrono::nanoseconds lease_ends);

 private:
  struct Entry {
    Attempt attempt;
    std::chrono::nanoseconds given_up_at;
    bool was_asked = false;
  };

  void begin_call();
  [[nodiscard]] Task<> call();
  [[nodiscard]] Task<bool> ask(Entry entry);
  [[nodiscard]] Task<> rest();
  void forget(const Entry& entry);

  Worker& worker_;
  std::deque<Entry> waiting_;
  std::size_t calls_ = 0;
  SettlingPause pause_;
};

}  // namespace semel::proxy
