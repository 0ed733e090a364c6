#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::sim {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Reads one HTTP/1.1 message that is well formed, as it comes in pieces. What the simulated
/// clients and the simulated tool hear; not a gate.
class MessageReader {
 public:
  enum class State : std::uint8_t { More, Whole, Broken };

  /// @return what `bytes` made of it. Whole: what follows it is in rest().
  State feed(std::string_view bytes);
  /// The connection ended cleanly. @return Whole where that is the message's end, else Broken.
  State end();

  [[nodiscard]] bool has_head() const { return has_head_; }
  [[nodiscard]] bool has_begun() const { return !text_.empty() || has_head_; }
  [[nodiscard]] const std::string& first_line() const { return first_line_; }
  /// Of an answer; 0: it is none.
  [[nodiscard]] std::uint16_t status() const;
  /// Empty: absent. @param name  In lower case.
  [[nodiscard]] std::string_view field(std::string_view name) const;
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const std::string& rest() const { return text_; }

 private:
  enum class Framing : std::uint8_t { Length, Chunked, UntilClose };
  bool read_head();
  State read_body();
  State read_chunks();

  std::string text_;  ///< Not used yet.
  std::string first_line_;
  Fields fields_;
  std::string body_;
  std::size_t length_ = 0;
  Framing framing_ = Framing::Length;
  bool has_head_ = false;
};

/// The value of a member that is a number or a string without escapes: `"item":"k3"`.
[[nodiscard]] std::string_view json_member(std::string_view body, std::string_view name);
/// Decimal digits at the start of `text`; 0: none.
[[nodiscard]] std::uint32_t number_in(std::string_view text);

}  // namespace semel::sim
