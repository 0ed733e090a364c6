#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// Decodes base64 with its padding, strictly: no white space, no other alphabet, no stray bits
/// behind the last byte, so that a text has one decoding and bytes have one text.
/// @return Nothing where it is not that.
/// @source RFC 4648, sections 3.5 and 4.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace semel
