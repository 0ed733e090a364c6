#include "core/header_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace semel {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

/// The same byte eight times.
constexpr std::uint64_t eight_times(std::uint8_t byte) { return 0x0101010101010101ull * byte; }
constexpr std::uint64_t kHighBits = eight_times(0x80);

std::uint64_t word_at(std::string_view text, std::size_t at) {
  std::uint64_t word;
  std::memcpy(&word, text.data() + at, sizeof word);
  return word;
}

/// `lower` of eight bytes at once: in the low seven bits the addition carries into the highest
/// from `A` on, respectively from behind `Z` on, and 0x20 is two bits below it.
std::uint64_t lower_word(std::uint64_t word) {
  const std::uint64_t low_seven = word & ~kHighBits;
  const std::uint64_t from_a = low_seven + eight_times(0x80 - 'A');
  const std::uint64_t behind_z = low_seven + eight_times(0x80 - 'Z' - 1);
  const std::uint64_t is_upper = (from_a ^ behind_z) & ~word & kHighBits;
  return word | (is_upper >> 2);
}

/// `word` is lower-case already.
bool is_word(std::string_view name, std::string_view word) {
  if (name.size() != word.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (lower(name[i]) != word[i]) return false;
  }
  return true;
}

bool begins_with_word(std::string_view name, std::string_view word) {
  return name.size() >= word.size() && is_word(name.substr(0, word.size()), word);
}

constexpr std::array<bool, 256> make_token_bytes() {
  std::array<bool, 256> table{};
  for (int byte = 0; byte < 256; ++byte) table[byte] = is_token_byte(static_cast<char>(byte));
  return table;
}
constexpr auto kTokenBytes = make_token_bytes();

bool is_trace_field(std::string_view name) {
  switch (name.size()) {
    case 2:
      return is_word(name, "b3");
    case 7:
      return is_word(name, "baggage");
    case 10:
      return is_word(name, "tracestate");
    case 11:
      return is_word(name, "traceparent");
    case 13:
      return is_word(name, "traceresponse") || is_word(name, "uber-trace-id");
    case 15:
      return is_word(name, "x-amzn-trace-id");
    case 21:
      return is_word(name, "x-cloud-trace-context");
    default:
      return false;
  }
}

bool is_white(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_white(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto differ_at = [&](std::size_t at) {
    const std::uint64_t from_a = word_at(a, at);
    const std::uint64_t from_b = word_at(b, at);
    return from_a != from_b && lower_word(from_a) != lower_word(from_b);
  };
  const std::size_t size = a.size();
  if (size < kWord) {
    for (std::size_t i = 0; i < size; ++i) {
      if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
  }
  for (std::size_t at = 0; at + kWord < size; at += kWord) {
    if (differ_at(at)) return false;
  }
  return !differ_at(size - kWord);  // The last eight, some of which may have been seen.
}

bool is_hop_by_hop(std::string_view name) {
  switch (name.size()) {
    case 2:
      return is_word(name, "te");
    case 7:
      return is_word(name, "trailer") || is_word(name, "upgrade");
    case 10:
      return is_word(name, "connection") || is_word(name, "keep-alive");
    case 14:
      return is_word(name, "http2-settings");
    case 16:
      return is_word(name, "proxy-connection");
    case 17:
      return is_word(name, "transfer-encoding");
    case 18:
      return is_word(name, "proxy-authenticate");
    case 19:
      return is_word(name, "proxy-authorization");
    case 25:
      return is_word(name, "proxy-authentication-info");
    default:
      return false;
  }
}

bool is_our_answer_field(std::string_view name) {
  switch (name.size()) {
    case 14:
      return is_word(name, "x-should-retry");
    case 15:
      return is_word(name, "idempotency-key") || is_word(name, "idempotency-ref");
    case 18:
      return is_word(name, "idempotency-status");
    case 19:
      return is_word(name, "idempotent-replayed") || is_word(name, "stripe-should-retry");
    default:
      return false;
  }
}

bool is_stored(std::string_view name) {
  if (is_hop_by_hop(name) || is_our_answer_field(name) || is_trace_field(name)) return false;
  switch (name.size()) {
    case 4:
      return !is_word(name, "date");
    case 7:
      return !is_word(name, "alt-svc");
    case 10:
      return !is_word(name, "set-cookie");
    case 13:
      return !is_word(name, "server-timing");
    case 14:
      if (is_word(name, "content-length")) return false;
      break;
    case 16:
      if (is_word(name, "www-authenticate")) return false;
      break;
    default:
      break;
  }
  return !begins_with_word(name, "proxy-") && !begins_with_word(name, "x-b3-");
}

bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!kTokenBytes[static_cast<std::uint8_t>(c)]) return false;
  }
  return !text.empty();
}

bool is_field_value(std::string_view text) {
  // Eight bytes at a time; the slow loop only where one of them is a control, a tab among them.
  const auto is_clean = [](std::uint64_t word) {
    const std::uint64_t below_space = (word - eight_times(0x20)) & ~word;
    const std::uint64_t deletes = word ^ eight_times(0x7F);
    return ((below_space | ((deletes - eight_times(1)) & ~deletes)) & kHighBits) == 0;
  };
  const auto all_allowed = [](std::string_view piece) {
    return std::all_of(piece.begin(), piece.end(), [](char c) {
      const auto byte = static_cast<std::uint8_t>(c);
      return (byte >= 0x20 && byte != 0x7F) || c == '\t';
    });
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (text.size() < kWord) return all_allowed(text);
  const auto allowed_at = [&](std::size_t at) {
    return is_clean(word_at(text, at)) || all_allowed(text.substr(at, kWord));
  };
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord) {
    if (!allowed_at(at)) return false;
  }
  return allowed_at(text.size() - kWord);  // The last eight, some of which may have been seen.
}

bool list_names(std::string_view list, std::string_view token) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (same_name(trimmed(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

bool is_underscore_twin(std::string_view name, std::string_view read) {
  if (name.size() != read.size()) return false;
  bool differs = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char a = lower(name[i]);
    const char b = lower(read[i]);
    if (a == b) continue;
    if (!(a == '_' && b == '-') && !(a == '-' && b == '_')) return false;
    differs = true;
  }
  return differs;
}

}  // namespace semel
