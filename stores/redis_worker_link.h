#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/redis_node.h"
#include "stores/redis_refusal.h"
#include "stores/redis_script.h"
#include "stores/redis_site.h"

namespace semel {

/// One worker's connections, and the way of a call to the one that holds its lane.
/// @thread One worker's.
class RedisLink : public std::enable_shared_from_this<RedisLink> {
 public:
  RedisLink(Executor executor, std::shared_ptr<RedisSite> site);

  /// What RedisLinks::run_until promises.
  [[nodiscard]] Task<Result<RedisReply>> run(RedisCall::Clock::time_point until,
                                             const RedisScript& script, std::size_t lane,
                                             std::vector<std::string> keys,
                                             std::vector<std::string> args, StoreTime not_after);
  /// Asks the sentinels once a second who is the primary, so that one that was demoted and does not
  /// know it yet is not written to for long. No effect without sentinels.
  void follow_sentinels();
  void close();
  [[nodiscard]] const Executor& executor() const { return watch_->executor(); }

 private:
  /// A call on its way: where it is sent, and how it is asked for.
  struct Route;
  enum class Next : std::uint8_t { Done, AskAgain, WaitAndAskAgain };

  static Task<> keep_following(std::shared_ptr<RedisLink> self);
  [[nodiscard]] RedisNode& holder(std::size_t lane);
  [[nodiscard]] RedisNode& node(const Peer& peer);
  /// What a refusal means for the way that the call takes next.
  [[nodiscard]] Next follow(RedisRefusal refusal, const RedisReply& reply, Route& route);

  const std::shared_ptr<LinkWatch> watch_;
  const std::shared_ptr<RedisSite> site_;
  /// By name; the one that moves with the topology has none.
  std::map<std::string, std::shared_ptr<RedisNode>> nodes_;
  std::vector<RedisNode*> holders_;  ///< By lane, as of
  std::uint64_t holders_version_ = 0;
  Timer* following_ = nullptr;  ///< Of keep_following(), between two questions.
};

}  // namespace semel
