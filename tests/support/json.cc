#include "tests/support/json.h"

#include <charconv>
#include <cstdint>

namespace semel::testing {
namespace {

void append_utf8(std::uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

/// Recursive descent over the text that is left. Every function returns false on a syntax error.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : left_(text) {}

  bool document(Json& out) {
    if (!value(out)) return false;
    skip_space();
    return left_.empty();
  }

 private:
  bool value(Json& out) {
    skip_space();
    if (left_.empty()) return false;
    switch (left_.front()) {
      case '{':
        return object(out);
      case '[':
        return array(out);
      case '"':
        out.kind_ = Json::Kind::String;
        return string(out.text_);
      case 't':
        return literal("true", Json::Kind::Boolean, out);
      case 'f':
        return literal("false", Json::Kind::Boolean, out);
      case 'n':
        return literal("null", Json::Kind::Null, out);
      default:
        return number(out);
    }
  }

  bool object(Json& out) {
    out.kind_ = Json::Kind::Object;
    out.text_ = "object";
    left_.remove_prefix(1);
    if (take('}')) return true;
    do {
      std::string name;
      Json member;
      skip_space();
      if (!string(name) || !take(':') || !value(member)) return false;
      if (!out[name].is_absent()) return false;
      out.members_.emplace_back(std::move(name), std::move(member));
    } while (take(','));
    return take('}');
  }

  bool array(Json& out) {
    out.kind_ = Json::Kind::Array;
    out.text_ = "array";
    left_.remove_prefix(1);
    if (take(']')) return true;
    do {
      if (!value(out.items_.emplace_back())) return false;
    } while (take(','));
    return take(']');
  }

  bool string(std::string& out) {
    out.clear();
    if (left_.empty() || left_.front() != '"') return false;
    left_.remove_prefix(1);
    while (!left_.empty()) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < ' ') return false;
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        return false;
      }
    }
    return false;
  }

  bool escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (left_.empty()) return false;
    const char c = left_.front();
    left_.remove_prefix(1);
    if (c == 'u') return unicode(out);
    const std::size_t at = kFrom.find(c);
    if (at == std::string_view::npos) return false;
    out += kTo[at];
    return true;
  }

  bool unicode(std::string& out) {
    std::uint32_t code = 0;
    if (!four_digits(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (!left_.starts_with("\\u")) return false;
      left_.remove_prefix(2);
      if (!four_digits(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return false;
    }
    append_utf8(code, out);
    return true;
  }

  bool four_digits(std::uint32_t& code) {
    if (left_.size() < 4) return false;
    const auto [stop, error] = std::from_chars(left_.data(), left_.data() + 4, code, 16);
    const bool whole = error == std::errc{} && stop == left_.data() + 4;
    left_.remove_prefix(4);
    return whole;
  }

  bool number(Json& out) {
    double ignored = 0;
    const auto [stop, error] = std::from_chars(left_.data(), left_.data() + left_.size(), ignored);
    if (error != std::errc{}) return false;
    out.kind_ = Json::Kind::Number;
    out.text_ = std::string(left_.data(), stop);
    left_.remove_prefix(out.text_.size());
    return true;
  }

  bool literal(std::string_view word, Json::Kind kind, Json& out) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    out.kind_ = kind;
    out.text_ = word;
    return true;
  }

  bool take(char c) {
    skip_space();
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  void skip_space() {
    while (!left_.empty() && std::string_view(" \t\r\n").find(left_.front()) != left_.npos) {
      left_.remove_prefix(1);
    }
  }

  std::string_view left_;
};

Json Json::parse(std::string_view text) {
  Json json;
  return JsonReader(text).document(json) ? json : Json{};
}

const Json& Json::operator[](std::string_view member) const {
  static const Json kAbsent;
  for (const auto& [name, value] : members_) {
    if (name == member) return value;
  }
  return kAbsent;
}

}  // namespace semel::testing
