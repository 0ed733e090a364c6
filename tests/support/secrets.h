#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace semel::testing {

/// Random texts that a test hides in what it sends, and the search for them in what was written.
class Secrets {
 public:
  /// Draws one: 24 letters and digits that occur nowhere else, then characters that every escaping
  /// changes in its own way. Always the same ones in the same order.
  [[nodiscard]] std::string plant();
  /// Takes a text of the test's own among them; at least 12 characters.
  void plant(const std::string& secret);

  [[nodiscard]] std::size_t count() const { return planted_; }
  /// Which of them stand in `text`, each with the form it stands there in: clear, URL-encoded, hex,
  /// or in base64 wherever its bytes began.
  [[nodiscard]] std::vector<std::string> found_in(std::string_view text) const;

 private:
  struct Form {
    std::string text;
    std::string told_as;
  };
  void look_for(std::string text, const std::string& told_as);

  static constexpr std::size_t kPrefix = 12;
  std::mt19937 random_{20'240'229};
  std::size_t planted_ = 0;
  std::unordered_map<std::string, std::vector<Form>> by_prefix_;
};

/// Every byte but letters, digits, `-`, `.`, `_` and `~` as `%` and two upper-case hex digits.
[[nodiscard]] std::string percent_encoded(std::string_view bytes);
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace semel::testing
