#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/byte_gate.h"
#include "proxy/message.h"

namespace semel::proxy {

/// How far reading one piece of a head came.
enum class Progress : std::uint8_t {
  Read,
  Incomplete,  ///< The buffer ends within it, and nothing is wrong with it so far.
  Refused,
};

/// Reads `METHOD SP target SP HTTP/1.(0|1) CRLF` at `at` and moves `at` behind it. Fills `method`,
/// `target` (as written) and `minor_version` of `head`; on Refused fills `refusal`.
/// @source RFC 9112 3.
[[nodiscard]] Progress read_request_line(std::string_view buffer, std::size_t& at,
                                         RequestHead& head, GateRefusal& refusal);

/// Judges the form of `head.target`, reduces an absolute one to its path, and fills `path` and
/// `query`. Needs method and a valid `host` that is ours.
/// @return false with `refusal` filled unless it is origin-form, `OPTIONS *`, or absolute-form of
/// the
///         same authority where `authorities` are given.
/// @source RFC 9112 3.2; spec 10.
[[nodiscard]] bool judge_target(const GateRules& rules, RequestHead& head, GateRefusal& refusal);

}  // namespace semel::proxy
