// Expected values: Unicode's own NormalizationTest, as Debian's unicode-data package installs it,
// and table 3-7 of the Unicode standard.
#include "core/unicode.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace semel {
namespace {

std::string nfc(std::string_view text) {
  std::string out;
  append_nfc(text, out);
  return out;
}

/// `0044 0307` as UTF-8.
std::string characters(const std::string& code_points) {
  std::istringstream stream(code_points);
  std::string text;
  for (std::string digits; stream >> digits;) {
    append_utf8(static_cast<char32_t>(std::stoul(digits, nullptr, 16)), text);
  }
  return text;
}

/// The lines of a file, packed with bzip2 or not.
std::string unpacked(const std::filesystem::path& file) {
  const std::string command = (file.extension() == ".bz2" ? "bzip2 -dc " : "cat ") + file.string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 65536> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe.get())) {
    text.append(piece.data(), size);
  }
  return text;
}

TEST(Unicode, NormalisesAsUnicodesOwnTestSays) {
  std::filesystem::path file = "/usr/share/unicode/NormalizationTest.txt";
  if (!std::filesystem::exists(file)) file += ".bz2";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent: install unicode-data";
  std::istringstream lines(unpacked(file));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '@') continue;
    std::istringstream columns(line);
    std::vector<std::string> column(5);
    for (std::string& text : column) {
      std::getline(columns, text, ';');
      text = characters(text);
    }
    // c2 = NFC(c1) = NFC(c2) = NFC(c3) and c4 = NFC(c4) = NFC(c5), by that file's own header.
    EXPECT_EQ(nfc(column[0]), column[1]) << line;
    EXPECT_EQ(nfc(column[1]), column[1]) << line;
    EXPECT_EQ(nfc(column[2]), column[1]) << line;
    EXPECT_EQ(nfc(column[3]), column[3]) << line;
    EXPECT_EQ(nfc(column[4]), column[3]) << line;
    ++rows;
  }
  EXPECT_GT(rows, 18'000);
}

TEST(Unicode, TakesWellFormedSequencesOnly) {
  struct Row {
    const char* name;
    std::string_view bytes;
    std::size_t length;
  };
  const Row rows[] = {
      {"empty", "", 0},
      {"ASCII", "A", 1},
      {"lone continuation", "\x80", 0},
      {"overlong slash", "\xC0\xAF", 0},
      {"overlong in two", "\xC1\xBF", 0},
      {"first of two", "\xC2\x80", 2},
      {"last of two", "\xDF\xBF", 2},
      {"two cut", "\xC2", 0},
      {"two with a wrong tail", "\xC2\xC0", 0},
      {"overlong in three", "\xE0\x9F\xBF", 0},
      {"first of three", "\xE0\xA0\x80", 3},
      {"last before the surrogates", "\xED\x9F\xBF", 3},
      {"first surrogate", "\xED\xA0\x80", 0},
      {"last surrogate", "\xED\xBF\xBF", 0},
      {"first behind the surrogates", "\xEE\x80\x80", 3},
      {"last of three", "\xEF\xBF\xBF", 3},
      {"three cut", "\xEF\xBF", 0},
      {"overlong in four", "\xF0\x8F\xBF\xBF", 0},
      {"first of four", "\xF0\x90\x80\x80", 4},
      {"last code point", "\xF4\x8F\xBF\xBF", 4},
      {"beyond the last", "\xF4\x90\x80\x80", 0},
      {"no lead byte", "\xF5\x80\x80\x80", 0},
      {"never a byte", "\xFF", 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(utf8_sequence_length(row.bytes), row.length) << row.name;
    EXPECT_EQ(is_utf8(row.bytes), row.length > 0 || row.bytes.empty()) << row.name;
  }
}

TEST(Unicode, FindsOneHighByteAnywhere) {
  for (std::size_t size = 1; size < 20; ++size) {
    EXPECT_TRUE(is_ascii(std::string(size, '\x7f')));
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\x80';
      EXPECT_FALSE(is_ascii(text)) << at << " of " << size;
    }
  }
}

}  // namespace
}  // namespace semel
