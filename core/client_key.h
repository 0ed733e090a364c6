#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel {

inline constexpr std::size_t kClientKeyBytesMax = 255;

/// Reads the value of an `Idempotency-Key` line: an RFC 8941 string or the bare characters, so that
/// `"abc"` and `abc` are one key. 1 to 255 visible ASCII characters; parameters, spaces and
/// unbalanced quotes are refused.
/// @return The characters without quotes and escapes; nothing where malformed.
/// @source RFC 8941, section 3.3.3; spec 5.
[[nodiscard]] std::optional<std::string> read_client_key(std::string_view value);

}  // namespace semel
