#include "core/header_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace semel {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

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
  for (char c = '0'; c <= '9'; ++c) table[static_cast<std::uint8_t>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<std::uint8_t>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<std::uint8_t>(c)] = true;
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<std::uint8_t>(c)] = true;
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
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
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
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const auto is_clean = [](std::uint64_t word) {
    const std::uint64_t below_space = (word - kOnes * 0x20) & ~word;
    const std::uint64_t deletes = word ^ (kOnes * 0x7F);
    return ((below_space | ((deletes - kOnes) & ~deletes)) & kHighs) == 0;
  };
  const auto is_allowed = [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return (byte >= 0x20 && byte != 0x7F) || c == '\t';
  };
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), sizeof word);
    if (!is_clean(word)) {
      for (const char c : text.substr(0, sizeof word)) {
        if (!is_allowed(c)) return false;
      }
    }
    text.remove_prefix(sizeof word);
  }
  return std::all_of(text.begin(), text.end(), is_allowed);
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
