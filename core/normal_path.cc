#include "core/normal_path.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace semel {
namespace {

enum class Byte : std::uint8_t { Bad, Plain, Reserved, Slash, Semicolon, Percent };

/// RFC 3986 3.3: pchar and `/`. Plain are the unreserved; Reserved may stand raw but stay as they
/// are.
constexpr std::array<Byte, 256> make_bytes() {
  std::array<Byte, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<std::uint8_t>(c)] = Byte::Plain;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<std::uint8_t>(c)] = Byte::Plain;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<std::uint8_t>(c)] = Byte::Plain;
  for (char c : std::string_view("-._~")) table[static_cast<std::uint8_t>(c)] = Byte::Plain;
  for (char c : std::string_view("!$&'()*+,=:@"))
    table[static_cast<std::uint8_t>(c)] = Byte::Reserved;
  table['/'] = Byte::Slash;
  table[';'] = Byte::Semicolon;
  table['%'] = Byte::Percent;
  return table;
}
constexpr auto kBytes = make_bytes();

constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// `.` or `..`, also where a lenient server would see one: behind a decoded slash, before a `;`.
bool has_dot_segment(std::string_view segment) {
  while (true) {
    const std::size_t slash = segment.find('/');
    const std::string_view part = segment.substr(0, slash);
    const std::string_view stem = part.substr(0, part.find(';'));
    if (stem == "." || stem == "..") return true;
    if (slash == std::string_view::npos) return false;
    segment.remove_prefix(slash + 1);
  }
}

bool has_double_escape(std::string_view decoded) {
  for (std::size_t at = decoded.find('%'); at != std::string_view::npos;
       at = decoded.find('%', at + 1)) {
    if (at + 2 < decoded.size() && hex_value(decoded[at + 1]) >= 0 &&
        hex_value(decoded[at + 2]) >= 0) {
      return true;
    }
  }
  return false;
}

/// Bytes that some decoders take for a shorter character, a slash among them (RFC 3629 10).
bool has_overlong(std::string_view decoded) {
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const auto lead = static_cast<std::uint8_t>(decoded[i]);
    if (lead < 0xC0) continue;
    if (lead <= 0xC1) return true;
    if (lead != 0xE0 && lead != 0xF0) continue;
    if (i + 1 == decoded.size()) return false;
    const auto next = static_cast<std::uint8_t>(decoded[i + 1]);
    if (next >= 0x80 && next < (lead == 0xE0 ? 0xA0 : 0x90)) return true;
  }
  return false;
}

/// Reads one path from the left, segment by segment.
class PathReader {
 public:
  PathReader(std::string_view path, bool loose) : rest_(path), loose_(loose) {
    path_.text.reserve(path.size());
    path_.segments.reserve(static_cast<std::size_t>(std::ranges::count(path, '/')));
  }

  std::variant<NormalPath, PathRefusal> read() {
    if (rest_.empty() || rest_.front() != '/') return PathRefusal{"the path does not begin with /"};
    while (!rest_.empty()) {
      rest_.remove_prefix(1);
      path_.text += '/';
      path_.segments.emplace_back();
      if (!read_segment() || !check_segment()) return PathRefusal{refusal_};
    }
    return std::move(path_);
  }

 private:
  bool refuse(std::string_view reason) {
    refusal_ = reason;
    return false;
  }

  bool read_segment() {
    escaped_ = false;
    while (!rest_.empty() && rest_.front() != '/') {
      std::size_t plain = 0;
      while (plain < rest_.size() && is_literal(rest_[plain])) ++plain;
      path_.text += rest_.substr(0, plain);
      path_.segments.back() += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (rest_.empty() || rest_.front() == '/') return true;
      if (!(rest_.front() == '%' ? read_escape() : read_semicolon())) return false;
    }
    return true;
  }

  static bool is_literal(char c) {
    const Byte byte = kBytes[static_cast<std::uint8_t>(c)];
    return byte == Byte::Plain || byte == Byte::Reserved;
  }

  bool let_through(LooseEscape escape, std::string_view reason) {
    if (!loose_) return refuse(reason);
    path_.has_loose_escapes = true;
    path_.loose_escapes = static_cast<std::uint8_t>(path_.loose_escapes | escape);
    return true;
  }

  bool read_semicolon() {
    if (rest_.front() != ';')
      return refuse("the path has a character that RFC 3986 does not allow");
    if (!let_through(kSemicolon, "the path has a semicolon")) return false;
    path_.text += ';';
    path_.segments.back() += ';';
    rest_.remove_prefix(1);
    return true;
  }

  bool read_escape() {
    const int high = rest_.size() > 2 ? hex_value(rest_[1]) : -1;
    const int low = rest_.size() > 2 ? hex_value(rest_[2]) : -1;
    if (high < 0 || low < 0) return refuse("the path has a broken escape");
    const auto byte = static_cast<std::uint8_t>(high << 4 | low);
    if (byte < 0x20 || byte == 0x7F) return refuse("the path has an escaped control character");
    if (byte == '\\') return refuse("the path has an escaped backslash");
    if (byte == '/' && !let_through(kEscapedSlash, "the path has an escaped slash")) return false;
    if (byte == ';' && !let_through(kSemicolon, "the path has a semicolon")) return false;
    constexpr std::string_view kHex = "0123456789ABCDEF";
    if (kBytes[byte] == Byte::Plain) {
      path_.text += static_cast<char>(byte);
    } else {
      path_.text +=
          {'%', kHex[static_cast<std::size_t>(high)], kHex[static_cast<std::size_t>(low)]};
    }
    path_.segments.back() += static_cast<char>(byte);
    rest_.remove_prefix(3);
    escaped_ = true;
    return true;
  }

  bool check_segment() {
    const std::string& segment = path_.segments.back();
    if (segment.empty()) {
      return rest_.empty() || refuse("the path has an empty segment");  // the last one may be empty
    }
    // Without an escape or a `;` only the segments `.` and `..` themselves can be wrong.
    if (segment.size() <= 2 || escaped_ || path_.has_loose_escapes) {
      if (has_dot_segment(segment)) return refuse("the path has a dot segment");
    }
    if (!escaped_) return true;
    if (has_overlong(segment)) return refuse("the path has an overlong UTF-8 sequence");
    return !has_double_escape(segment) ||
           let_through(kDoubleEscape, "the path has a doubly escaped character");
  }

  NormalPath path_;
  std::string_view rest_;
  std::string_view refusal_;
  bool loose_;
  bool escaped_ = false;  ///< The segment being read holds an escape.
};

}  // namespace

std::variant<NormalPath, PathRefusal> normalise_path(std::string_view path, bool loose) {
  return PathReader(path, loose).read();
}

}  // namespace semel
