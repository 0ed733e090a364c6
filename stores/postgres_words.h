#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/claim.h"
#include "core/result.h"
#include "core/stored_response.h"
#include "stores/claim_reply.h"
#include "stores/pg_value.h"
#include "stores/record.h"

namespace semel {

// How the values of Semel are spelled in the schema `semel`, and read again.

/// Microseconds since 1970.
[[nodiscard]] PgValue pg_time(StoreTime time);
[[nodiscard]] StoreTime store_time_of(std::int64_t microseconds);
/// Held within bounds whose sums fit: thousands of years.
[[nodiscard]] PgValue pg_span(std::chrono::milliseconds span);  ///< In microseconds.
[[nodiscard]] PgValue pg_span(std::chrono::seconds span);       ///< In seconds.
[[nodiscard]] PgValue pg_span(const std::optional<std::chrono::seconds>& span);
[[nodiscard]] PgValue pg_fence(Fence fence);

template <std::size_t N>
[[nodiscard]] PgValue pg_bytes(const std::array<std::uint8_t, N>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), N);
}
template <class Tag>
[[nodiscard]] PgValue pg_id(const Random128<Tag>& id) {
  return pg_bytes(id.bytes);
}
[[nodiscard]] inline PgValue pg_key(const IdempotencyKey& key) { return pg_bytes(key.bytes); }
/// NULL where it is all zero, as most are.
template <class Tag>
[[nodiscard]] PgValue pg_digest(const Digest<Tag>& digest) {
  if (digest == Digest<Tag>{}) return std::nullopt;
  return pg_bytes(digest.bytes);
}
/// NULL where only the status is kept.
[[nodiscard]] PgValue pg_answer(const StoredResponse& response);

/// Takes the columns of a row off, one after the other. After the first that is not what was asked
/// for `ok()` is false, and every value zero or empty.
/// @owns The row outlives it.
class PgColumns {
 public:
  explicit PgColumns(const PgRow& row) : row_(row) {}

  [[nodiscard]] std::int64_t number();
  [[nodiscard]] std::optional<std::int64_t> maybe_number();
  [[nodiscard]] bool flag() { return number() != 0; }
  [[nodiscard]] std::string_view text();
  [[nodiscard]] std::optional<std::string_view> maybe_text();
  /// An IdempotencyKey, a Reference, a ClaimToken.
  template <class Id>
  [[nodiscard]] Id id() {
    Id id;
    const std::string_view bytes = text();
    if (bytes.size() == id.bytes.size()) {
      std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
    } else {
      ok_ = false;
    }
    return id;
  }
  template <class Id>
  [[nodiscard]] std::optional<Id> maybe_id() {
    if (at_ < row_.size() && !row_[at_]) {
      at_ += 1;
      return std::nullopt;
    }
    return id<Id>();
  }
  [[nodiscard]] Fence fence() { return Fence{static_cast<std::uint64_t>(number())}; }
  [[nodiscard]] StoreTime time() { return store_time_of(number()); }
  [[nodiscard]] Policy policy();
  [[nodiscard]] std::optional<IndeterminateReason> maybe_reason();
  [[nodiscard]] std::optional<std::uint16_t> maybe_status();

  [[nodiscard]] bool has_more() const { return at_ < row_.size(); }
  /// True if all that was asked for was there, and no word is unknown.
  [[nodiscard]] bool ok() const { return ok_; }
  void reject() { ok_ = false; }

 private:
  [[nodiscard]] const PgValue* next();

  const PgRow& row_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// The answer that stands beside its status.
/// @faults RecordCorrupt: its bytes are not what was written.
[[nodiscard]] Result<StoredResponsePtr> answer_of(std::optional<std::string_view> bytes,
                                                  std::uint16_t status);

}  // namespace semel
