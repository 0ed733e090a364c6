#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::fuzz {

/// A JSON value as a tree, read from docs/key-format.md and RFC 8259 alone: slow, small, and of its
/// own make. No line of it is shared with the code that it judges.
struct JsonTree {
  enum class Kind : std::uint8_t { Null, False, True, Number, Text, Array, Object };
  Kind kind = Kind::Null;
  std::string text;                ///< A number's exact decimal, a text's UTF-8 in NFC.
  std::vector<JsonTree> items;     ///< Of an array, or the members of an object.
  std::vector<std::string> names;  ///< Of an object's members, in NFC, sorted.
};

/// @return Absent where the page refuses the text as ambiguous.
[[nodiscard]] std::optional<JsonTree> read_json_tree(std::string_view text);

/// The exact decimal of a JSON number, `2e0` for `20e-1`; absent beyond the bounds of the page.
[[nodiscard]] std::optional<std::string> exact_decimal(std::string_view number);

/// @return Absent where the bytes are no UTF-8 (RFC 3629).
[[nodiscard]] std::optional<std::string> nfc_of(std::string_view utf8);
[[nodiscard]] std::string nfd_of(std::string_view utf8);

/// The code points of well-formed UTF-8.
[[nodiscard]] std::vector<std::uint32_t> code_points(std::string_view utf8);
void append_utf8(std::uint32_t code_point, std::string& out);

}  // namespace semel::fuzz
