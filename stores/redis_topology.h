#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/tcp.h"
#include "stores/redis_reply.h"

namespace semel {

/// The slot of a cluster that a key is in: of the part between its first braces, if there is one.
/// @source redis.io "Redis cluster specification", "Hash tags"; CRC-16/XMODEM.
[[nodiscard]] std::uint16_t redis_slot_of(std::string_view key);

/// Slots of a cluster and who holds them.
struct RedisSlots {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  Peer primary;
  std::vector<Peer> replicas;
};
/// What CLUSTER SLOTS answered.
/// @param asked  The node that answered: an empty host is its own.
[[nodiscard]] std::vector<RedisSlots> read_redis_slots(const RedisReply& reply, const Peer& asked);

/// Which server holds which lane, as far as is known. All start with the one of the URL; servers
/// that know better say so.
///
/// @thread Any.
class RedisTopology {
 public:
  /// Lanes of a cluster: each a sixteenth of its slots.
  static constexpr std::size_t kClusterLanes = 16;
  enum class Kind : std::uint8_t { Single, Sentinel, Cluster };

  RedisTopology(Kind kind, Peer seed);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::size_t lanes() const { return tags_.size(); }
  [[nodiscard]] const std::string& tag(std::size_t lane) const { return tags_.at(lane); }

  /// Rises with each change: who has seen this one need not look again.
  [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  [[nodiscard]] Peer holder(std::size_t lane) const;
  [[nodiscard]] std::vector<std::size_t> lanes_of(const Peer& peer) const;

  /// The lane is there now: a node, or a sentinel, said so.
  void move(std::size_t lane, const Peer& peer);
  /// The whole map of a cluster. Lanes whose slots nobody holds stay where they were.
  void learn(const std::vector<RedisSlots>& slots);
  /// It is not to be reached: its lanes are asked for at another node, which knows who has them.
  void lose(const Peer& peer);

 private:
  /// With the mutex held.
  void place(std::size_t lane, const Peer& peer);

  const Kind kind_;
  std::vector<std::string> tags_;
  std::atomic<std::uint64_t> version_{1};
  mutable std::mutex mutex_;  ///< Guards what follows.
  std::vector<Peer> holders_;
  std::vector<Peer> nodes_;  ///< All that were ever named in the last map.
  std::size_t next_ = 0;
};

}  // namespace semel
