#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "core/header_field.h"

namespace semel {

/// Header lines in order with repeats kept, in the upstream's own case. One piece of memory,
/// spelled as it goes over the wire: most of a record would be string headers otherwise.
class FieldLines {
 public:
  /// Yields HeaderField by value; views into the lines.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = HeaderField;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = HeaderField;

    explicit Iterator(std::string_view rest) : rest_(rest) {}
    HeaderField operator*() const {
      const auto colon = rest_.find(':');
      return {rest_.substr(0, colon), rest_.substr(colon + 2, line_end() - colon - 2)};
    }
    Iterator& operator++() {
      rest_.remove_prefix(line_end() + 2);
      return *this;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    [[nodiscard]] std::size_t line_end() const { return rest_.find('\r'); }
    std::string_view rest_;
  };

  FieldLines() = default;
  FieldLines(std::initializer_list<HeaderField> fields) {
    for (const HeaderField& field : fields) push_back(field);
  }

  /// @param field  A token, and a value without CR, LF or NUL: checked where it was read.
  void push_back(HeaderField field) {
    text_.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  [[nodiscard]] Iterator begin() const { return Iterator(text_); }
  [[nodiscard]] Iterator end() const { return Iterator({}); }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::distance(begin(), end()));
  }
  /// `Name: value CRLF`, a line each.
  [[nodiscard]] std::string_view text() const { return text_; }
  bool operator==(const FieldLines&) const = default;

 private:
  std::string text_;
};

/// Whether the answer's bytes are kept with its record.
enum class BodyKept : std::uint8_t { Kept, NotKept };

/// What a replay sends: status, header lines, body bytes as received.
/// Immutable once built; shared between the store, a flight's followers and replays.
struct StoredResponse {
  std::uint16_t status = 0;
  BodyKept kept = BodyKept::Kept;
  bool unframed = false;  ///< The upstream ended it with a clean close, not with a length.
  FieldLines fields;
  std::string body;  ///< Empty where `kept` is NotKept.
  bool operator==(const StoredResponse&) const = default;
};

using StoredResponsePtr = std::shared_ptr<const StoredResponse>;

}  // namespace semel
