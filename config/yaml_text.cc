#include "config/yaml_text.h"

#include <algorithm>
#include <cstdint>

#include "core/unicode.h"

namespace semel::config {
namespace {

void check_indentation(std::string_view line, const std::string& file, int number) {
  const std::size_t content = line.find_first_not_of(" \t\r");
  if (content == std::string_view::npos) return;
  const std::size_t tab = line.substr(0, content).find('\t');
  if (tab == std::string_view::npos) return;
  fail_at(file, {number, static_cast<int>(tab) + 1},
          "a tab in the indentation; indent with spaces");
}

void check_characters(std::string_view line, const std::string& file, int number) {
  for (std::size_t at = 0; at < line.size();) {
    const Place place{number, static_cast<int>(at) + 1};
    const std::size_t length = utf8_sequence_length(line.substr(at));
    if (length == 0) {
      fail_at(file, place, "this byte is not UTF-8; save the file as UTF-8");
    }
    const auto byte = static_cast<std::uint8_t>(line[at]);
    const bool is_line_end = byte == '\r' && at + 1 == line.size();
    if ((byte < 0x20 && byte != '\t' && !is_line_end) || byte == 0x7f) {
      fail_at(file, place, "a control character; remove it, or write it as an escape in quotes");
    }
    at += length;
  }
}

bool is_variable_name(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), is_word);
}

}  // namespace

void check_yaml_text(std::string_view text, const std::string& file) {
  if (text.size() > kTextBytesMax) {
    fail_at(file, {}, "the file is larger than 4 MiB; a configuration is smaller");
  }
  int number = 1;
  for (std::size_t start = 0; start <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    check_characters(line, file, number);
    check_indentation(line, file, number);
    start = end + 1;
  }
}

std::string expand_variables(std::string_view text, const std::string& file, Place place,
                             const Environment& environment) {
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find("${", at);
    if (open == std::string_view::npos) return result.append(text.substr(at));
    if (open > at && text[open - 1] == '$') {
      result.append(text.substr(at, open - 1 - at)).append("${");
      at = open + 2;
      continue;
    }
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      fail_at(file, place, "\"${\" without \"}\"; write ${NAME}, or $${ for the two characters");
    }
    result.append(text.substr(at, open - at));
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    const std::size_t separator = inside.find(":-");
    const std::string name(inside.substr(0, separator));
    if (!is_variable_name(name)) {
      fail_at(file, place,
              "\"" + name + "\" names no environment variable; write ${NAME} or ${NAME:-default}");
    }
    if (inside.find("${") != std::string_view::npos) {
      fail_at(file, place, "a variable inside the default of " + name + "; write a plain default");
    }
    const std::optional<std::string> value = environment(name);
    if (separator != std::string_view::npos && (!value || value->empty())) {
      result.append(inside.substr(separator + 2));
    } else if (value) {
      result.append(*value);
    } else {
      fail_at(file, place,
              "the environment variable " + name + " is not set; set it, or write ${" + name +
                  ":-default}");
    }
    at = close + 1;
  }
}

}  // namespace semel::config
