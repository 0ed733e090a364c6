#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "stores/store.h"

namespace semel::proxy {

/// What an operator orders with `POST /v1/records/{reference}/resolve`.
struct ResolveOrder {
  Resolution resolution;
  std::string note;
  std::string operator_name;
};

/// How the decision is written in requests, in the log and in metrics: `happened`,
/// `did_not_happen`.
[[nodiscard]] std::string_view name(Resolution::Decision decision);

/// The most bytes of a note and of an operator's name, so that a line of the log stays whole.
inline constexpr std::size_t kNoteBytesMax = 500;
inline constexpr std::size_t kOperatorBytesMax = 100;
/// @return Why the log does not take it, or an empty text: too long, or with control characters.
[[nodiscard]] std::string_view unfit_for_the_log(std::string_view text, std::size_t bytes_max);

/// Reads the order strictly: an unknown member is refused, as is a response that no server could
/// have sent. Of the response's header lines those are left out that no replay has (spec 8).
/// @return The order, or one sentence that says what is wrong.
/// @source spec 11.
[[nodiscard]] std::variant<ResolveOrder, std::string> read_resolve_order(std::string_view json);

}  // namespace semel::proxy
