#include "stores/pg_standby_names.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace semel {
namespace {

bool is_space(char c) { return std::string_view(" \t\n\r\f\v").find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool starts_name(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '$'; }

std::string lowered(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), lower);
  return all;
}

struct Token {
  enum class Kind : std::uint8_t { Name, Number, Any, First, Mark, End, Wrong };
  Kind kind = Kind::End;
  std::string text = {};
};

/// Takes one token off the front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  Token next() {
    while (!left_.empty() && is_space(left_.front())) left_.remove_prefix(1);
    if (left_.empty()) return {Token::Kind::End};
    const char first = left_.front();
    if (first == '"') return quoted();
    if (first == '*') return {Token::Kind::Name, take(1)};
    if (first == ',' || first == '(' || first == ')') return {Token::Kind::Mark, take(1)};
    if (is_digit(first)) return {Token::Kind::Number, take_while(is_digit)};
    if (!starts_name(first)) return {Token::Kind::Wrong};
    std::string name = lowered(take_while(continues_name));
    if (name == "any") return {Token::Kind::Any};
    if (name == "first") return {Token::Kind::First};
    return {Token::Kind::Name, std::move(name)};
  }

 private:
  std::string take(std::size_t count) {
    std::string taken(left_.substr(0, count));
    left_.remove_prefix(count);
    return taken;
  }
  std::string take_while(bool (*fits)(char)) {
    const auto end = std::find_if_not(left_.begin(), left_.end(), fits);
    return take(static_cast<std::size_t>(end - left_.begin()));
  }
  /// Two quotes in a row are one.
  Token quoted() {
    std::string name;
    for (std::size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] != '"') {
        name += left_[i];
      } else if (i + 1 < left_.size() && left_[i + 1] == '"') {
        name += left_[++i];
      } else {
        left_.remove_prefix(i + 1);
        return {Token::Kind::Name, lowered(name)};
      }
    }
    return {Token::Kind::Wrong};
  }

  std::string_view left_;
};

std::optional<std::vector<Token>> tokens_of(std::string_view setting) {
  Scanner scanner(setting);
  std::vector<Token> tokens;
  for (;;) {
    Token token = scanner.next();
    if (token.kind == Token::Kind::Wrong) return std::nullopt;
    tokens.push_back(std::move(token));
    if (tokens.back().kind == Token::Kind::End) return tokens;
  }
}

bool is_mark(const Token& token, std::string_view mark) {
  return token.kind == Token::Kind::Mark && token.text == mark;
}

/// Names, of which a number may be one, with commas between.
/// @param at  Moves behind the last of them.
std::optional<std::vector<std::string>> list_of(const std::vector<Token>& tokens, std::size_t& at) {
  std::vector<std::string> names;
  for (;; ++at) {
    const Token& token = tokens[at++];
    if (token.kind != Token::Kind::Name && token.kind != Token::Kind::Number) return std::nullopt;
    names.push_back(token.text);
    if (!is_mark(tokens[at], ",")) return names;
  }
}

}  // namespace

bool PgStandbyNames::are_all_waited_for() const {
  return count >= names.size() && std::find(names.begin(), names.end(), "*") == names.end();
}

std::optional<PgStandbyNames> parse_standby_names(std::string_view setting) {
  const auto tokens = tokens_of(setting);
  if (!tokens) return std::nullopt;
  std::size_t at = 0;
  const Token::Kind first = tokens->front().kind;
  const bool has_method = first == Token::Kind::Any || first == Token::Kind::First;
  if (has_method) ++at;
  PgStandbyNames found;
  const Token& number = (*tokens)[at];
  const bool is_counted =
      has_method || (number.kind == Token::Kind::Number && is_mark((*tokens)[at + 1], "("));
  if (is_counted) {
    const char* end = number.text.data() + number.text.size();
    const bool is_number = number.kind == Token::Kind::Number &&
                           std::from_chars(number.text.data(), end, found.count).ptr == end;
    if (!is_number || found.count == 0 || !is_mark((*tokens)[at + 1], "(")) return std::nullopt;
    at += 2;
  }
  auto names = list_of(*tokens, at);
  if (!names) return std::nullopt;
  if (is_counted && !is_mark((*tokens)[at++], ")")) return std::nullopt;
  if ((*tokens)[at].kind != Token::Kind::End) return std::nullopt;
  found.names = *std::move(names);
  return found;
}

}  // namespace semel
