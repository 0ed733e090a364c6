// The strict JSON reader. It decides what may be keyed and must never be lenient: a body that two
// readers could understand differently is a second effect in waiting. Called by core/request_body.

#include "core/json_reader.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/decimal.h"
#include "core/unicode.h"

namespace semel {
namespace {

/// Up to here names are compared pair by pair, beyond they are sorted first.
constexpr std::size_t kPairwiseNamesMax = 16;
/// A body with more open names than this gives their memory back.
constexpr std::size_t kKeptNamesMax = 4096;

/// A member name of an object that is still open, and where it was written.
struct OpenName {
  NodeIndex node;
  std::uint32_t mark;  ///< Of its characters: most pairs of names differ in it already.
  std::size_t offset;
};

std::uint32_t mark_of(std::string_view name) {
  if (name.empty()) return 0;
  const auto byte = [](char c) { return std::uint32_t{static_cast<std::uint8_t>(c)}; };
  return static_cast<std::uint32_t>(name.size()) << 16 | byte(name.front()) << 8 |
         byte(name.back());
}

bool is_plain(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/// How many of eight bytes, from the first in memory on, are plain: a test per forbidden value,
/// eight at once. Each test also hits bytes beyond ASCII, which are not plain either, and may hit
/// what lies behind the first byte that it is for: the lowest bit of all is exact.
std::size_t plain_prefix(std::uint64_t eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ull;
  constexpr std::uint64_t kHighs = 0x8080808080808080ull;
  const std::uint64_t control = eight - kOnes * 0x20;
  const std::uint64_t quote = (eight ^ (kOnes * '"')) - kOnes;
  const std::uint64_t backslash = (eight ^ (kOnes * '\\')) - kOnes;
  static_assert(std::endian::native == std::endian::little);
  return static_cast<std::size_t>(
             std::countr_zero((eight | control | quote | backslash) & kHighs)) /
         8;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class JsonReader {
 public:
  JsonReader(std::string_view text, ValueTape& tape, std::vector<OpenName>& names)
      : text_(text), tape_(tape), names_(names) {
    names_.clear();
  }

  std::optional<TextFault> read() {
    if (text_.starts_with("\xEF\xBB\xBF")) return TextFault{"a byte order mark", 0};
    skip_space();
    if (!read_value()) return fault_;
    skip_space();
    if (at_ != text_.size()) fail("something behind its value", at_);
    return fault_;
  }

 private:
  bool fail(std::string_view what, std::size_t offset) {
    if (!fault_) fault_ = TextFault{what, offset};
    return false;
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    // Whatever may stand between values lies behind the space, and mostly there is none.
    while (at_ < text_.size() && static_cast<std::uint8_t>(text_[at_]) <= ' ') {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
      ++at_;
    }
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool read_value() {
    switch (peek()) {
      case '{':
        return read_object();
      case '[':
        return read_array();
      case '"':
        return read_text();
      case 't':
        return read_word("true", ValueKind::True);
      case 'f':
        return read_word("false", ValueKind::False);
      case 'n':
        return read_word("null", ValueKind::Null);
      default:
        return read_number();
    }
  }

  bool read_word(std::string_view word, ValueKind kind) {
    if (text_.substr(at_, word.size()) != word) return fail("no JSON value", at_);
    tape_.add(kind, TextForm::Plain, at_, word.size());
    at_ += word.size();
    return true;
  }

  bool read_number() {
    const std::size_t length = number_length(text_.substr(at_));
    if (length == 0) return fail("no JSON value", at_);
    if (!is_keyable_number(text_.substr(at_, length))) {
      return fail("a number of too many digits or too large an exponent", at_);
    }
    tape_.add(ValueKind::Number, TextForm::Plain, at_, length);
    at_ += length;
    return true;
  }

  bool read_array() {
    if (++depth_ > kJsonDepthMax) return fail("too deep a nesting", at_);
    const NodeIndex array = tape_.open(ValueKind::Array, at_++);
    std::size_t elements = 0;
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        if (!read_value()) return false;
        ++elements;
        skip_space();
      } while (take(','));
      if (!take(']')) return fail("an array that is not closed", at_);
    }
    tape_.close(array, elements);
    --depth_;
    return true;
  }

  bool read_object() {
    if (++depth_ > kJsonDepthMax) return fail("too deep a nesting", at_);
    const NodeIndex object = tape_.open(ValueKind::Object, at_++);
    const std::size_t first_name = names_.size();
    skip_space();
    if (!take('}')) {
      do {
        if (!read_member()) return false;
      } while (take(','));
      if (!take('}')) return fail("an object that is not closed", at_);
    }
    if (!names_are_distinct(first_name)) return false;
    tape_.close(object, names_.size() - first_name);
    names_.resize(first_name);
    --depth_;
    return true;
  }

  bool read_member() {
    skip_space();
    if (peek() != '"') return fail("no member name", at_);
    const NodeIndex name = tape_.end();
    const std::size_t offset = at_;
    if (!read_text()) return false;
    if (tape_.node(name).form == TextForm::Raw) tape_.normalise(name);
    names_.push_back({name, mark_of(tape_.stored_text(tape_.node(name))), offset});
    skip_space();
    if (!take(':')) return fail("a member without a colon", at_);
    skip_space();
    if (!read_value()) return false;
    skip_space();
    return true;
  }

  /// Reads a string; the tape gets what lies between its quotes.
  bool read_text() {
    const std::size_t begin = ++at_;
    skip_plain();
    if (peek() != '"') return read_raw_text(begin);
    tape_.add(ValueKind::Text, TextForm::Plain, begin, at_ - begin);
    ++at_;
    return true;
  }

  /// The same from the first byte on that is not plain.
  bool read_raw_text(std::size_t begin) {
    while (true) {
      if (at_ >= text_.size()) return fail("a string that is not closed", begin - 1);
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        if (!skip_escape()) return false;
      } else if (static_cast<std::uint8_t>(c) < 0x20) {
        return fail("a control character", at_);
      } else {
        const std::size_t length = utf8_sequence_length(text_.substr(at_));
        if (length == 0) return fail("invalid UTF-8", at_);
        at_ += length;
      }
      skip_plain();
    }
    tape_.add(ValueKind::Text, TextForm::Raw, begin, at_ - begin);
    ++at_;
    return true;
  }

  void skip_plain() {
    while (at_ + 8 <= text_.size()) {
      std::uint64_t eight;
      std::memcpy(&eight, text_.data() + at_, 8);
      const std::size_t plain = plain_prefix(eight);
      at_ += plain;
      if (plain < 8) return;
    }
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
  }

  bool skip_escape() {
    const std::size_t start = at_++;
    const char c = peek();
    if (c != 'u') {
      if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
        return fail("an unknown escape", start);
      }
      ++at_;
      return true;
    }
    ++at_;
    const std::optional<unsigned> unit = take_hex4();
    if (!unit) return fail("a broken \\u escape", start);
    if (*unit < 0xD800 || *unit > 0xDFFF) return true;
    if (*unit > 0xDBFF || !take('\\') || !take('u')) return fail("a lone surrogate", start);
    const std::optional<unsigned> low = take_hex4();
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return fail("a lone surrogate", start);
    return true;
  }

