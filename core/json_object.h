#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "core/json_text.h"

namespace semel {

/// Writes the members of one JSON object, commas between them.
/// @owns Appends to `out`, which must outlive it.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
  }
  void number(std::string_view name, std::integral auto value) {
    begin(name);
    out_ += std::to_string(value);
  }
  void truth(std::string_view name, bool value) { literal(name, value ? "true" : "false"); }
  void null(std::string_view name) { literal(name, "null"); }
  /// The caller writes the value.
  void begin(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    out_ += ':';
  }
  void end() { out_ += '}'; }

 private:
  void literal(std::string_view name, std::string_view word) {
    begin(name);
    out_ += word;
  }
  std::string& out_;
  bool first_ = true;
};

}  // namespace semel
