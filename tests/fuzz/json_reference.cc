// The reader that keys are judged by. It reads recursively and keeps everything: whoever wants
// speed reads core/json_reader.
#include "tests/fuzz/json_reference.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

namespace semel::fuzz {
namespace {

constexpr int kDepthMax = 64;
constexpr std::size_t kDigitsMax = 1'000;
constexpr long kExponentMax = 10'000;

/// One sequence of RFC 3629, section 4, taken off the front.
bool take_code_point(std::string_view& bytes, std::uint32_t& code_point) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = at(0);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xC0 ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                                         : 4;
  if (size == 0 || lead > 0xF4 || bytes.size() < size) return false;
  code_point = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return false;
    code_point = code_point << 6U | (at(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  bytes.remove_prefix(size);
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point >= kLeast[size] && code_point <= 0x10FFFF && !surrogate;
}

bool is_utf8(std::string_view bytes) {
  std::uint32_t code_point = 0;
  while (!bytes.empty()) {
    if (!take_code_point(bytes, code_point)) return false;
  }
  return true;
}

std::string normalised(const icu::Normalizer2* form, std::string_view utf8) {
  UErrorCode error = U_ZERO_ERROR;
  const auto wide = icu::UnicodeString::fromUTF8(
      icu::StringPiece(utf8.data(), static_cast<std::int32_t>(utf8.size())));
  const icu::UnicodeString composed = form->normalize(wide, error);
  if (U_FAILURE(error)) std::abort();
  std::string out;
  composed.toUTF8String(out);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class TreeReader {
 public:
  explicit TreeReader(std::string_view text) : rest_(text) {}

  std::optional<JsonTree> read() {
    JsonTree tree;
    if (!read_value(tree, 0)) return std::nullopt;
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    return tree;
  }

 private:
  using Kind = JsonTree::Kind;

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool comes(char c) {
    skip_space();
    return take({&c, 1});
  }

  bool read_value(JsonTree& tree, int depth) {
    skip_space();
    if (rest_.empty()) return false;
    if (rest_.front() == '{' || rest_.front() == '[') {
      if (depth == kDepthMax) return false;
      return take("[") ? read_array(tree, depth + 1) : take("{") && read_object(tree, depth + 1);
    }
    if (rest_.front() == '"') {
      tree.kind = Kind::Text;
      return read_text(tree.text);
    }
    if (take("null")) return true;
    tree.kind = Kind::False;
    if (take("false")) return true;
    tree.kind = Kind::True;
    if (take("true")) return true;
    tree.kind = Kind::Number;
    return read_number(tree.text);
  }

  bool read_array(JsonTree& tree, int depth) {
    tree.kind = Kind::Array;
    if (comes(']')) return true;
    do {
      if (!read_value(tree.items.emplace_back(), depth)) return false;
    } while (comes(','));
    return comes(']');
  }

  bool read_object(JsonTree& tree, int depth) {
    tree.kind = Kind::Object;
    if (comes('}')) return true;
    std::map<std::string, JsonTree> members;  // UTF-8's order is that of the code points.
    do {
      skip_space();
      std::string name;
      JsonTree value;
      if (!read_text(name) || !comes(':') || !read_value(value, depth)) return false;
      if (!members.emplace(std::move(name), std::move(value)).second) return false;
    } while (comes(','));
    for (auto& [name, value] : members) {
      tree.names.push_back(name);
      tree.items.push_back(std::move(value));
    }
    return comes('}');
  }

  bool read_text(std::string& out) {
    if (!take("\"")) return false;
    std::string raw;
    while (!rest_.empty() && rest_.front() != '"') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (static_cast<std::uint8_t>(c) < 0x20) return false;
      if (c != '\\') {
        raw += c;
      } else if (!read_escape(raw)) {
        return false;
      }
    }
    if (!take("\"")) return false;
    std::optional<std::string> composed = nfc_of(raw);
    if (composed) out = std::move(*composed);
    return composed.has_value();
  }

  bool read_escape(std::string& raw) {
    if (take("u")) return read_unit_escape(raw);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = rest_.empty() ? kNames.npos : kNames.find(rest_.front());
    if (which == kNames.npos) return false;
    raw += kMeant[which];
    rest_.remove_prefix(1);
    return true;
  }

  bool read_unit_escape(std::string& raw) {
    std::uint32_t unit = 0;
    if (!read_unit(unit) || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      std::uint32_t low = 0;
      if (!take("\\u") || !read_unit(low) || low < 0xDC00 || low > 0xDFFF) return false;
      unit = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(unit, raw);
    return true;
  }

  bool read_unit(std::uint32_t& unit) {
    if (rest_.size() < 4) return false;
    for (const char c : rest_.substr(0, 4)) {
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) return false;
      unit = unit * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
    }
    rest_.remove_prefix(4);
    return true;
  }

  bool read_number(std::string& out) {
    const std::string_view begin = rest_;
    const auto digits = [this] {
      const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      rest_.remove_prefix(count);
      return count;
    };
    (void)take("-");
    if (rest_.starts_with('0') && rest_.size() > 1 && is_digit(rest_[1])) return false;
    if (digits() == 0) return false;
    if (take(".") && digits() == 0) return false;
    if (take("e") || take("E")) {
      if (!take("+")) (void)take("-");
      if (digits() == 0) return false;
    }
    std::optional<std::string> exact = exact_decimal(begin.substr(0, begin.size() - rest_.size()));
    if (exact) out = std::move(*exact);
    return exact.has_value();
  }

  std::string_view rest_;
};

}  // namespace

std::optional<JsonTree> read_json_tree(std::string_view text) { return TreeReader(text).read(); }

std::optional<std::string> exact_decimal(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), mark);
  std::string digits(number.substr(0, point));
  if (point < mark) digits += number.substr(point + 1, mark - point - 1);
  if (digits.find_first_not_of('0') == digits.npos) return "0e0";
  if (digits.size() > kDigitsMax) return std::nullopt;
  // strtol ends at the limits of a long, which are far beyond the bounds.
  const std::string written(number.substr(std::min(mark + 1, number.size())));
  const long exponent = written.empty() ? 0 : std::strtol(written.c_str(), nullptr, 10);
  if (exponent < -kExponentMax || exponent > kExponentMax) return std::nullopt;
  long shifted = exponent - static_cast<long>(point < mark ? mark - point - 1 : 0);
  digits.erase(0, digits.find_first_not_of('0'));
  while (digits.back() == '0') {
    digits.pop_back();
    ++shifted;
  }
  return (negative ? "-" : "") + digits + "e" + std::to_string(shifted);
}

std::optional<std::string> nfc_of(std::string_view utf8) {
  UErrorCode error = U_ZERO_ERROR;
  if (!is_utf8(utf8)) return std::nullopt;
  return normalised(icu::Normalizer2::getNFCInstance(error), utf8);
}

std::string nfd_of(std::string_view utf8) {
  UErrorCode error = U_ZERO_ERROR;
  return normalised(icu::Normalizer2::getNFDInstance(error), utf8);
}

std::vector<std::uint32_t> code_points(std::string_view utf8) {
  std::vector<std::uint32_t> all;
  while (!utf8.empty()) {
    if (!take_code_point(utf8, all.emplace_back())) std::abort();
  }
  return all;
}

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | (code_point >> shift & 0x3FU));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0U | code_point >> 6U);
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0U | code_point >> 12U);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | code_point >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace semel::fuzz
