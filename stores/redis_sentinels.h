#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/link_watch.h"
#include "stores/redis_site.h"
#include "stores/redis_wire.h"

namespace semel {

/// Who takes writes, or why nobody knows.
struct RedisPrimary {
  std::optional<Peer> peer;
  std::string failure;
};

/// What one sentinel says of the primary.
struct SentinelWord {
  Peer peer;
  std::uint64_t epoch = 0;  ///< Of its configuration: a later fail-over has a higher one.
  bool is_ahead = false;    ///< It is failing over itself, and the others do not know yet.
};
/// @param address  What `SENTINEL GET-MASTER-ADDR-BY-NAME` answered.
/// @param master   What `SENTINEL MASTER` answered.
/// @return Absent: it does not know the primary.
[[nodiscard]] std::optional<SentinelWord> read_sentinel_word(const RedisReply& address,
                                                             const RedisReply& master);
/// True if `word` is to be believed rather than `other`.
[[nodiscard]] bool is_later(const SentinelWord& word, const SentinelWord& other);

/// Finds the primary: the server of the URL, or the one that the sentinels name. All of them are
/// asked, because one that was cut off names the primary of yesterday; where it alone answers, what
/// is known of later fail-overs counts (SentinelEpoch).
///
/// @thread One worker's.
class RedisSentinels {
 public:
  RedisSentinels(std::shared_ptr<LinkWatch> watch, std::shared_ptr<RedisSite> site);

  /// The topology is told too.
  [[nodiscard]] Task<RedisPrimary> find(Deadlines::Clock::time_point until);
  /// Hangs up on all of them. The next question begins anew.
  void close();

 private:
  /// One that does not answer within this is passed over.
  static constexpr std::chrono::milliseconds kPatience{150};

  struct Sentinel {
    Peer peer;
    std::shared_ptr<RedisWire> wire;  ///< Kept from one question to the next.
  };
  /// @param which  An index of sentinels_.
  [[nodiscard]] RedisPrimary follow(const SentinelWord& word);
  [[nodiscard]] Task<std::optional<SentinelWord>> ask(std::size_t which,
                                                      Deadlines::Clock::time_point until);

  const std::shared_ptr<LinkWatch> watch_;
  const std::shared_ptr<RedisSite> site_;
  std::vector<Sentinel> sentinels_;
};

}  // namespace semel
