#include "core/json_text.h"

#include <cstddef>
#include <cstdint>

namespace semel {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// How many bytes at the start of `bytes` belong together, and whether they are a character.
struct Sequence {
  std::size_t size = 1;
  bool whole = false;
};

/// Reads one non-ASCII sequence after the table of well-formed UTF-8 (Unicode 15, table 3-7).
Sequence read_sequence(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = byte(0);
  std::size_t size = 0;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (size == 0) return {};
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;   // else overlong
  if (lead == 0xED) high = 0x9F;  // else a surrogate
  if (lead == 0xF0) low = 0x90;   // else overlong
  if (lead == 0xF4) high = 0x8F;  // else above U+10FFFF
  for (std::size_t i = 1; i < size; ++i) {
    if (i == bytes.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {size, true};
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<std::uint8_t>(c) >> 4];
      out += kHex[static_cast<std::uint8_t>(c) & 0x0F];
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + bytes.size() + 2);
  out += '"';
  while (!bytes.empty()) {
    const auto c = static_cast<std::uint8_t>(bytes.front());
    if (c >= 0x80) {
      const Sequence sequence = read_sequence(bytes);
      out += sequence.whole ? bytes.substr(0, sequence.size) : kReplacement;
      bytes.remove_prefix(sequence.size);
      continue;
    }
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F) {
      append_escaped(out, bytes.front());
    } else {
      out += bytes.front();
    }
    bytes.remove_prefix(1);
  }
  out += '"';
}

}  // namespace semel
