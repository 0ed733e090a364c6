#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "io/parked.h"
#include "stores/redis_reply.h"

namespace semel {

/// One command and the coroutine that waits for what it answers. Lives in that coroutine.
struct RedisCall {
  using Clock = std::chrono::steady_clock;
  /// When its reply may be told.
  enum class Told : std::uint8_t {
    AtOnce,
    Replicated,  ///< Once as many replicas as the pipeline demands have what it reports.
  };

  std::vector<std::string_view> words;  ///< Have to stay until it is settled.
  Clock::time_point until;
  Told told = Told::AtOnce;
  bool asking = false;  ///< A slot on its way to that node: `ASKING` goes before it.

  // Of the pipeline, from here on.
  Result<RedisReply> reply = Fault::StoreUnreachable;
  bool is_answered = false;     ///< The server has answered: it is not under way any more.
  bool is_settled = false;      ///< `reply` is the last word.
  std::uint64_t begins_at = 0;  ///< Bytes that were written before it.
  Parked waits;

  void settle() {
    is_settled = true;
    waits.resume();
  }
  void settle(Result<RedisReply> with) {
    reply = std::move(with);
    settle();
  }
  /// @return Its reply, once there is one.
  [[nodiscard]] Task<> settled() {
    if (!is_settled) co_await waits.wait();
  }
};

}  // namespace semel
