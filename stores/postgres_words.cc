#include "stores/postgres_words.h"

#include <memory>

#include "stores/record_codec.h"

namespace semel {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kSecondsMax = 100'000'000'000;  ///< Three thousand years.

constexpr std::array kReasons{
    IndeterminateReason::Timeout,   IndeterminateReason::Cut,
    IndeterminateReason::Malformed, IndeterminateReason::UpstreamStatus,
    IndeterminateReason::OwnerLost, IndeterminateReason::Unrecorded,
    IndeterminateReason::Internal,
};

std::int64_t seconds_of(std::chrono::seconds span) {
  return std::clamp<std::int64_t>(span.count(), 0, kSecondsMax);
}

}  // namespace

PgValue pg_time(StoreTime time) {
  return pg_int8(std::chrono::duration_cast<microseconds>(time).count());
}

StoreTime store_time_of(std::int64_t microseconds_since_1970) {
  constexpr std::int64_t kMax = std::chrono::duration_cast<microseconds>(StoreTime::max()).count();
  return microseconds(std::clamp(microseconds_since_1970, -kMax, kMax));
}

PgValue pg_span(std::chrono::milliseconds span) {
  return pg_int8(std::clamp<std::int64_t>(span.count(), 0, kSecondsMax * 1'000) * 1'000);
}

PgValue pg_span(std::chrono::seconds span) { return pg_int8(seconds_of(span)); }

PgValue pg_span(const std::optional<std::chrono::seconds>& span) {
  if (!span) return std::nullopt;
  return pg_span(*span);
}

PgValue pg_fence(Fence fence) { return pg_int8(static_cast<std::int64_t>(fence.value)); }

PgValue pg_answer(const StoredResponse& response) {
  if (response.kept == BodyKept::NotKept) return std::nullopt;
  return encode_response(response);
}

const PgValue* PgColumns::next() {
  if (at_ < row_.size()) return &row_[at_++];
  ok_ = false;
  return nullptr;
}

std::int64_t PgColumns::number() {
  const auto value = maybe_number();
  if (!value) ok_ = false;
  return value.value_or(0);
}

std::optional<std::int64_t> PgColumns::maybe_number() {
  const PgValue* value = next();
  if (value == nullptr || !*value) return std::nullopt;
  const auto number = pg_integer(*value);
  if (!number) ok_ = false;
  return number;
}

std::string_view PgColumns::text() {
  const auto value = maybe_text();
  if (!value) ok_ = false;
  return value.value_or(std::string_view());
}

std::optional<std::string_view> PgColumns::maybe_text() {
  const PgValue* value = next();
  if (value == nullptr || !*value) return std::nullopt;
  return std::string_view(**value);
}

Policy PgColumns::policy() {
  const auto policy = parse_policy(text());
  if (!policy || !is_keyed(*policy)) ok_ = false;
  // What cannot be read is never the more permissive word.
  return policy.value_or(Policy::Effectful);
}

std::optional<IndeterminateReason> PgColumns::maybe_reason() {
  const auto word = maybe_text();
  if (!word) return std::nullopt;
  for (const IndeterminateReason reason : kReasons) {
    if (name(reason) == *word) return reason;
  }
  ok_ = false;
  return std::nullopt;
}

std::optional<std::uint16_t> PgColumns::maybe_status() {
  const auto number = maybe_number();
  if (!number) return std::nullopt;
  if (*number < 0 || *number > 0xFFFF) ok_ = false;
  return static_cast<std::uint16_t>(*number);
}

Result<StoredResponsePtr> answer_of(std::optional<std::string_view> bytes, std::uint16_t status) {
  if (bytes) return decode_response(*bytes);
  auto bare = std::make_shared<StoredResponse>();
  bare->status = status;
  bare->kept = BodyKept::NotKept;
  return StoredResponsePtr(std::move(bare));
}

}  // namespace semel
