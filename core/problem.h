#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/policy.h"

namespace semel {

/// Every refusal of our own (spec 8). One row each in problem.cc: status, title, retry words.
enum class ProblemType : std::uint8_t {
  InFlight,
  Indeterminate,
  ResultNotKept,
  KeyMissing,
  KeyMalformed,
  KeyUnderivable,
  BodyAmbiguous,
  PathAmbiguous,
  KeyReused,
  CallerMismatch,
  NoRoute,
  Method,
  ContentType,
  BodyTooLarge,
  RequestTimeout,
  StoreUnavailable,
  StoreSuspect,
  Overloaded,
  Draining,
  UpstreamUnreachable,
  UpstreamTimeout,
  UpstreamFailed,  ///< READ_ONLY, IDEMPOTENT, unguarded: the answer was cut or malformed. 502.
  TooManyWaiters,
  Quota,
  Internal,
  BadRequest,  ///< Byte gate: 400, and the connection closes.
  UriTooLong,
  HeadersTooLarge,
  NotImplemented,
  HttpVersion,
  ExpectationFailed,
  // What only operators meet, on the admin listener (spec 11).
  Unauthorized,
  ForeignOrigin,
  Misdirected,
  NoRecord,
  NotCurrent,        ///< No attempt of this reference stands in the store (any more).
  NotIndeterminate,  ///< The outcome is known: there is nothing to resolve.
  AttemptAlive,      ///< It may still happen: "it did not happen" is not taken yet.
  RecordUnreadable,
  ReloadRefused,
  EventsGone,       ///< What was asked for of the transition log is older than what is kept.
  EventUnreadable,  ///< The next event of the transition log is damaged.
};

/// What `x-should-retry` and `stripe-should-retry` say. Silent where spec 8 has a dash.
enum class RetryVeto : std::uint8_t { Silent, Retry, DoNotRetry };

/// The fixed part of a problem.
struct ProblemRow {
  ProblemType type;
  std::uint16_t status;
  std::string_view slug;  ///< Last segment of `type`: `indeterminate`.
  std::string_view title;
  std::string_view
      detail;  ///< One sentence that a model can act on; used where the caller gives none.
  RetryVeto retry;
};
[[nodiscard]] const ProblemRow& row(ProblemType type);

/// One refusal, ready to be rendered as RFC 9457 problem+json.
struct Problem {
  ProblemType type = ProblemType::Internal;
  std::string detail;                    ///< Empty: the row's own sentence.
  std::optional<std::string> reference;  ///< 32 hex digits, where a claim exists.
  std::optional<bool> dispatched;        ///< Whether a request byte may have left.
  Policy policy = Policy::None;
  std::string route;  ///< Empty where none matched.
  std::optional<std::uint16_t> upstream_status;
  std::optional<std::uint16_t> original_status;
  std::optional<int> retry_after_seconds;
  std::optional<std::string> oldest;  ///< EventsGone: where what is kept begins.
};

/// What the retry fields say of this refusal: the row's word, but for an upstream that failed or
/// timed out after a request byte may have left. Then a repeat is vetoed where it is a second
/// effect, and nothing is said where no policy says what it is.
[[nodiscard]] RetryVeto retry_veto(const Problem& problem);

/// The body, in UTF-8: type, title, status, detail, reference, retryable, dispatched, policy,
/// route, upstream_status, original_status, oldest and `error: {type, code, message}`. Absent
/// members are left out, `retryable` where `retry_veto` is silent. `detail` may hold any bytes.
/// @source RFC 9457; spec 8. `type` is the URL path `/problems/<slug>` of the project's docs.
[[nodiscard]] std::string render_body(const Problem& problem);

}  // namespace semel
