#include "examples/json_members.h"

#include <algorithm>
#include <utility>

namespace semel::examples {
namespace {

/// Walks over the text once, left to right. Every step returns what it passed, or nothing.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(char expected) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  /// A string with its quotes.
  std::optional<std::string_view> string() {
    const auto begin = (skip_space(), at_);
    if (!take('"')) return std::nullopt;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// Any value, up to the comma or bracket that ends it.
  std::optional<std::string_view> value() {
    const auto begin = (skip_space(), at_);
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      if (c == '"') {
        if (!string()) return std::nullopt;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    auto text = text_.substr(begin, at_ - begin);
    text = text.substr(0, text.find_last_not_of(kSpace) + 1);
    return text.empty() ? std::nullopt : std::optional(text);
  }

 private:
  static constexpr std::string_view kSpace = " \t\r\n";

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::map<std::string, std::string, std::less<>>> split_members(
    std::string_view json) {
  Scanner scanner(json);
  std::map<std::string, std::string, std::less<>> members;
  if (!scanner.take('{')) return std::nullopt;
  if (scanner.take('}')) return scanner.at_end() ? std::optional(members) : std::nullopt;
  do {
    const auto name = scanner.string();
    if (!name || !scanner.take(':')) return std::nullopt;
    const auto value = scanner.value();
    if (!value) return std::nullopt;
    members.emplace(name->substr(1, name->size() - 2), *value);
  } while (scanner.take(','));
  if (!scanner.take('}') || !scanner.at_end()) return std::nullopt;
  return members;
}

}  // namespace semel::examples
