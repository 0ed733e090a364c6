#include "proxy/head_lines.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/header_rules.h"
#include "proxy/byte_classes.h"

namespace semel::proxy {
namespace {

/// The first byte at or after `at` that ends plain text: a control character (HTAB too) or DEL.
/// Eight bytes a step: of a word, the lowest marked byte is exact, and only that one is used.
std::size_t find_control(std::string_view buffer, std::size_t at) {
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHighBits = 0x80 * kOnes;
    while (at + 8 <= buffer.size()) {
      std::uint64_t word;
      std::memcpy(&word, buffer.data() + at, sizeof word);
      const std::uint64_t below_space = (word - 0x20 * kOnes) & ~word;
      const std::uint64_t not_del = word ^ (0x7F * kOnes);
      const std::uint64_t del = (not_del - kOnes) & ~not_del;
      const std::uint64_t marked = (below_space | del) & kHighBits;
      if (marked != 0) return at + static_cast<std::size_t>(std::countr_zero(marked)) / 8;
      at += 8;
    }
  }
  while (at < buffer.size() && (is_any_of(buffer[at], kTextByte) && buffer[at] != '\t')) ++at;
  return at;
}

bool is_white(char c) { return c == ' ' || c == '\t'; }

/// A CR stands at `at`.
LineEnd after_cr(std::string_view buffer, std::size_t at, LineEnd good) {
  if (at + 1 == buffer.size()) return LineEnd::Incomplete;
  return buffer[at + 1] == '\n' ? good : LineEnd::BareLineEnd;
}

constexpr std::array<char, 256> make_folded() {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<char>(i);
  for (char c = 'A'; c <= 'Z'; ++c)
    table[static_cast<std::uint8_t>(c)] = static_cast<char>(c | 0x20);
  return table;
}
constexpr auto kLower = make_folded();

char lower(char c) { return kLower[static_cast<std::uint8_t>(c)]; }

}  // namespace

LineEnd read_field_line(std::string_view buffer, std::size_t& at, HeaderField& field) {
  std::size_t i = at;
  while (i < buffer.size() && is_any_of(buffer[i], kTokenByte)) ++i;
  if (i == buffer.size()) return LineEnd::Incomplete;
  if (i == at) {
    if (is_white(buffer[i])) return LineEnd::Folded;
    if (buffer[i] == '\n') return LineEnd::BareLineEnd;
    if (buffer[i] != '\r') return LineEnd::BadName;
    const LineEnd end = after_cr(buffer, i, LineEnd::EndOfHead);
    if (end == LineEnd::EndOfHead) at = i + 2;
    return end;
  }
  if (buffer[i] != ':') return LineEnd::BadName;
  field.name = buffer.substr(at, i - at);
  ++i;
  while (i < buffer.size() && is_white(buffer[i])) ++i;
  const std::size_t begin = i;
  i = find_control(buffer, i);
  while (i < buffer.size() && buffer[i] == '\t') i = find_control(buffer, i + 1);
  if (i == buffer.size()) return LineEnd::Incomplete;
  if (buffer[i] != '\r') return buffer[i] == '\n' ? LineEnd::BareLineEnd : LineEnd::BadValue;
  const LineEnd end = after_cr(buffer, i, LineEnd::Field);
  if (end != LineEnd::Field) return end;
  at = i + 2;
  while (i > begin && is_white(buffer[i - 1])) --i;
  field.value = buffer.substr(begin, i - begin);
  return LineEnd::Field;
}

std::string_view reason(LineEnd end) {
  switch (end) {
    case LineEnd::Field:
    case LineEnd::EndOfHead:
    case LineEnd::Incomplete:
      return {};
    case LineEnd::BadName:
      return "a header line has no valid name before its colon";
    case LineEnd::BadValue:
      return "a header value has a control character";
    case LineEnd::BareLineEnd:
      return "a line does not end with CR LF";
    case LineEnd::Folded:
      return "a header line begins with white space";
  }
  return {};
}

bool is_worth_parsing(std::string_view buffer, std::size_t scanned, std::size_t line_bytes_max) {
  std::size_t line_begin = scanned == 0 ? 0 : buffer.rfind('\n', scanned - 1) + 1;  // npos + 1 is 0
  for (std::size_t lf = buffer.find('\n', scanned); lf != std::string_view::npos;
       lf = buffer.find('\n', lf + 1)) {
    if (lf == 0 || buffer[lf - 1] != '\r') return true;
    const bool is_empty_line = lf == line_begin + 1;
    const bool is_before_start_line = lf == 1;
    if ((is_empty_line && !is_before_start_line) || lf - line_begin > line_bytes_max) return true;
    line_begin = lf + 1;
  }
  return buffer.size() - line_begin > line_bytes_max;
}

std::optional<std::uint64_t> parse_content_length(std::string_view value) {
  constexpr std::size_t kDigitsMax = 19;  // of 2^63-1: nothing of 19 digits overflows 64 bits
  if (value.empty() || value.size() > kDigitsMax) return std::nullopt;
  if (value.front() == '0' && value.size() > 1) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : value) {
    if (c < '0' || c > '9') return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (length > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return length;
}

NameMatch match_names(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return NameMatch::Different;
  NameMatch match = NameMatch::Same;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char x = lower(a[i]);
    const char y = lower(b[i]);
    if (x == y) continue;
    if ((x != '_' || y != '-') && (x != '-' || y != '_')) return NameMatch::Different;
    match = NameMatch::Twin;
  }
  return match;
}

std::optional<detail::Word> detail::next_word(std::string_view& list, std::string_view& word) {
  while (!list.empty() && (is_white(list.front()) || list.front() == ',')) list.remove_prefix(1);
  if (list.empty()) return std::nullopt;
  word = list.substr(0, list.find(','));
  list.remove_prefix(word.size());
  while (is_white(word.back())) word.remove_suffix(1);
  if (same_name(word, "close")) return Word::Close;
  if (same_name(word, "keep-alive")) return Word::KeepAlive;
  if (same_name(word, "upgrade")) return Word::Upgrade;
  return is_token(word) ? Word::Other : Word::Malformed;
}

}  // namespace semel::proxy
