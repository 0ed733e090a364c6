#include "proxy/head_lines.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstring>

#include "core/header_rules.h"
#include "proxy/byte_classes.h"

namespace semel::proxy {
namespace {

// Most bytes of a head are plain, so they are passed over sixteen at a time; a table decides about
// the rest, and about everything on machines without SSE2.
#ifdef __SSE2__
using Block = __m128i;

/// Marks all bytes but letters and `-`, which most names consist of.
int mark_rare_in_names(Block bytes) {
  const Block from_a = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
  const Block letters = _mm_cmpeq_epi8(_mm_min_epu8(from_a, _mm_set1_epi8('z' - 'a')), from_a);
  const Block dashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
  return _mm_movemask_epi8(_mm_or_si128(letters, dashes)) ^ 0xFFFF;
}

/// Marks control characters, HTAB among them, and DEL.
int mark_controls(Block bytes) {
  const Block low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const Block del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
  return _mm_movemask_epi8(_mm_or_si128(low, del));
}

/// Where the first byte that `mark` marks stands, or a place less than sixteen bytes from the end.
template <class Mark>
std::size_t skip_unmarked(std::string_view buffer, std::size_t at, Mark mark) {
  while (at + sizeof(Block) <= buffer.size()) {
    const int marked = mark(_mm_loadu_si128(reinterpret_cast<const Block*>(buffer.data() + at)));
    if (marked != 0)
      return at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(marked)));
    at += sizeof(Block);
  }
  return at;
}
std::size_t skip_plain_name(std::string_view buffer, std::size_t at) {
  return skip_unmarked(buffer, at, [](Block bytes) { return mark_rare_in_names(bytes); });
}
std::size_t skip_plain_text(std::string_view buffer, std::size_t at) {
  return skip_unmarked(buffer, at, [](Block bytes) { return mark_controls(bytes); });
}
#else
std::size_t skip_plain_name(std::string_view, std::size_t at) { return at; }
std::size_t skip_plain_text(std::string_view, std::size_t at) { return at; }
#endif

std::size_t end_of_name(std::string_view buffer, std::size_t at) {
  at = skip_plain_name(buffer, at);
  while (at < buffer.size() && is_any_of(buffer[at], kTokenByte)) ++at;
  return at;
}

/// The end of plain text: a control character other than HTAB, or DEL.
std::size_t end_of_text(std::string_view buffer, std::size_t at) {
  at = skip_plain_text(buffer, at);
  while (at < buffer.size() && is_any_of(buffer[at], kTextByte)) {
    at = skip_plain_text(buffer, at + 1);
  }
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
  std::size_t i = end_of_name(buffer, at);
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
  i = end_of_text(buffer, i);
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

NameMatch detail::match_names_of_one_size(std::string_view a, std::string_view b) {
  const auto differ = [](const char* x, const char* y) {
    constexpr std::uint64_t kCaseBits = 0x2020202020202020;
    std::uint64_t left;
    std::uint64_t right;
    std::memcpy(&left, x, sizeof left);
    std::memcpy(&right, y, sizeof right);
    return (left | kCaseBits) != (right | kCaseBits);
  };
  const std::size_t size = a.size();
  // Eight bytes a step, the last step back over bytes seen. Equal but for the case's bit is the
  // same name (of what a token is made of, only ^ and ~ are confused: no name that is read here has
  // them).
  std::size_t i = 0;
  while (i + 8 <= size && !differ(a.data() + i, b.data() + i)) i += 8;
  if (size >= 8 && i + 8 > size && !differ(a.data() + size - 8, b.data() + size - 8)) {
    return NameMatch::Same;
  }
  NameMatch match = NameMatch::Same;
  for (; i < size; ++i) {
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
