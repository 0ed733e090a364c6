#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/stream.h"
#include "stores/link_watch.h"
#include "stores/redis_call.h"
#include "stores/redis_pipeline.h"

namespace semel {

/// One connection that commands are pipelined on: what is asked in one turn of the worker leaves in
/// one write. It ends with the first call that is not answered in time, so that no answer is ever
/// taken for another's.
///
/// @thread One worker's.
/// @owns   Its coroutines own the socket: it ends no later than their io_context, whoever still
///         holds the wire.
class RedisWire : public std::enable_shared_from_this<RedisWire> {
 public:
  /// @param ended  Called once, when all its calls are settled.
  RedisWire(std::shared_ptr<LinkWatch> watch, RedisPipeline::Replication replication,
            std::function<void()> ended);
  RedisWire(const RedisWire&) = delete;
  RedisWire& operator=(const RedisWire&) = delete;

  void start(std::unique_ptr<Stream> stream);

  [[nodiscard]] bool is_open() const { return state_ == State::Open; }
  /// The peer has ended it while nobody asked anything: found out before a call is spent on it.
  [[nodiscard]] bool is_gone(RedisCall::Clock::time_point now);

  /// Why its peer ended it, as far as TLS knows; absent: it did not, or not before we did.
  [[nodiscard]] const std::optional<std::string>& ended_by_peer() const { return ended_by_peer_; }

  /// Calls that were answered on it.
  [[nodiscard]] std::uint64_t answers() const { return pipeline_.answers(); }

  /// The call is settled later: answered, or with a fault.
  void submit(RedisCall& call);
  /// One command that reports nothing of the store's.
  [[nodiscard]] Task<Result<RedisReply>> ask(std::vector<std::string> words,
                                             RedisCall::Clock::time_point until);
  /// Ends it. Its calls are settled soon, and then `ended` is called.
  void end();

 private:
  enum class State : std::uint8_t { New, Open, Ending, Ended };
  /// Longer than this without a call, and the peer may be gone without our having looked.
  static constexpr std::chrono::milliseconds kFresh{5};

  static Task<> live(std::shared_ptr<RedisWire> self, std::unique_ptr<Stream> stream);
  static Task<> keep_writing(std::shared_ptr<RedisWire> self);
  [[nodiscard]] Task<> read_answers();
  /// The peer has ended it, unless we did before.
  void note_end();
  static void on_overdue(void* self);
  void look_at_the_clock();
  void watch_from(RedisCall::Clock::time_point until);

  const std::shared_ptr<LinkWatch> watch_;
  std::function<void()> ended_;
  RedisPipeline pipeline_;
  State state_ = State::New;
  Stream* stream_ = nullptr;  ///< Of live().
  bool is_writing_ = false;   ///< keep_writing() has not ended.
  std::optional<std::string> ended_by_peer_;
  Parked more_;     ///< keep_writing(), while there is nothing to write.
  Parked written_;  ///< live(), while keep_writing() has not ended.
  Deadlines::Entry overdue_{&RedisWire::on_overdue, this};
  RedisCall::Clock::time_point overdue_at_{};
  RedisCall::Clock::time_point asked_at_{};  ///< When a call last found nobody before it.
};

}  // namespace semel
