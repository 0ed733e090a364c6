// The bytes of a record and of an event in Redis, as the scripts write them. Read only: what is
// written is written at the server.
#include "stores/redis_record.h"

#include <algorithm>
#include <array>

namespace semel {
namespace {

/// Takes little-endian integers and bytes off the front. After the first misfit `ok()` is false and
/// every value is zero or empty.
class Bytes {
 public:
  explicit Bytes(std::string_view left) : left_(left) {}

  std::string_view take(std::size_t size) {
    if (size > left_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    std::size_t shift = 0;
    for (const char byte : take(size)) {
      value |= std::uint64_t{static_cast<std::uint8_t>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  template <class Enum>
  Enum word(Enum last) {
    const auto value = number(1);
    if (value > static_cast<std::uint64_t>(last)) ok_ = false;
    return ok_ ? static_cast<Enum>(value) : Enum{};
  }
  template <class Id>
  Id id() {
    Id id;
    const std::string_view bytes = take(id.bytes.size());
    std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
    return id;
  }
  StoreTime time() { return StoreTime(std::chrono::microseconds(number(8))); }
  std::optional<std::uint16_t> status() {
    const auto value = static_cast<std::uint16_t>(number(2));
    return value == 0 ? std::nullopt : std::optional(value);
  }
  std::string text(std::size_t size) { return std::string(take(size)); }
  std::string rest() { return text(left_.size()); }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kChecksumDigits = 8;
/// What lies before the length and the state, and what the length counts of itself.
constexpr std::size_t kBeforeState = 14;
enum Flag : std::uint64_t { kGuards = 1, kFingerprint = 2, kFreed = 4, kForgotten = 8 };

std::chrono::system_clock::time_point wall(StoreTime since_1970) {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
}

std::size_t bytes_of_options(std::uint64_t flags) {
  std::size_t bytes = 0;
  if ((flags & kGuards) != 0) bytes += GuardDigest{}.bytes.size();
  if ((flags & kFingerprint) != 0) bytes += FingerprintDigest{}.bytes.size();
  if ((flags & kFreed) != 0) bytes += ClaimToken{}.bytes.size() + sizeof(std::uint64_t);
  return bytes;
}

}  // namespace

Result<RedisRecord> decode_redis_record(std::string_view bytes) {
  enum class State : std::uint8_t { InFlight, Completed, Indeterminate };
  RedisRecord record;
  Bytes beginning(bytes);
  const auto version = beginning.number(1);
  beginning.take(1 + kChecksumDigits);
  record.header_bytes = beginning.number(4);
  const bool fits = beginning.ok() && version == kVersion && record.header_bytes >= kBeforeState &&
                    record.header_bytes <= bytes.size();
  if (!fits) return Fault::RecordCorrupt;
  Bytes header(bytes.substr(kBeforeState, record.header_bytes - kBeforeState));
  RecordView& view = record.view;
  view.state = static_cast<RecordView::State>(header.word(State::Indeterminate));
  view.policy = header.word(Policy::Effectful);
  const auto flags = header.number(1);
  const auto reason = header.word(IndeterminateReason::Internal);
  const auto status = header.status();
  if (view.state == RecordView::State::Indeterminate) {
    view.reason = reason;
    view.upstream_status = status;
  }
  view.fence.value = header.number(8);
  header.take(ClaimToken{}.bytes.size());
  view.reference = header.id<Reference>();
  record.lease_end = header.time();
  const StoreTime changed = header.time();
  record.created = header.time();
  view.changed = wall(changed);
  view.created = wall(record.created);
  header.take(2 * sizeof(std::uint64_t) + CallerDigest{}.bytes.size() + bytes_of_options(flags));
  view.tenant = header.text(header.number(4));
  view.route = header.rest();
  if (!header.ok()) return Fault::RecordCorrupt;
  return record;
}

RecordView RedisRecord::view_at(StoreTime now, std::optional<StoreTime> window_end) const {
  RecordView shown = view;
  if (shown.state != RecordView::State::Completed) {
    shown.lease_left = std::chrono::ceil<std::chrono::milliseconds>(lease_end - now);
  }
  if (window_end) shown.expires_in = std::chrono::ceil<std::chrono::seconds>(*window_end - now);
  return shown;
}

Result<TransitionEvent> decode_redis_event(std::string_view bytes) {
  enum class Word : std::uint8_t { None, DidNotHappen, Happened };
  Bytes entry(bytes);
  if (entry.number(1) != kVersion) return Fault::RecordCorrupt;
  TransitionEvent event;
  event.kind = entry.word(TransitionKind::Expired);
  event.policy = entry.word(Policy::Effectful);
  const auto reason = entry.word(IndeterminateReason::Internal);
  if (event.kind == TransitionKind::Indeterminate) event.reason = reason;
  const auto word = entry.word(Word::Happened);
  if (word != Word::None) event.happened = word == Word::Happened;
  event.status = entry.status();
  event.fence.value = entry.number(8);
  event.at = wall(entry.time());
  event.key = entry.id<IdempotencyKey>();
  event.reference = entry.id<Reference>();
  event.tenant = entry.text(entry.number(4));
  event.route = entry.rest();
  if (!entry.ok()) return Fault::RecordCorrupt;
  return event;
}

}  // namespace semel
