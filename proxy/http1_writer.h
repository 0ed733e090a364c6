#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/header_field.h"
#include "core/header_rules.h"

namespace semel::proxy {

/// The name of a field that Semel sets itself: a token, or it does not compile.
class OwnName {
 public:
  /// Implicit: a name is spelled as text where it is used.
  template <std::size_t kSize>
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval OwnName(const char (&name)[kSize]) : text_(name, kSize - 1) {
    static_assert(kSize > 1);
    for (const char c : text_) {
      if (!is_token_byte(c)) throw "a field name is a token";
    }
  }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// The one place where a header line is written. A value with CR, LF, NUL or another control, or a
/// name that is no token, is a broken program: everything that arrives was checked by the readers,
/// and everything of our own by the configuration.
/// @owns Appends to `out`, which must outlive it.
class HeadWriter {
 public:
  explicit HeadWriter(std::string& out) : out_(out) {}

  /// @param query  After the `?`; absent: no `?`.
  void request_line(std::string_view method, std::string_view path,
                    std::optional<std::string_view> query);
  /// `HTTP/1.1 201 Created`; the standard reason where `reason` is empty.
  void status_line(std::uint16_t status, std::string_view reason = {});
  void field(OwnName name, std::string_view value);
  void field(OwnName name, std::uint64_t number);
  /// A line whose name is the operator's or the upstream's.
  void foreign_field(std::string_view name, std::string_view value);
  /// A line that one of the readers let through. Its name was a token there; its value is checked
  /// once more, because this is the place that answers for it.
  /// @param line  Where it stands as `Name: value`, in one piece, it is copied in one piece.
  void received(const HeaderField& line);
  /// The empty line.
  void end() { out_.append("\r\n"); }

 private:
  void line(std::string_view name, std::string_view value);

  std::string& out_;
};

/// The reason phrase of RFC 9110 15; `Unknown` for the rest.
[[nodiscard]] std::string_view reason_phrase(std::uint16_t status);

/// `1a\r\n`: the size line of one chunk.
void append_chunk_size(std::string& out, std::size_t bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// IMF-fixdate of the current second, made anew at most once a second per thread.
[[nodiscard]] std::string_view http_date();

}  // namespace semel::proxy
