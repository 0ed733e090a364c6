#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value_tape.h"

namespace semel {

/// One value of a JSON text that `read_json` has put on a tape, for who wants a few members of a
/// small body. Unlike a key it wants the texts as they were written: not in NFC.
/// @owns Views into the tape and its source, which must outlive it.
class JsonView {
 public:
  explicit JsonView(const ValueTape& tape, NodeIndex at = 0) : tape_(&tape), at_(at) {}

  [[nodiscard]] ValueKind kind() const { return tape_->node(at_).kind; }
  /// The member of that name; absent where there is none, or where this is no object.
  [[nodiscard]] std::optional<JsonView> member(std::string_view name) const;
  /// In the order of the text; none where this is no object.
  [[nodiscard]] std::vector<std::pair<std::string, JsonView>> members() const;
  /// Of an array; none where this is none.
  [[nodiscard]] std::vector<JsonView> items() const;
  /// The characters of a string with its escapes resolved, or the digits of a number as they stand.
  [[nodiscard]] std::string text() const;

 private:
  const ValueTape* tape_;
  NodeIndex at_;
};

}  // namespace semel
