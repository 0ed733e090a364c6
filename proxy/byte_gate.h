#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/problem.h"
#include "proxy/message.h"

namespace semel::proxy {

/// More bytes are needed. Passing `scanned` back in spares reading the same bytes again: then they
/// are parsed once their head is complete, or as soon as they cannot become one.
struct NeedMore {
  std::size_t scanned = 0;
};
/// The bytes are no request that may pass: answer and close, nothing is dispatched.
struct GateRefusal {
  ProblemType type = ProblemType::BadRequest;
  std::string_view reason;  ///< A short phrase for the problem's detail.
};
enum class Passed : std::uint8_t { Yes };
using GateAnswer = std::variant<Passed, NeedMore, GateRefusal>;

/// What the gate needs to know of the configuration.
struct GateRules {
  std::vector<std::string> authorities;  ///< Host values that are ours, with a port or for any
                                         ///< port; empty: any valid one, and no absolute-form.
  std::vector<std::string>
      headers_read;  ///< Names that some recipe reads: no repeat, no underscore
                     ///< twin, not named by Connection. Content-Type, Host,
                     ///< Idempotency-Key and the framing fields always are.
};

/// Reads one request head from the start of `buffer`, strictly (spec 10, RFC 9112). One pass over
/// the bytes decides and fills `head`; on anything but Passed `head` is undefined. Garbage is
/// refused as soon as it is seen, not when its head is complete.
/// @owns `head` views into `buffer`.
/// @source RFC 9112 2-6, RFC 9110 5-7; spec 10 "byte gate".
[[nodiscard]] GateAnswer read_request_head(std::string_view buffer, std::size_t scanned,
                                           const GateRules& rules, RequestHead& head);

}  // namespace semel::proxy
