#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/claim.h"
#include "core/policy.h"
#include "core/stored_response.h"

namespace semel {

/// Why an outcome is unknown. In the record, in `semel_indeterminate_total{reason}`.
enum class IndeterminateReason : std::uint8_t {
  Timeout,         ///< No complete answer in time.
  Cut,             ///< The connection ended before a complete answer.
  Malformed,       ///< The answer was no well-formed HTTP.
  UpstreamStatus,  ///< An `indeterminate_on` status was really sent.
  OwnerLost,       ///< The holder's lease ended in silence, or its process is gone.
  Unrecorded,      ///< It was answered, but the record could not be written before the lease ended.
  Internal,        ///< Our own failure after dispatch.
};
[[nodiscard]] std::string_view name(IndeterminateReason reason);

/// The same call under the key that it had before its route's key version was raised.
struct EarlierKey {
  IdempotencyKey key;
  Bindings bindings;
};

/// One attempt's wish to take a key.
struct ClaimRequest {
  IdempotencyKey key;
  ClaimToken token;
  Reference reference;
  Bindings bindings;
  Policy policy = Policy::Effectful;
  std::string tenant;
  std::string route;
  std::chrono::milliseconds lease{0};                           ///< At least 1.
  std::chrono::seconds retention{0};                            ///< Longer than the lease.
  std::optional<std::chrono::seconds> indeterminate_retention;  ///< Absent: never expires.
  /// The store refuses to grant later than this after the call began (no ghost claims, spec 6).
  std::chrono::milliseconds not_after{1'000};
  /// Since when the asker has been asking the store for this; absent: from now on. What the store
  /// asks a server for one claim, one question after the other, has one deadline, from then on.
  std::optional<std::chrono::steady_clock::time_point> asked;
  /// Earlier claims of the asking process on this key that nobody stands behind and that have no
  /// effect under way: where one of them stands, its place is taken.
  std::vector<ClaimToken> disowned;
  /// Looked at before `key`, never taken: what stands under one of them is the answer.
  std::vector<EarlierKey> earlier;
};

/// The key is yours: forward.
struct Granted {
  Fence fence;
  bool expired_before = false;  ///< An expired record stood here: `semel_expired_reruns_total`.
};
/// Somebody holds it and the lease is alive: wait, or answer 409 in-flight.
struct Held {
  Reference reference;
  std::chrono::milliseconds lease_left{0};
};
/// It happened: replay.
struct Completed {
  Reference reference;
  StoredResponsePtr response;
};
/// Unknown for good, until an operator says otherwise: 409, never forwarded.
struct Indeterminate {
  Reference reference;
  IndeterminateReason reason = IndeterminateReason::OwnerLost;
  std::optional<std::uint16_t> upstream_status;
};
/// Somebody held it and the lease is over. IDEMPOTENT: supersede. EFFECTFUL: mark, by any reader.
struct Abandoned {
  ClaimToken token;
  Fence fence;
  Reference reference;
  Policy policy = Policy::Effectful;  ///< The stricter of the record's and the request's.
};
/// Another caller's record: 403, no stored byte, no reference.
struct CallerDiffers {};
/// Guard or fingerprint differs: 422.
struct PayloadDiffers {
  Reference reference;
};
/// Bindings are compared before anything else, the caller's first.
using ClaimReply =
    std::variant<Granted, Held, Completed, Indeterminate, Abandoned, CallerDiffers, PayloadDiffers>;

/// Names the attempt that a write belongs to. Fence 0: unknown, only the token is compared (the
/// release of a claim whose answer never came).
struct Attempt {
  IdempotencyKey key;
  ClaimToken token;
  Fence fence;
};

/// How a write that names an attempt ended.
enum class WriteReply : std::uint8_t {
  Done,   ///< The record says so now, as durably as the grade promises.
  Stale,  ///< Another token or fence stands there, or the state allows no such step: nothing
          ///< changed.
  DoneAgainstWord,   ///< Done, though an operator had said of this attempt that it did not happen.
  StaleAgainstWord,  ///< Stale, and the answer proves that operator wrong: the key was claimed
                     ///< since.
};
/// True where an operator's `did not happen` turned out to be wrong.
[[nodiscard]] constexpr bool is_against_word(WriteReply reply) {
  return reply == WriteReply::DoneAgainstWord || reply == WriteReply::StaleAgainstWord;
}
/// True where the record says so now.
[[nodiscard]] constexpr bool is_done(WriteReply reply) {
  return reply == WriteReply::Done || reply == WriteReply::DoneAgainstWord;
}

}  // namespace semel
