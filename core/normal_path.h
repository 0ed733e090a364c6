#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace semel {

/// What only `allow_escapes` lets through, as bits (spec 10).
enum LooseEscape : std::uint8_t {
  kEscapedSlash = 1,  ///< `%2f`.
  kSemicolon = 2,     ///< `;`, plain or escaped.
  kDoubleEscape = 4,  ///< `%25` before two hex digits.
};

/// A request target's path, ready to be matched, keyed and forwarded.
struct NormalPath {
  std::string text;  ///< As it is forwarded: needless escapes decoded, the rest upper-case.
  /// Percent-decoded bytes, one a segment, without slashes. `/a/` is `a` and an empty one; `/` is
  /// one empty one; no other is empty.
  std::vector<std::string> segments;
  bool has_loose_escapes = false;  ///< Contains what only `allow_escapes` lets through.
  std::uint8_t loose_escapes = 0;  ///< Which ones: bits of LooseEscape.
  bool operator==(const NormalPath&) const = default;
};

/// Why a path is refused with 400 before any route is asked (spec 10).
struct PathRefusal {
  std::string_view reason;  ///< A short phrase for the problem's detail.
};

/// Splits and normalises the path part of an origin-form target (everything before `?`).
/// `//`, dot segments (also escaped), `%2f`, `%5c`, `%00`-`%1f`, `%7f`, double escapes, `;` (also
/// escaped), overlong UTF-8, broken escapes and characters outside RFC 3986 are refusals. Escapes
/// of unreserved characters are decoded. Of these `%2f`, `;` and `%25` set `has_loose_escapes`
/// instead when `loose` is true.
/// @source RFC 3986 3.3, 6.2.2; spec 10.
[[nodiscard]] std::variant<NormalPath, PathRefusal> normalise_path(std::string_view path,
                                                                   bool loose);

}  // namespace semel
