#pragma once

#include <array>
#include <cctype>
#include <span>
#include <string>
#include <string_view>

#include "tests/layering/house_rules.h"

namespace semel::layering {

inline constexpr std::size_t kHeaderLinesMax = 200;
inline constexpr std::size_t kSourceLinesMax = 400;
inline constexpr std::size_t kFunctionLinesMax = 70;

inline Complaints headers_without_guard(const SourceFile& file) {
  if (!file.is_header() || file.text.starts_with("#pragma once\n")) return {};
  return {complaint(file, 1, "a header begins with #pragma once")};
}

inline Complaints outgrown_files(const SourceFile& file) {
  if (!file.is_code()) return {};
  const std::size_t most = file.is_header() ? kHeaderLinesMax : kSourceLinesMax;
  const std::size_t count = lines_of(file.text).size();
  if (count <= most) return {};
  return {complaint(file, count,
                    "longer than " + std::to_string(most) +
                        " lines; find the missing noun and give it a file of its own")};
}

/// Functions at the left margin, as clang-format leaves them: from the line that opens to the `}`.
/// Blank lines and the labels of a `switch` do not count: one over an enumeration is a table.
inline Complaints outgrown_functions(const SourceFile& file) {
  static constexpr std::array<std::string_view, 6> kNoFunction{"namespace", "struct", "class",
                                                               "enum",      "union",  "extern"};
  Complaints found;
  if (!file.is_code()) return found;
  std::size_t opened = 0;
  std::size_t counted = 0;
  for (const Line& line : lines_of(file.text)) {
    if (line.text.empty()) continue;
    const std::size_t indent = line.text.find_first_not_of(' ');
    if (indent == std::string_view::npos || !line.text.substr(indent).starts_with("case ")) {
      ++counted;
    }
    if (line.text == "}") {
      if (opened != 0 && counted > kFunctionLinesMax) {
        found.push_back(complaint(file, opened,
                                  "a function longer than " + std::to_string(kFunctionLinesMax) +
                                      " lines; give its steps names"));
      }
      opened = 0;
    } else if (std::isalpha(static_cast<unsigned char>(line.text.front())) != 0) {
      const bool is_type = std::ranges::any_of(
          kNoFunction, [&](std::string_view word) { return line.text.starts_with(word); });
      opened = is_type ? 0 : line.number;
      counted = 1;
    }
  }
  return found;
}

inline bool has_word(std::string_view line, std::string_view word) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !is_letter(line[at - 1]);
    const bool ends = at + word.size() == line.size() || !is_letter(line[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

/// Marks of unfinished work. Spelled in two halves, or this file would name itself.
inline Complaints unfinished_marks(const SourceFile& file) {
  static constexpr std::array<std::string_view, 3> kMarks{
      "TO"
      "DO",
      "FIX"
      "ME",
      "X"
      "XX"};
  Complaints found;
  for (const Line& line : lines_of(file.text)) {
    for (const std::string_view mark : kMarks) {
      if (has_word(line.text, mark)) {
        found.push_back(complaint(file, line.number,
                                  std::string(mark) + " is a promise to nobody; do it now, or "
                                                      "open an issue and say why it may wait"));
      }
    }
  }
  return found;
}

/// Folders of somebody's machine.
inline Complaints machine_paths(const SourceFile& file) {
  static constexpr std::array<std::string_view, 4> kPaths{
      "/ho"
      "me/",
      "/ro"
      "ot/",
      "/wo"
      "rk/",
      "/fa"
      "rm/"};
  Complaints found;
  for (const Line& line : lines_of(file.text)) {
    for (const std::string_view path : kPaths) {
      const auto at = line.text.find(path);
      if (at == std::string_view::npos) continue;
      const bool continues_a_path =
          at > 0 && std::isalnum(static_cast<unsigned char>(line.text[at - 1])) != 0;
      if (continues_a_path) continue;
      found.push_back(complaint(file, line.number,
                                std::string(path) + "... exists on one machine only; use a path "
                                                    "relative to the root, or a variable"));
    }
  }
  return found;
}

/// The most files of our rooms that may include what begins with `prefix`: it is slow to compile,
/// or its quirks are to stay in one place.
inline Complaints crowding(std::span<const SourceFile> files, std::string_view prefix,
                           std::size_t most) {
  std::string includers;
  std::size_t count = 0;
  for (const SourceFile& file : files) {
    if (!file.is_code() || room_bit(file.room()) == kEverything) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.name.starts_with(prefix)) continue;
      ++count;
      includers += ' ' + file.path;
      break;
    }
  }
  if (count <= most) return {};
  return {"<" + std::string(prefix) + "> is included by more than " + std::to_string(most) +
          " file(s):" + includers + "; hide it behind one that says what it is for"};
}

}  // namespace semel::layering
