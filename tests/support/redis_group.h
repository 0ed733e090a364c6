#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/redis_server.h"

namespace semel::testing {

/// What a SentinelServer watches.
struct SentinelSetup {
  std::string master = "semel";
  std::uint16_t master_port = 0;
  int quorum = 1;
  milliseconds down_after{500};
  milliseconds failover_timeout{2'000};
};

/// A real redis-sentinel, as RedisServer.
class SentinelServer {
 public:
  [[nodiscard]] static bool is_installed();

  /// @throws std::runtime_error with its log if it does not answer.
  explicit SentinelServer(const SentinelSetup& setup);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// The port of the primary that it names now.
  [[nodiscard]] std::uint16_t master_port() const;
  /// As RedisServer::command.
  std::string command(const std::vector<std::string>& words) const;
  /// True once it knows of so many replicas of the primary and of other sentinels.
  [[nodiscard]] bool knows(int replicas, int sentinels,
                           milliseconds patience = milliseconds{20'000}) const;
  void kill9();

 private:
  std::string master_;
  TempFolder folder_;
  std::uint16_t port_;
  std::unique_ptr<Process> process_;
};

/// Three masters that share the slots evenly.
class RedisCluster {
 public:
  /// Starts and joins them, and waits until each says that the cluster is whole.
  /// @param setup  Of each; is_in_cluster is set here.
  explicit RedisCluster(const RedisSetup& setup = {}) : RedisCluster({setup, setup, setup}) {}
  explicit RedisCluster(std::array<RedisSetup, 3> setups);

  [[nodiscard]] RedisServer& node(std::size_t which) { return *nodes_.at(which); }
  /// True once every node says `cluster_state:ok`.
  [[nodiscard]] bool is_whole(milliseconds patience = milliseconds{30'000}) const;
  /// Begins to hand a slot to another node: its owner answers ASK for keys that it has not.
  void begin_move(int slot, std::size_t to);
  /// Hands over the slot's keys, and the slot: its old owner answers MOVED.
  void end_move(int slot, std::size_t to);
  [[nodiscard]] std::size_t owner_of(int slot) const;

 private:
  std::array<std::unique_ptr<RedisServer>, 3> nodes_;
};

}  // namespace semel::testing
