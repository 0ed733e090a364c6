#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/header_field.h"

namespace semel::proxy {

/// How reading one line of a header section ended.
enum class LineEnd : std::uint8_t {
  Field,        ///< One field line was read.
  EndOfHead,    ///< The empty line was read.
  Incomplete,   ///< The buffer ends within the line, and nothing is wrong with it so far.
  BadName,      ///< No token before the colon (RFC 9112 5.1), white space before it included.
  BadValue,     ///< A control character in the value (RFC 9110 5.5).
  BareLineEnd,  ///< CR without LF or LF without CR (RFC 9112 2.2).
  Folded,       ///< The line begins with white space (RFC 9112 5.2).
};

/// Reads the field line at `at`, strictly. On Field and EndOfHead `at` is moved behind the line's
/// CRLF; otherwise it stays. The value comes without outer white space.
[[nodiscard]] LineEnd read_field_line(std::string_view buffer, std::size_t& at, HeaderField& field);

/// A short phrase for what is wrong. Empty for the first three.
[[nodiscard]] std::string_view reason(LineEnd end);

/// True if a head whose first `scanned` bytes were parsed or asked about in vain is worth parsing
/// now: its empty line has come, or what came makes it one that is refused.
[[nodiscard]] bool is_worth_parsing(std::string_view buffer, std::size_t scanned,
                                    std::size_t line_bytes_max);

/// A Content-Length as it may stand: digits without a leading zero, at most 2^63-1 (RFC 9110 8.6).
[[nodiscard]] std::optional<std::uint64_t> parse_content_length(std::string_view value);

/// How two field names compare where some server might take `_` for `-`.
enum class NameMatch : std::uint8_t { Different, Same, Twin };
namespace detail {
[[nodiscard]] NameMatch match_names_of_one_size(std::string_view a, std::string_view b);
}  // namespace detail

/// Neither name is empty. Most pairs are told apart by size and first letter, without a call.
[[nodiscard]] inline NameMatch match_names(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return NameMatch::Different;
  const int difference = (a.front() ^ b.front()) & ~0x20;
  constexpr int kDashToUnderscore = ('-' ^ '_') & ~0x20;
  if (difference != 0 && difference != kDashToUnderscore) return NameMatch::Different;
  return detail::match_names_of_one_size(a, b);
}

/// What the Connection lines of one message say (RFC 9110 7.6.1).
struct ConnectionWords {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
  bool others = false;  ///< Names fields that end at this hop.

  /// Whether the connection may carry another message (RFC 9112 9.3).
  [[nodiscard]] bool persists(int minor_version) const {
    return !close && (minor_version == 1 || keep_alive);
  }
};

/// Adds one Connection line's words. @return false if it is no list of tokens.
/// @param on_other  Called with each name that is none of the three words; false stops, as
/// malformed.
template <class OnOther>
[[nodiscard]] bool add_connection_words(std::string_view value, ConnectionWords& words,
                                        OnOther on_other);

namespace detail {
enum class Word : std::uint8_t { Close, KeepAlive, Upgrade, Other, Malformed };
/// Takes the next word off the list, its comma included; nothing where only white space was left.
[[nodiscard]] std::optional<Word> next_word(std::string_view& list, std::string_view& word);
}  // namespace detail

template <class OnOther>
bool add_connection_words(std::string_view value, ConnectionWords& words, OnOther on_other) {
  std::string_view text;
  while (const auto word = detail::next_word(value, text)) {
    switch (*word) {
      case detail::Word::Close:
        words.close = true;
        break;
      case detail::Word::KeepAlive:
        words.keep_alive = true;
        break;
      case detail::Word::Upgrade:
        words.upgrade = true;
        break;
      case detail::Word::Other:
        words.others = true;
        if (!on_other(text)) return false;
        break;
      case detail::Word::Malformed:
        return false;
    }
  }
  return true;
}

}  // namespace semel::proxy
