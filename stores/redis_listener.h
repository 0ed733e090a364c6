#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/spawn.h"
#include "stores/link_watch.h"
#include "stores/redis_reply.h"
#include "stores/redis_sentinels.h"
#include "stores/redis_site.h"

namespace semel {

/// Hears what is published in some channels, for as long as the store is open.
/// @thread One worker's.
class RedisListener : public std::enable_shared_from_this<RedisListener> {
 public:
  using OnMessage = std::function<void(std::string_view channel, std::string_view text)>;

  /// @param on_gap  Messages may have been missed.
  RedisListener(const Executor& executor, std::shared_ptr<RedisSite> site,
                std::vector<std::string> channels, OnMessage on_message,
                std::function<void()> on_gap);

  [[nodiscard]] const Executor& executor() const { return watch_->executor(); }
  void start();
  void close();

 private:
  /// How often it is looked, at the least, whether the primary is still the one that is heard.
  static constexpr std::chrono::milliseconds kLook{1'000};
  static constexpr std::chrono::milliseconds kRetry{250};

  static Task<> live(std::shared_ptr<RedisListener> self);
  /// One connection from its beginning to its end.
  [[nodiscard]] Task<> listen_once();
  [[nodiscard]] Task<bool> say(std::vector<std::vector<std::string>> commands);
  [[nodiscard]] Task<> hear();
  /// @return false: the server says something else than a listener is told.
  [[nodiscard]] bool take(const RedisReply& reply);
  /// Ends the connection when the peer falls silent, or is not the primary any more.
  static Task<> look_after(std::shared_ptr<RedisListener> self);
  [[nodiscard]] bool is_elsewhere() const;
  void hang_up();

  const std::shared_ptr<LinkWatch> watch_;
  const std::shared_ptr<RedisSite> site_;
  const std::vector<std::string> channels_;
  const OnMessage on_message_;
  const std::function<void()> on_gap_;
  RedisSentinels sentinels_;
  Peer peer_;
  Stream* stream_ = nullptr;        ///< Of listen_once(), while it lasts.
  bool is_login_answered_ = false;  ///< On it; true where none was sent.
  bool is_listening_ = false;       ///< At least one channel was confirmed on it.
  bool is_closed_ = false;
  bool has_heard_ = false;  ///< Since the last PING.
  Timer* resting_ = nullptr;
  Timer* looking_ = nullptr;
  Parked looked_after_;  ///< listen_once(), while look_after() has not ended.
  bool is_looked_after_ = false;
};

}  // namespace semel
