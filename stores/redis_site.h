#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "io/tls.h"
#include "stores/open.h"
#include "stores/redis_epoch.h"
#include "stores/redis_facts.h"
#include "stores/redis_ghosts.h"
#include "stores/redis_link.h"
#include "stores/redis_pipeline.h"
#include "stores/redis_topology.h"
#include "stores/redis_url.h"

namespace semel {

/// What all links of one store share. They hold it, and it outlives the store where they do.
/// @thread Any.
class RedisSite {
 public:
  /// @throws StoreError
  RedisSite(RedisOptions options, RedisHooks hooks);

  [[nodiscard]] RedisPipeline::Replication replication() const;
  /// How long one attempt at a connection may take.
  [[nodiscard]] std::chrono::milliseconds connect_patience() const;

  void close() { closed_.store(true); }
  [[nodiscard]] bool is_closed() const { return closed_.load(); }

  /// A connection was let through, or was looked at again.
  void note_facts(const RedisFacts& facts);
  [[nodiscard]] std::vector<RedisFacts> facts() const;
  void note_failure(std::string sentence);
  /// A server that is up refuses what it is asked, until it answers again.
  void note_refusal(std::string sentence);
  void note_answer();
  [[nodiscard]] std::string remark() const;
  /// Each sentence once.
  void warn(const std::string& sentence);

  using Clock = std::chrono::steady_clock;
  /// A connection to that node was let through; of one that moves with the topology: no name.
  void note_reached(const std::string& node);
  /// True if some worker has reached it later than `since`: whoever has not may try at once.
  [[nodiscard]] bool is_reached_since(const std::string& node, Clock::time_point since) const;

  const RedisOptions options;
  const RedisUrl url;
  const RedisHooks hooks;
  const std::shared_ptr<const TlsTerms> tls;  ///< Null: plain.
  const std::vector<Peer> sentinels;
  const std::shared_ptr<SentinelEpoch> epoch;
  RedisTopology topology;
  RedisGhosts ghosts;  ///< Of claims.

 private:
  std::atomic<bool> closed_{false};
  std::atomic<bool> is_refused_{false};
  mutable std::mutex mutex_;  ///< Guards what follows.
  std::map<std::string, RedisFacts> facts_;
  std::string remark_;
  std::set<std::string> warned_;
  std::map<std::string, Clock::time_point> reached_;
};

}  // namespace semel
