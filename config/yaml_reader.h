#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/grammar.h"
#include "config/yaml_tree.h"

namespace semel::config {

class Mapping;

template <class T>
struct Range {
  T min;
  T max;
};

/// One word of the grammar and what it means.
template <class E>
struct Word {
  std::string_view text;
  E meaning;
};

/// One value of the document, to be read as what its key asks for. Every read throws ConfigError
/// with the value's place and the cure.
/// @owns Views into the tree and the file's name; both outlive it.
class Value {
 public:
  /// @param name  How errors call it: the key it stands under.
  Value(const YamlNode& node, const std::string& file, std::string name)
      : node_(&node), file_(&file), name_(std::move(name)) {}

  [[nodiscard]] Place place() const { return node_->place; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_mapping() const { return node_->kind == YamlNode::Kind::Mapping; }
  /// True for the bare or quoted word.
  [[nodiscard]] bool is_word(std::string_view word) const;

  /// A text. A bare number, truth value or null is refused: it must be quoted to be one.
  [[nodiscard]] std::string text() const;
  /// A text of at least one character.
  [[nodiscard]] std::string nonempty_text() const;
  /// A text that no error may show.
  [[nodiscard]] std::string secret() const;
  /// `true` or `false`, bare.
  [[nodiscard]] bool boolean() const;
  /// Decimal digits without a leading zero, bare.
  [[nodiscard]] std::int64_t integer(Range<std::int64_t> range) const;
  /// `250ms 30s 5m 24h 7d`.
  [[nodiscard]] std::chrono::milliseconds duration(Range<std::chrono::milliseconds> range) const;
  /// `512B 64KiB 1MiB 2GiB`, in bytes.
  [[nodiscard]] std::size_t size(Range<std::size_t> range) const;
  /// `20%`, 0 to 100.
  [[nodiscard]] int percentage() const;

  template <class E>
  [[nodiscard]] E word(std::initializer_list<Word<E>> words) const {
    std::vector<std::string_view> texts;
    for (const Word<E>& word : words) {
      if (is_word(word.text)) return word.meaning;
      texts.push_back(word.text);
    }
    fail_unknown_word(texts);
  }

  /// The items of a list. Each is called as this one, with `[n]` from 1.
  [[nodiscard]] std::vector<Value> items() const;
  [[nodiscard]] Mapping mapping(const MappingGrammar& grammar) const;
  /// Names and values of a mapping whose keys the operator chooses.
  [[nodiscard]] std::vector<Value> named_values() const;

  /// Throws `file:line:column: name: sentence`.
  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  [[nodiscard]] std::string scalar(std::string_view wanted) const;
  [[noreturn]] void fail_unknown_word(const std::vector<std::string_view>& words) const;

  const YamlNode* node_;
  const std::string* file_;
  std::string name_;
};

/// A mapping whose every key is one that the grammar knows.
class Mapping {
 public:
  /// @throws ConfigError for an unknown key (with the nearest valid one) and for a missing one.
  Mapping(const YamlNode& node, const std::string& file, const MappingGrammar& grammar);

  /// Absent where the key was not written. `key` must be in the grammar.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;
  /// A key that the grammar says is required.
  [[nodiscard]] Value require(std::string_view key) const;
  [[nodiscard]] std::vector<std::string_view> keys() const;
  [[nodiscard]] Place place() const { return node_->place; }
  /// Of the key's value, or of the mapping where it was not written.
  [[nodiscard]] Place place_of(std::string_view key) const;
  [[noreturn]] void fail(const std::string& sentence) const;
  [[noreturn]] void fail_at_key(std::string_view key, const std::string& sentence) const;

 private:
  const YamlNode* node_;
  const std::string* file_;
  const MappingGrammar* grammar_;
};

/// `"a", "b" or "c"`.
[[nodiscard]] std::string enumerate(const std::vector<std::string_view>& words);

/// The word that the operator most likely meant; absent where none is near.
[[nodiscard]] std::optional<std::string_view> nearest_word(
    std::string_view written, const std::vector<std::string_view>& words);

}  // namespace semel::config