  std::optional<unsigned> take_hex4() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      if (!is_hex(c)) return std::nullopt;
      value = value * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  [[nodiscard]] std::string_view characters(const OpenName& name) const {
    return tape_.stored_text(tape_.node(name.node));
  }

  bool names_are_distinct(std::size_t first_name) {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first_name);
    if (names_.size() - first_name <= kPairwiseNamesMax) {
      for (auto later = begin; later != names_.end(); ++later) {
        for (auto earlier = begin; earlier != later; ++earlier) {
          if (earlier->mark == later->mark && characters(*earlier) == characters(*later)) {
            return fail("a duplicate member name", later->offset);
          }
        }
      }
      return true;
    }
    std::sort(begin, names_.end(), [this](const OpenName& a, const OpenName& b) {
      const int order = characters(a).compare(characters(b));
      return order != 0 ? order < 0 : a.offset < b.offset;
    });
    const auto twin = std::adjacent_find(
        begin, names_.end(),
        [this](const OpenName& a, const OpenName& b) { return characters(a) == characters(b); });
    return twin == names_.end() || fail("a duplicate member name", (twin + 1)->offset);
  }

  std::string_view text_;
  ValueTape& tape_;
  std::vector<OpenName>& names_;  ///< Of the objects that are open, outermost first.
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<TextFault> fault_;
};

}  // namespace

std::optional<TextFault> read_json(std::string_view text, ValueTape& tape) {
  thread_local std::vector<OpenName> names;
  tape.restart(text);
  std::optional<TextFault> fault = JsonReader(text, tape, names).read();
  if (names.capacity() > kKeptNamesMax) std::vector<OpenName>().swap(names);
  return fault;
}

}  // namespace semel
