// Verdicts: the JSONTestSuite of Nicolas Seriot (y_ accept, n_ reject), and spec 5 where it leaves
// the choice (i_).
#include "core/json_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/support/corpus.h"

namespace semel {
namespace {

std::optional<TextFault> fault_of(std::string_view text) {
  ValueTape tape;
  return read_json(text, tape);
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string nested(int depth) {
  const auto size = static_cast<std::size_t>(depth);
  return std::string(size, '[') + std::string(size, ']');
}

enum class Verdict { Accept, Reject };

/// What RFC 8259 leaves open and spec 5 decides: numbers within the bounds are exact, anything that
/// is not one sequence of Unicode characters is refused.
const std::map<std::string, Verdict> kDecidedBySpec = {
    {"i_number_double_huge_neg_exp.json", Verdict::Accept},
    {"i_number_huge_exp.json", Verdict::Reject},
    {"i_number_neg_int_huge_exp.json", Verdict::Accept},
    {"i_number_pos_double_huge_exp.json", Verdict::Accept},
    {"i_number_real_neg_overflow.json", Verdict::Reject},
    {"i_number_real_pos_overflow.json", Verdict::Reject},
    {"i_number_real_underflow.json", Verdict::Reject},
    {"i_number_too_big_neg_int.json", Verdict::Accept},
    {"i_number_too_big_pos_int.json", Verdict::Accept},
    {"i_number_very_big_negative_int.json", Verdict::Accept},
    {"i_object_key_lone_2nd_surrogate.json", Verdict::Reject},
    {"i_string_1st_surrogate_but_2nd_missing.json", Verdict::Reject},
    {"i_string_1st_valid_surrogate_2nd_invalid.json", Verdict::Reject},
    {"i_string_UTF-16LE_with_BOM.json", Verdict::Reject},
    {"i_string_UTF-8_invalid_sequence.json", Verdict::Reject},
    {"i_string_UTF8_surrogate_U+D800.json", Verdict::Reject},
    {"i_string_incomplete_surrogate_and_escape_valid.json", Verdict::Reject},
    {"i_string_incomplete_surrogate_pair.json", Verdict::Reject},
    {"i_string_incomplete_surrogates_escape_valid.json", Verdict::Reject},
    {"i_string_invalid_lonely_surrogate.json", Verdict::Reject},
    {"i_string_invalid_surrogate.json", Verdict::Reject},
    {"i_string_invalid_utf-8.json", Verdict::Reject},
    {"i_string_inverted_surrogates_U+1D11E.json", Verdict::Reject},
    {"i_string_iso_latin_1.json", Verdict::Reject},
    {"i_string_lone_second_surrogate.json", Verdict::Reject},
    {"i_string_lone_utf8_continuation_byte.json", Verdict::Reject},
    {"i_string_not_in_unicode_range.json", Verdict::Reject},
    {"i_string_overlong_sequence_2_bytes.json", Verdict::Reject},
    {"i_string_overlong_sequence_6_bytes.json", Verdict::Reject},
    {"i_string_overlong_sequence_6_bytes_null.json", Verdict::Reject},
    {"i_string_truncated-utf-8.json", Verdict::Reject},
    {"i_string_utf16BE_no_BOM.json", Verdict::Reject},
    {"i_string_utf16LE_no_BOM.json", Verdict::Reject},
    {"i_structure_500_nested_arrays.json", Verdict::Reject},
    {"i_structure_UTF-8_BOM_empty_object.json", Verdict::Reject},
};

/// Well-formed by RFC 8259, which only says SHOULD on names; spec 5 refuses every duplicate.
const std::map<std::string, Verdict> kStricterThanTheSuite = {
    {"y_object_duplicated_key.json", Verdict::Reject},
    {"y_object_duplicated_key_and_value.json", Verdict::Reject},
};

Verdict expected_verdict(const std::string& file) {
  if (const auto row = kStricterThanTheSuite.find(file); row != kStricterThanTheSuite.end()) {
    return row->second;
  }
  if (file.starts_with("i_")) return kDecidedBySpec.at(file);
  return file.starts_with("y_") ? Verdict::Accept : Verdict::Reject;
}

TEST(JsonReader, AgreesWithTheJsonTestSuite) {
  const auto folder = testing::corpora_folder() / "JSONTestSuite/test_parsing";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    const Verdict verdict = fault_of(file_bytes(entry.path())) ? Verdict::Reject : Verdict::Accept;
    EXPECT_EQ(verdict == Verdict::Accept, expected_verdict(file) == Verdict::Accept) << file;
    ++files;
  }
  EXPECT_EQ(files, 318);
}

TEST(JsonReader, SaysWhatStandsWhere) {
  struct Row {
    const char* name;
    std::string_view text;
    std::string_view what;
    std::size_t offset;
  };
  const Row rows[] = {
      {"empty", "", "no JSON value", 0},
      {"white space only", " \n", "no JSON value", 2},
      {"byte order mark", "\xEF\xBB\xBF{}", "a byte order mark", 0},
      {"duplicate", R"({"a":1,"b":2,"a":3})", "a duplicate member name", 13},
      {"duplicate unescaped", R"({"a":1,"\u0061":3})", "a duplicate member name", 7},
      {"duplicate after NFC", R"({"e\u0301":1,"\u00e9":2})", "a duplicate member name", 13},
      {"duplicate deep inside", R"([{"x":{"a":1,"a":2}}])", "a duplicate member name", 13},
      {"lone high surrogate", R"(["\ud800"])", "a lone surrogate", 2},
      {"lone low surrogate", R"(["x\udc00"])", "a lone surrogate", 3},
      {"high before no low", R"(["\ud800\u0041"])", "a lone surrogate", 2},
      {"invalid UTF-8", "[\"abcdefgh\xC0\xAF\"]", "invalid UTF-8", 10},
      {"control character", "[\"abcdefghi\x1f\"]", "a control character", 11},
      {"trailing value", "{} {}", "something behind its value", 3},
      {"trailing NUL", std::string_view("1\0", 2), "something behind its value", 1},
      {"unknown escape", R"(["\x41"])", "an unknown escape", 2},
      {"escape at the end", "\"\\", "an unknown escape", 1},
      {"broken escape", R"(["\u12"])", "a broken \\u escape", 2},
      {"open string", "[\"abc", "a string that is not closed", 1},
      {"open array", "[1", "an array that is not closed", 2},
      {"open object", R"({"a":1)", "an object that is not closed", 6},
      {"no colon", R"({"a" 1})", "a member without a colon", 5},
      {"no name", "{1:2}", "no member name", 1},
      {"trailing comma", "[1,]", "no JSON value", 3},
      {"number beyond the bounds", "[1e10001]",
       "a number of too many digits or too large an exponent", 1},
  };
  for (const Row& row : rows) {
    const std::optional<TextFault> fault = fault_of(row.text);
    ASSERT_TRUE(fault) << row.name;
    EXPECT_EQ(fault->what, row.what) << row.name;
    EXPECT_EQ(fault->offset, row.offset) << row.name;
  }
}

TEST(JsonReader, EveryByteIsJudgedTheSameAtEveryPlaceOfAString) {
  for (const char around : {' ', '~'}) {
    for (std::size_t place = 0; place < 20; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(20, around);
        text[place] = static_cast<char>(byte);
        const bool is_plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
        ASSERT_EQ(!fault_of("[\"" + text + "\"]"), is_plain) << place << " " << byte;
      }
    }
  }
}

TEST(JsonReader, SixtyFourLevelsAreReadAndNoMore) {
  EXPECT_FALSE(fault_of(nested(64)));
  const std::optional<TextFault> fault = fault_of(nested(65));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->what, "too deep a nesting");
  EXPECT_EQ(fault->offset, 64u);
  EXPECT_TRUE(fault_of(std::string(1'000'000, '[')));
}

TEST(JsonReader, FindsADuplicateAmongAnyNumberOfMembers) {
  for (const int count : {2, 15, 16, 17, 18, 100, 5000}) {
    std::string members;
    for (int i = 0; i < count; ++i) members += "\"m" + std::to_string(i) + "\":0,";
    EXPECT_FALSE(fault_of("{" + members + "\"last\":0}")) << count;
    const std::optional<TextFault> fault = fault_of("{" + members + "\"m1\":0}");
    ASSERT_TRUE(fault) << count;
    EXPECT_EQ(fault->offset, members.size() + 1) << count;
  }
}

TEST(JsonReader, ATapeCanBeReadAgainAfterAFault) {
  ValueTape tape;
  EXPECT_TRUE(read_json(R"({"a":{"b":[1,)", tape));
  EXPECT_FALSE(read_json(R"({"a":1})", tape));
  EXPECT_EQ(tape.end(), 3u);
}

}  // namespace
}  // namespace semel
