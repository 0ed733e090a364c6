#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis_call.h"
#include "stores/redis_reply.h"

namespace semel {

/// The calls of one connection: in which order their bytes leave, and whose answer the next one is.
/// Knows no socket and no clock; whoever drives it writes what it gives and feeds what comes.
///
/// A caller that is answered goes on inside feed() or fail(), and may ask again from there.
/// @thread One worker's.
class RedisPipeline {
 public:
  /// What has to be had before a reply is told.
  struct Replication {
    int replicas = 0;                    ///< 0: nothing.
    std::chrono::milliseconds patience;  ///< How long the server waits for them.
  };
  /// Of flushes that wait for replicas so many are under way: one that waits, and one that the
  /// server finds behind it. What is asked meanwhile shares the next one.
  static constexpr std::size_t kFlushesMax = 2;

  explicit RedisPipeline(Replication replication) : replication_(replication) {}
  ~RedisPipeline() { abandon(); }
  RedisPipeline(const RedisPipeline&) = delete;
  RedisPipeline& operator=(const RedisPipeline&) = delete;

  void add(RedisCall& call) { unsent_.push_back(&call); }

  /// True if take() would give something.
  [[nodiscard]] bool has_more() const { return !unsent_.empty() && !is_held_back(); }
  /// Everything that waits to be written, as one piece.
  /// @owns Stays as it is until the next take().
  [[nodiscard]] const std::string& take();
  /// So many bytes of what take() gave have left.
  void wrote(std::size_t bytes) { written_ += bytes; }

  /// @return false: what came is no answer to what was asked, or no answer at all.
  [[nodiscard]] bool feed(std::string_view bytes);

  /// Calls that have not left and whose time is over: StoreUnreachable.
  void expire_unsent(RedisCall::Clock::time_point now);
  /// The connection is over: StoreTimeout for each call of which a byte may have left and that was
  /// not answered, or not known to be replicated; StoreUnreachable for the others.
  void fail();

  /// Callers that still wait never go on: their worker is gone.
  void abandon();

  /// When the time of the first call is over. Absent: nobody waits.
  [[nodiscard]] std::optional<RedisCall::Clock::time_point> first_end() const;
  /// The same of those that have left: past it the connection is of no use any more.
  [[nodiscard]] std::optional<RedisCall::Clock::time_point> first_end_under_way() const;
  /// Calls that the server has answered so far.
  [[nodiscard]] std::uint64_t answers() const { return answers_; }
  [[nodiscard]] bool is_idle() const { return unsent_.empty() && expected_.empty(); }

 private:
  /// Whose answer is awaited.
  struct Expected {
    enum class Kind : std::uint8_t { Call, Asking, Wait };
    Kind kind = Kind::Call;
    RedisCall* call = nullptr;  ///< Of Call.
  };

  [[nodiscard]] bool is_held_back() const { return flushes_under_way_ >= kFlushesMax; }
  void accept(const Expected& expected, RedisReply reply);
  void tell_flush(const RedisReply& acknowledged);

  const Replication replication_;
  RedisReader reader_;
  std::deque<RedisCall*> unsent_;
  std::deque<Expected> expected_;
  std::vector<RedisCall*> answered_;  ///< Until their flush is replicated.
  std::size_t flushes_under_way_ = 0;
  std::uint64_t answers_ = 0;
  std::string out_;
  std::uint64_t taken_ = 0;    ///< Bytes that take() has given.
  std::uint64_t written_ = 0;  ///< And those that have left.
};

}  // namespace semel
