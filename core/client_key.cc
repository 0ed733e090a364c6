#include "core/client_key.h"

#include <algorithm>

namespace semel {
namespace {

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

std::optional<std::string> read_quoted(std::string_view value) {
  if (value.size() < 2 || value.back() != '"') return std::nullopt;
  value = value.substr(1, value.size() - 2);
  std::string key;
  for (std::size_t i = 0; i < value.size(); ++i) {
    char c = value[i];
    if (c == '"') return std::nullopt;
    if (c == '\\') {
      if (++i == value.size()) return std::nullopt;
      c = value[i];
      if (c != '"' && c != '\\') return std::nullopt;
    }
    key.push_back(c);
  }
  return key;
}

}  // namespace

std::optional<std::string> read_client_key(std::string_view value) {
  std::optional<std::string> key;
  if (value.starts_with('"')) {
    key = read_quoted(value);
  } else if (value.find_first_of("\";") == value.npos) {
    key = std::string(value);
  }
  if (!key || key->empty() || key->size() > kClientKeyBytesMax) return std::nullopt;
  if (!std::all_of(key->begin(), key->end(), is_visible)) return std::nullopt;
  return key;
}

}  // namespace semel
