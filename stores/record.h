#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/claim.h"
#include "core/policy.h"
#include "stores/claim_reply.h"
#include "stores/claim_terms.h"
#include "stores/kept_answer.h"

namespace semel {

/// A store's own time: nanoseconds that never go backward, whatever the wall clock does.
using StoreTime = std::chrono::nanoseconds;

/// One reading of the clocks, taken once per operation or group and passed in.
struct Now {
  StoreTime time{0};
  std::chrono::system_clock::time_point wall;
};

/// How long a record is kept after its last transition.
struct Window {
  std::chrono::seconds retention{0};
  std::optional<std::chrono::seconds> indeterminate_retention;  ///< Absent: for ever.
};
[[nodiscard]] Window longer(const Window& a, const Window& b);

/// Names an attempt whose key an operator set free.
struct FreedAttempt {
  ClaimToken token;
  Fence fence;
  bool operator==(const FreedAttempt&) const = default;
};

/// What stands under one key. The same in memory and on disk (docs/record-format.md). A store holds
/// millions of them: what many share, or few have, lies elsewhere.
struct Record {
  enum class State : std::uint8_t {
    InFlight,
    Completed,
    Indeterminate,
    Freed,    ///< An operator said that it did not happen: absent to claims, open to a late answer.
    Corrupt,  ///< What the file holds under this key cannot be read: the key is unusable.
  };
  /// What most records do not have.
  struct Extras {
    GuardDigest guards;
    FingerprintDigest fingerprint;
    /// An attempt that an operator freed before this one claimed: its late answer is a
    /// contradiction.
    std::optional<FreedAttempt> freed_before;
  };

  ClaimToken token;
  Reference reference;
  Fence fence;
  StoreTime lease_end{0};
  StoreTime changed_at{0};  ///< The last transition: every window counts from here.
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point changed;
  ClaimTermsPtr terms;             ///< Null only where the record is Corrupt.
  std::unique_ptr<Extras> extras;  ///< Null: guards and fingerprint are all zero.
  KeptAnswer answer;               ///< Of Completed. Empty: it is in the file only, at `row`.
  std::uint64_t row = 0;           ///< Where a file holds this record; 0: nowhere.
  std::optional<std::uint16_t> upstream_status;                 ///< Of Indeterminate.
  IndeterminateReason reason = IndeterminateReason::OwnerLost;  ///< Of Indeterminate.
  State state = State::InFlight;
  bool forgotten = false;  ///< forget(tenant) emptied it: an answer is kept without its payload.

  [[nodiscard]] Policy policy() const { return terms->policy; }
  [[nodiscard]] Bindings bindings() const;
  [[nodiscard]] std::optional<FreedAttempt> freed_before() const;
  void set_extras(const GuardDigest& guards, const FingerprintDigest& fingerprint,
                  const std::optional<FreedAttempt>& freed_before);
  /// A copy of all but the answer.
  [[nodiscard]] Record without_answer() const;

  /// True if `attempt` is the one that this record belongs to; its fence 0 stands for any.
  [[nodiscard]] bool belongs_to(const Attempt& attempt) const;
  /// A claim has none, only its lease.
  [[nodiscard]] bool has_window() const;
  /// The window that it was claimed with; a longer one may count (RouteWindows).
  [[nodiscard]] Window window() const;
  /// When `window` ends, if it ever does.
  [[nodiscard]] std::optional<StoreTime> end_of(const Window& window) const;
  [[nodiscard]] bool lease_over(const Now& now) const { return now.time >= lease_end; }
  /// Of a claim that is open: completion_cost(); 0 otherwise.
  [[nodiscard]] std::size_t open_cost() const;
  /// When housekeeping has something to do with it by that window, if ever: an EFFECTFUL claim is
  /// marked at the end of its lease, an IDEMPOTENT one is kept like an unknown outcome from there.
  [[nodiscard]] std::optional<StoreTime> due_at(const Window& window) const;
};

/// True where the reason itself proves that no further byte of the attempt can arrive: an operator
/// need not wait for the lease (spec 6, `attempt_over`).
[[nodiscard]] bool reason_ends_attempt(IndeterminateReason reason);

/// `time + span`, held at the end of time instead of overflowing.
[[nodiscard]] StoreTime later(StoreTime time, std::chrono::milliseconds span);
[[nodiscard]] StoreTime later(StoreTime time, std::chrono::seconds span);

/// More than a log on a disk grows by when one claim ends without a payload, in a commit of its
/// own: the pages of the newest rows and of the times, every few rows a new one and its parent, and
/// the entry itself.
[[nodiscard]] std::size_t completion_cost(const ClaimRequest& request);
[[nodiscard]] std::size_t completion_cost(const ClaimTerms& terms);

/// The bytes of header lines and body that a limit counts.
[[nodiscard]] std::size_t stored_bytes(const StoredResponse& response);

/// The same answer as far as a forgotten tenant's record may keep it: the status alone.
[[nodiscard]] StoredResponsePtr without_payload(const StoredResponse& response);

}  // namespace semel
