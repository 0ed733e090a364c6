#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace semel {

[[nodiscard]] bool is_ascii(std::string_view text);

/// Length of the well-formed UTF-8 sequence that `text` begins with, 1 to 4; 0 if it begins with
/// none: overlong forms, surrogates and what lies beyond U+10FFFF are none (RFC 3629).
[[nodiscard]] std::size_t utf8_sequence_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

/// @param code_point  A Unicode scalar value: no surrogate, at most U+10FFFF.
void append_utf8(char32_t code_point, std::string& out);

/// Appends `text` in Unicode normalisation form C: the same characters, one spelling.
/// @param text  Well-formed UTF-8.
/// @source UAX #15. Never NFKC: compatible characters are different arguments (spec 5).
void append_nfc(std::string_view text, std::string& out);

}  // namespace semel
