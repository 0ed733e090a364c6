#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace semel {

/// What repeating a call does to the world (guarantee 2).
enum class Policy : std::uint8_t {
  None,        ///< Unknown: plain proxying, never retried, never keyed.
  ReadOnly,    ///< Changes nothing: retried freely, never keyed.
  Idempotent,  ///< Lands on the same state: retried under the held claim.
  Effectful,   ///< A second call is a second effect: never retried.
};

/// True where a key is derived and claimed before anything is forwarded.
[[nodiscard]] constexpr bool is_keyed(Policy policy) {
  return policy == Policy::Idempotent || policy == Policy::Effectful;
}

/// The word of the configuration, of logs and of metrics: `READ_ONLY`, ...; `NONE` for none.
[[nodiscard]] constexpr std::string_view name(Policy policy) {
  switch (policy) {
    case Policy::None:
      return "NONE";
    case Policy::ReadOnly:
      return "READ_ONLY";
    case Policy::Idempotent:
      return "IDEMPOTENT";
    case Policy::Effectful:
      return "EFFECTFUL";
  }
  return "NONE";
}

/// Reads the configuration's word, exactly as written there. `NONE` is not a word an operator may
/// use.
[[nodiscard]] constexpr std::optional<Policy> parse_policy(std::string_view word) {
  if (word == "READ_ONLY") return Policy::ReadOnly;
  if (word == "IDEMPOTENT") return Policy::Idempotent;
  if (word == "EFFECTFUL") return Policy::Effectful;
  return std::nullopt;
}

}  // namespace semel
