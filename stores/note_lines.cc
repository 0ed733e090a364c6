#include "stores/note_lines.h"

#include <charconv>
#include <system_error>

namespace semel {

std::optional<std::string> take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, name.size()) != name || end <= name.size() ||
      text[name.size()] != ' ') {
    return std::nullopt;
  }
  std::string value(text.substr(name.size() + 1, end - name.size() - 1));
  text.remove_prefix(end + 1);
  return value;
}

std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view name) {
  const auto value = take_line(text, name);
  return value ? number_of(*value) : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace semel
