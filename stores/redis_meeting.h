#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stores/open.h"
#include "stores/redis_epoch.h"
#include "stores/redis_link.h"
#include "stores/redis_names.h"
#include "stores/redis_told.h"
#include "stores/server_clock.h"
#include "stores/shared_witness.h"

namespace semel {

/// What an operator reads of a Redis without a marker.
inline constexpr std::string_view kNoStoreThere =
    "the Redis there holds no store of Semel, or no longer: run `semel store init CONFIG`; but if "
    "there was one, restore it, because a new one knows of no earlier call";

/// What one process and its store know of each other, compared lane by lane on each fresh
/// connection before any call is let through: whether it is the store that was met before, whether
/// it still has every claim that this process was granted, and whether its clock can be believed.
/// @thread Any.
/// @source spec 9, "Loss detection".
class RedisMeeting : public std::enable_shared_from_this<RedisMeeting> {
 public:
  /// @throws StoreError if the folder of the witness is another process's.
  RedisMeeting(const RedisOptions& options, const StoreClock& clock);
  /// What the lanes are called, and how many there are; before the first call.
  void name_lanes(const RedisLinks& links);

  /// Everything a connection is asked before it is let through. Before the store's first call.
  [[nodiscard]] RedisHooks hooks();
  /// What is known of the sentinels' fail-overs, also from the process before. Behind hooks().
  [[nodiscard]] SentinelEpoch& epoch() { return *epoch_; }

  [[nodiscard]] const RedisNames& names(std::size_t lane) const { return names_.at(lane); }
  [[nodiscard]] std::size_t lanes() const { return names_.size(); }
  /// Who this process is towards the store.
  [[nodiscard]] const std::string& writer() const { return writer_; }
  /// The store as this process has met it in that lane.
  [[nodiscard]] std::string met(std::size_t lane) const;
  [[nodiscard]] std::string known_in_words(std::size_t lane) const;
  void note(std::size_t lane, Fence fence);

  /// Writes down what is known, and gives up the folder: what of the links is still under way may
  /// outlive the store.
  void end();

  /// What compares a lane: of RedisScripts::meet.
  /// @param run  Of the server, on a new connection; else empty.
  [[nodiscard]] std::vector<std::string> question(std::size_t lane, const std::string& run) const;
  /// @faults StoreSuspect: it has no marker. StoreUnreachable: it is no store of ours.
  [[nodiscard]] Result<void> take(std::size_t lane, const RedisTold& told);

  /// Takes a lane's answer apart and looks at the clock that it tells.
  /// @param asked  Our own boot time when it was asked.
  [[nodiscard]] Result<RedisTold> hear(std::size_t lane, Result<RedisReply> reply,
                                       std::chrono::nanoseconds asked);
  /// The first two words of every call to that lane.
  [[nodiscard]] std::vector<std::string> beginning(std::size_t lane) const;
  /// By which the lane's records live. Nodes of a cluster tell different times, and none of them is
  /// wrong; but a lane that moves to one whose clock is far ahead is as one whose clock has leapt.
  [[nodiscard]] ServerClock& clock(std::size_t lane) { return clocks_.at(lane); }
  [[nodiscard]] std::chrono::nanoseconds boot() const { return boot_(); }

  /// Why the last connection was not let through; empty: it was.
  [[nodiscard]] std::string objection() const;
  /// What an operator should read.
  [[nodiscard]] std::string remark() const;

 private:
  [[nodiscard]] Task<Result<void>> admit(std::shared_ptr<RedisDoor> door);
  /// With mutex_ held.
  [[nodiscard]] Fence known(std::size_t lane) const;
  [[nodiscard]] Fault object(Fault fault, std::string sentence);
  [[nodiscard]] std::shared_ptr<SentinelEpoch> make_epoch();

  const std::function<std::chrono::nanoseconds()> boot_;
  const bool logs_events_;
  std::deque<ServerClock> clocks_;  ///< By lane.
  mutable std::mutex mutex_;
  std::unique_ptr<SharedWitness> witness_;  ///< Null after end().
  const std::string writer_;
  const std::string group_;  ///< What the sentinels call the primary; empty: there are none.
  std::vector<RedisNames> names_;
  std::vector<std::string> met_;  ///< By lane: the store, or the one that was known before.
  /// While lanes of another store have been met, and not yet all: what was told meanwhile. The
  /// witness, which knows of one store, learns it together with that store's name.
  std::vector<Fence> ahead_;
  bool is_between_ = false;
  std::string objection_;
  std::string warning_;
  std::shared_ptr<SentinelEpoch> epoch_;
};

}  // namespace semel
