#pragma once

#include <cstdint>
#include <string_view>

namespace semel {

/// How a call to the tool ended, seen from this side of the wire (spec 7).
enum class UpstreamEnd : std::uint8_t {
  Answered,    ///< A complete, well-formed final response arrived, whatever its status.
  NeverSent,   ///< Proof that no request byte left this host (refused, unresolved, no slot).
  Unanswered,  ///< A byte may have left and no complete response came back.
};

[[nodiscard]] constexpr std::string_view name(UpstreamEnd end) {
  switch (end) {
    case UpstreamEnd::Answered:
      return "answered";
    case UpstreamEnd::NeverSent:
      return "never_sent";
    case UpstreamEnd::Unanswered:
      return "unanswered";
  }
  return "unanswered";
}

}  // namespace semel
