#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// Takes the value of the line `name value` off the front of a note.
/// @return Absent: another line stands there, and nothing was taken.
[[nodiscard]] std::optional<std::string> take_line(std::string_view& text, std::string_view name);

/// The same for a value that is a number in decimal digits; another one may have been taken.
[[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& text,
                                                       std::string_view name);

/// All of `text` as a number in decimal digits.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);

}  // namespace semel
