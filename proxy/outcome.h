#pragma once

#include <cstdint>
#include <string_view>

namespace semel::proxy {

/// How one exchange ended for its client: `Idempotency-Status`, the metrics' `outcome`, the log's
/// word.
enum class Outcome : std::uint8_t {
  Executed,       ///< The tool was asked under a claim, and answered.
  Replayed,       ///< The stored answer was sent.
  Collapsed,      ///< The answer of a flight's leader was sent.
  InFlight,       ///< 409: somebody else is still at it.
  Indeterminate,  ///< The outcome is unknown, whether it was refused or relayed with that word.
  Unrecorded,     ///< The tool answered, and the answer could not be made durable.
  Refused,        ///< Any other refusal of our own.
  Bypassed,       ///< The tool was asked without a claim (`on_store_down: forward`).
  Passed,         ///< An unguarded route: relayed.
  Failed,         ///< The upstream gave no usable answer, and nothing effectful was asked.
};
inline constexpr std::size_t kOutcomeCount = static_cast<std::size_t>(Outcome::Failed) + 1;

/// The word of `Idempotency-Status`: `executed`, `in-flight`, ...
[[nodiscard]] constexpr std::string_view name(Outcome outcome) {
  constexpr std::string_view kWords[kOutcomeCount] = {
      "executed",   "replayed", "collapsed", "in-flight", "indeterminate",
      "unrecorded", "refused",  "bypassed",  "passed",    "failed"};
  return kWords[static_cast<std::size_t>(outcome)];
}

}  // namespace semel::proxy
