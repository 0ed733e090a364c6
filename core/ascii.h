#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/claim.h"
#include "core/header_field.h"
#include "core/header_rules.h"

namespace semel {

/// Without outer spaces and tabs, as field values compare (RFC 9110 5.5).
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// ASCII letters in lower case, everything else as it is.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return lower;
}

/// Lower-case hexadecimal, two digits a byte.
[[nodiscard]] inline std::string hex_digits(std::string_view bytes) {
  return to_hex(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// True if the line's name is `name` in any case. The sizes, which nearly always differ, are
/// compared first and in place: a key looks at every line several times.
[[nodiscard]] inline bool is_named(const HeaderField& field, std::string_view name) {
  return field.name.size() == name.size() && same_name(field.name, name);
}

}  // namespace semel
