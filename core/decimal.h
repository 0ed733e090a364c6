#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace semel {

inline constexpr std::size_t kDecimalDigitsMax = 1'000;
inline constexpr int kDecimalExponentMax = 10'000;

/// Length of the JSON number (RFC 8259, section 6) that `text` begins with; 0 if it begins with
/// none.
[[nodiscard]] std::size_t number_length(std::string_view text);

/// Whether a number may be part of a key: at most `kDecimalDigitsMax` digits as written and an
/// exponent as written within +-`kDecimalExponentMax`. A zero always is, whatever its spelling.
/// @param number  A whole JSON number.
[[nodiscard]] bool is_keyable_number(std::string_view number);

/// Appends the one spelling of an exact decimal: `-`?, significand without outer zeros, `e`,
/// exponent; `0e0` for every zero. `2`, `2.0` and `20e-1` are all `2e0`. Never through a double.
/// @param number  A whole JSON number that is keyable.
/// @source docs/key-format.md, "Numbers".
void append_canonical_decimal(std::string_view number, std::string& out);

}  // namespace semel
