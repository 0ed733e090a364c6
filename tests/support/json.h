#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::testing {

/// A JSON value as a test reads it: small, strict and of its own make, so that nothing is judged by
/// the code under test.
class Json {
 public:
  enum class Kind { Absent, Null, Boolean, Number, String, Array, Object };

  /// @return Absent if the text is no JSON, or if a member name is repeated.
  [[nodiscard]] static Json parse(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_absent() const { return kind_ == Kind::Absent; }
  /// The member of an object; Absent if there is none.
  [[nodiscard]] const Json& operator[](std::string_view member) const;
  [[nodiscard]] const std::vector<Json>& items() const { return items_; }
  [[nodiscard]] const std::vector<std::pair<std::string, Json>>& members() const {
    return members_;
  }
  /// A string's characters, a number's or literal's text, `absent`, `array` or `object`.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class JsonReader;
  Kind kind_ = Kind::Absent;
  std::string text_ = "absent";
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace semel::testing
