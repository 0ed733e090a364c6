#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace semel::proxy {

/// What a byte may be part of, as bits: one table lookup decides.
enum ByteClass : std::uint8_t {
  kTokenByte = 1,    ///< RFC 9110 5.6.2.
  kTargetByte = 2,   ///< Path and query of RFC 3986 3.3 and 3.4, `%` included.
  kBracketByte = 4,  ///< `[` and `]`: only around an IPv6 literal.
  kHostByte = 8,     ///< What names of hosts are made of, and dotted addresses.
  kTextByte = 16,    ///< Part of a field value: visible, space, HTAB or obs-text (RFC 9110 5.5).
  kHexByte = 32,
};

namespace detail {
constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  std::array<std::uint8_t, 256> table{};
  const auto mark = [&table](std::string_view bytes, int classes) {
    for (const char c : bytes) {
      auto& entry = table[static_cast<std::uint8_t>(c)];
      entry = static_cast<std::uint8_t>(entry | classes);
    }
  };
  for (std::size_t byte = 0x20; byte < 0x100; ++byte) {
    if (byte != 0x7F) table[byte] = kTextByte;
  }
  mark("\t", kTextByte);
  mark("0123456789ABCDEFabcdef", kHexByte);
  mark("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~",
       kTokenByte | kTargetByte | kHostByte);
  mark("!$&'*+", kTokenByte | kTargetByte);
  mark("#^`|", kTokenByte);
  mark("%", kTokenByte | kTargetByte);
  mark("(),;=:@/?", kTargetByte);
  mark("[]", kBracketByte);
  return table;
}
inline constexpr auto kByteClasses = make_byte_classes();
}  // namespace detail

[[nodiscard]] constexpr bool is_any_of(char c, int classes) {
  return (detail::kByteClasses[static_cast<std::uint8_t>(c)] & classes) != 0;
}

}  // namespace semel::proxy
