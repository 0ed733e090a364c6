// A strict cursor over the tree: a value is read as what its key asks for, or refused with the
// cure.
#include "config/yaml_reader.h"

#include <algorithm>
#include <numeric>

#include "config/units.h"
#include "core/check.h"

namespace semel::config {
namespace {

using Kind = YamlNode::Kind;
using Spelling = YamlNode::Spelling;

std::string quote(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// True where YAML readers take a bare scalar for something other than a text.
bool looks_typed(std::string_view text) {
  constexpr std::string_view kWords[] = {"true",  "false", "True", "False", "TRUE",
                                         "FALSE", "null",  "Null", "NULL",  "~"};
  if (std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords)) return true;
  const std::size_t start = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string_view number = text.substr(start);
  return !number.empty() && number.find_first_not_of("0123456789.eE_") == std::string_view::npos &&
         number[0] >= '0' && number[0] <= '9' && std::count(number.begin(), number.end(), '.') < 2;
}

std::string without_leading_zeros(const std::string& text) {
  const std::size_t first = text.find_first_not_of('0');
  return text.substr(std::min(first, text.empty() ? 0 : text.size() - 1));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> names_of(const MappingGrammar& grammar) {
  std::vector<std::string_view> names;
  for (const Key& key : grammar.keys) names.push_back(key.name);
  return names;
}

std::string unknown(std::string_view what, std::string_view written,
                    const std::vector<std::string_view>& words) {
  const std::string start = "unknown " + std::string(what) + " " + quote(written) + "; ";
  if (const auto nearest = nearest_word(written, words)) {
    return start + "did you mean " + quote(*nearest) + "?";
  }
  return start + "write " + enumerate(words);
}

}  // namespace

std::string enumerate(const std::vector<std::string_view>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += quote(words[i]);
  }
  return result;
}

std::optional<std::string_view> nearest_word(std::string_view written,
                                             const std::vector<std::string_view>& words) {
  std::optional<std::string_view> best;
  std::size_t least = 3;  // Three slips or more are another word.
  for (const std::string_view word : words) {
    const std::size_t distance = edit_distance(written, word);
    if (distance < least && distance < std::max(written.size(), word.size())) {
      least = distance;
      best = word;
    }
  }
  return best;
}

void Value::fail(const std::string& sentence) const {
  fail_at(*file_, node_->place, name_ + ": " + sentence);
}

void Value::fail_unknown_word(const std::vector<std::string_view>& words) const {
  fail(unknown("word", scalar("a word"), words));
}

bool Value::is_word(std::string_view word) const {
  return node_->kind == Kind::Scalar && node_->text == word;
}

std::string Value::scalar(std::string_view wanted) const {
  switch (node_->kind) {
    case Kind::Scalar:
      return node_->text;
    case Kind::Null:
      fail("has no value; write " + std::string(wanted));
    case Kind::Sequence:
      fail("is a list; write " + std::string(wanted));
    case Kind::Mapping:
      fail("is a mapping; write " + std::string(wanted));
  }
  return {};
}

std::string Value::text() const {
  std::string text = scalar("a text");
  if (node_->spelling == Spelling::Plain && looks_typed(text)) {
    fail(text + " is no text in YAML; write " + quote(text));
  }
  return text;
}

std::string Value::secret() const {
  std::string text = scalar("a text");
  if (node_->spelling == Spelling::Plain && looks_typed(text)) {
    fail("is no text in YAML; put it in quotes");
  }
  return text;
}

std::string Value::nonempty_text() const {
  std::string result = text();
  if (result.empty()) fail("is empty; write a text");
  return result;
}

bool Value::boolean() const {
  const std::string text = scalar("true or false");
  if (node_->spelling != Spelling::Quoted) {
    if (text == "true") return true;
    if (text == "false") return false;
  }
  const bool is_quoted = node_->spelling == Spelling::Quoted;
  fail((is_quoted ? quote(text) : text) + " is no truth value; write true or false" +
       (is_quoted ? " without quotes" : ""));
}

std::int64_t Value::integer(Range<std::int64_t> range) const {
  const std::string text = scalar("a whole number");
  const std::string allowed = std::to_string(range.min) + " to " + std::to_string(range.max);
  if (node_->spelling == Spelling::Quoted) {
    fail(quote(text) + " is a text; write a whole number without quotes, " + allowed);
  }
  const auto number = parse_integer(text);
  if (!number) {
    const std::string digits = without_leading_zeros(text);
    fail(text + (parse_integer(digits) ? " begins with a zero; write " + digits
                                       : " is no whole number; write one, " + allowed));
  }
  if (*number < static_cast<std::uint64_t>(range.min) ||
      *number > static_cast<std::uint64_t>(range.max)) {
    fail(text + " is out of range; write " + allowed);
  }
  return static_cast<std::int64_t>(*number);
}

std::chrono::milliseconds Value::duration(Range<std::chrono::milliseconds> range) const {
  const std::string text = scalar("a duration such as 30s");
  const auto duration = parse_duration(text);
  if (!duration) {
    fail(parse_integer(text)
             ? text + " has no unit; write " + text + "s or " + text + "ms"
             : text + " is no duration; write one such as 250ms, 30s, 5m, 24h or 7d");
  }
  if (*duration < range.min || *duration > range.max) {
    fail(text + " is out of range; write " + to_text(range.min) + " to " + to_text(range.max));
  }
  return *duration;
}

std::size_t Value::size(Range<std::size_t> range) const {
  const std::string text = scalar("a size such as 1MiB");
  const auto bytes = parse_size(text);
  if (!bytes) {
    fail(parse_integer(text) ? text + " has no unit; write " + text + "B"
                             : text + " is no size; write one such as 512B, 64KiB or 1MiB");
  }
  if (*bytes < range.min || *bytes > range.max) {
    fail(text + " is out of range; write " + size_text(range.min) + " to " + size_text(range.max));
  }
  return static_cast<std::size_t>(*bytes);
}

int Value::percentage() const {
  const std::string text = scalar("a share such as 20%");
  const bool has_sign = !text.empty() && text.back() == '%';
  const auto number = parse_integer(std::string_view(text).substr(0, text.size() - has_sign));
  if (!has_sign || !number || *number > 100) {
    fail(text + " is no share; write 0% to 100%");
  }
  return static_cast<int>(*number);
}

std::vector<Value> Value::items() const {
  if (node_->kind != Kind::Sequence) {
    fail("is no list; write [...]");
  }
  std::vector<Value> items;
  for (const YamlNode& item : node_->items) {
    items.emplace_back(item, *file_, name_ + "[" + std::to_string(items.size() + 1) + "]");
  }
  return items;
}

Mapping Value::mapping(const MappingGrammar& grammar) const {
  if (!is_mapping()) {
    fail("is no mapping; write keys such as {" + std::string(grammar.keys[0].name) + ": ...}");
  }
  return Mapping(*node_, *file_, grammar);
}

std::vector<Value> Value::named_values() const {
  if (!is_mapping()) fail("is no mapping; write a name and what it stands for");
  std::vector<Value> values;
  for (const YamlMember& member : node_->members) {
    values.emplace_back(member.value, *file_, member.key);
  }
  return values;
}

Mapping::Mapping(const YamlNode& node, const std::string& file, const MappingGrammar& grammar)
    : node_(&node), file_(&file), grammar_(&grammar) {
  const std::vector<std::string_view> names = names_of(grammar);
  for (const YamlMember& member : node.members) {
    if (std::find(names.begin(), names.end(), member.key) == names.end()) {
      fail_at(file, member.place, unknown("key", member.key, names));
    }
  }
  for (const Key& key : grammar.keys) {
    if (key.is_required() && !find(key.name)) {
      fail("the key " + quote(key.name) + " is missing; write " + std::string(key.example));
    }
  }
}

std::optional<Value> Mapping::find(std::string_view key) const {
  const std::vector<std::string_view> names = names_of(*grammar_);
  SEMEL_CHECK(std::find(names.begin(), names.end(), key) != names.end());
  for (const YamlMember& member : node_->members) {
    if (member.key == key) return Value(member.value, *file_, member.key);
  }
  return std::nullopt;
}

Value Mapping::require(std::string_view key) const {
  const std::optional<Value> value = find(key);
  SEMEL_CHECK(value.has_value());
  return *value;
}

std::vector<std::string_view> Mapping::keys() const {
  std::vector<std::string_view> keys;
  for (const YamlMember& member : node_->members) keys.push_back(member.key);
  return keys;
}

Place Mapping::place_of(std::string_view key) const {
  const std::optional<Value> value = find(key);
  return value ? value->place() : place();
}

void Mapping::fail(const std::string& sentence) const { fail_at(*file_, place(), sentence); }

void Mapping::fail_at_key(std::string_view key, const std::string& sentence) const {
  fail_at(*file_, place_of(key), sentence);
}

}  // namespace semel::config
