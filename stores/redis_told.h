#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "stores/claim_reply.h"
#include "stores/record.h"
#include "stores/redis_reply.h"
#include "stores/store.h"

namespace semel {

/// What a script said, taken apart: its server's time, a word, and what the word is about.
class RedisTold {
 public:
  /// @faults RecordCorrupt, StoreFull: the script's own word. StoreTimeout: it failed half-way, or
  ///         said what no script of ours says: it MAY have been carried out.
  [[nodiscard]] static Result<RedisTold> read(RedisReply reply);

  [[nodiscard]] StoreTime time() const { return time_; }
  /// An operator has looked at the server's clock since this process did.
  [[nodiscard]] bool is_clock_settled() const { return news_ == ClockNews::Settled; }
  /// By what the caller knew when it asked, the server's clock has leapt, or the call was long on
  /// its way; and nobody has written it down.
  [[nodiscard]] bool is_late_or_leapt() const { return news_ == ClockNews::LateOrLeapt; }
  [[nodiscard]] bool is(std::string_view word) const { return word_ == word; }
  /// How many items follow the word.
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// Empty where there is no such item.
  [[nodiscard]] const std::string& text(std::size_t at) const;
  [[nodiscard]] std::string take(std::size_t at);
  /// Of an integer, or of a text of digits; 0 where there is none.
  [[nodiscard]] std::int64_t number(std::size_t at) const;

 private:
  /// As stores/redis/clock.lua numbers them.
  enum class ClockNews : std::uint8_t { None, Settled, LateOrLeapt };

  StoreTime time_{0};
  ClockNews news_ = ClockNews::None;
  std::string word_;
  std::vector<RedisReply> items_;
};

/// What a claim came to.
/// @faults As the script says: nothing was taken.
[[nodiscard]] Result<ClaimReply> claim_reply(const RedisTold& told);
/// @faults RecordCorrupt; StoreUnreachable: a claim of this token may still be under way.
[[nodiscard]] Result<WriteReply> write_reply(const RedisTold& told);
[[nodiscard]] Result<ResolveReply> resolve_reply(const RedisTold& told);

/// A time of the server's: microseconds since 1970.
[[nodiscard]] constexpr StoreTime server_time(std::int64_t microseconds) {
  return StoreTime(std::chrono::microseconds(microseconds));
}
[[nodiscard]] std::string in_microseconds(StoreTime time);

}  // namespace semel
