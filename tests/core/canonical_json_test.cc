// The canonical form of one value: what is one value stays one, what is two stays two.
#include "core/canonical_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "core/digest.h"
#include "core/json_reader.h"
#include "tests/support/corpus.h"

namespace semel {
namespace {

/// The encoding of a JSON text, or nothing where it is refused.
std::optional<std::string> encoding(std::string_view text) {
  ValueTape tape;
  if (read_json(text, tape)) return std::nullopt;
  Sha256 hasher;
  std::string transcript;
  CanonicalWriter writer(hasher, &transcript);
  encode_value(tape, 0, writer);
  EXPECT_EQ(writer.finish(), sha256(transcript)) << text;
  return transcript;
}

std::string text_of(std::string_view text) {
  ValueTape tape;
  EXPECT_FALSE(read_json(text, tape)) << text;
  return canonical_text(tape, 0);
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(CanonicalJson, TwoAndTwoPointZeroAreOneKey) {
  for (const std::string_view two : {"2.0", "2e0", "20e-1", "2.00E+0", " 2 "}) {
    EXPECT_EQ(encoding(two), encoding("2")) << two;
  }
}

TEST(CanonicalJson, NeighboursBeyondADoubleAreTwoKeys) {
  EXPECT_NE(encoding("9007199254740993"), encoding("9007199254740992"));
  EXPECT_NE(encoding("0.1"), encoding("0.10000000000000001"));
  EXPECT_NE(encoding("1e308"), encoding("1e309"));
  EXPECT_NE(encoding("1e-400"), encoding("0"));
}

TEST(CanonicalJson, NoTwoOfTheseShareAnEncoding) {
  const char* const values[] = {
      "true",
      "1",
      R"("1")",
      "null",
      R"("null")",
      "false",
      "0",
      R"("")",
      "[]",
      "{}",
      "[[]]",
      "[null]",
      "[{}]",
      R"({"":{}})",
      R"({"a":null})",
      R"(["a"])",
      R"({"a":"b"})",
      R"(["a","b"])",
      "[1,2]",
      "[2,1]",
      "[12]",
      "[[1],2]",
      "[[1,2]]",
      "[1,[2]]",
      R"("ﬁ")",
      R"("fi")",
      R"("FI")",
      R"("①")",
      R"({"a":{"b":1}})",
      R"({"a.b":1})",
      "-1",
      R"("-1")",
      R"("true")",
      R"("2e0")",
      R"(["a\",\"b"])",
      R"("BA117 ")",
  };
  std::set<std::string> seen;
  for (const char* value : values) {
    const auto bytes = encoding(value);
    ASSERT_TRUE(bytes) << value;
    EXPECT_TRUE(seen.insert(*bytes).second) << value;
  }
}

TEST(CanonicalJson, MembersAreSortedByCodePointAndNotByUtf16Unit) {
  // U+1F600 has the smaller UTF-16 units, U+FF5E the smaller code point: RFC 8785 sorts the other
  // way.
  EXPECT_EQ(text_of(R"({"\ud83d\ude00":1,"\uff5e":2,"b":3,"a":4})"),
            "{\"a\":4,\"b\":3,\"\xEF\xBD\x9E\":2,\"\xF0\x9F\x98\x80\":1}");
}

TEST(CanonicalJson, TextsCountInNfcAndNeverInNfkc) {
  EXPECT_EQ(encoding(R"("e\u0301")"), encoding("\"\xC3\xA9\""));
  EXPECT_EQ(encoding(R"("\u212b")"), encoding(R"("\u00c5")"));
  EXPECT_EQ(encoding(R"({"e\u0301":1})"), encoding(R"({"\u00e9":1})"));
  EXPECT_NE(encoding(R"("\ufb01")"), encoding(R"("fi")"));
  EXPECT_NE(encoding(R"("\u200b")"), encoding(R"("")"));
  EXPECT_NE(encoding(R"("A")"), encoding(R"("a")"));
}

TEST(CanonicalJson, EveryEscapeIsItsCharacter) {
  EXPECT_EQ(encoding(R"("\"\\\/\b\f\n\r\t\u0041")"),
            encoding(R"("\u0022\u005c/\u0008\u000c\u000a\u000D\u0009A")"));
  EXPECT_EQ(encoding(R"("\ud83d\ude00")"), encoding("\"\xF0\x9F\x98\x80\""));
  EXPECT_NE(encoding(R"("\u0000")"), encoding(R"("")"));
  EXPECT_EQ(encoding(R"("\u0000")"), std::string("S\0\0\0\1\0", 6));
}

TEST(CanonicalJson, EncodesAsThePageSays) {
  // By hand from docs/key-format.md, "Values".
  const std::string expected(
      "O\0\0\0\2S\0\0\0\1aD\0\0\0\4-2e1S\0\0\0\1bA\0\0\0\3T\0\0\0\0F\0\0\0\0N\0\0\0\0", 46);
  EXPECT_EQ(encoding(R"({"b":[true,false,null],"a":-20})"), expected);
}

TEST(CanonicalJson, ALongTextPassesTheWritersBuffer) {
  for (const std::size_t size : {505u, 506u, 507u, 508u, 512u, 513u, 5000u}) {
    const auto bytes = encoding('"' + std::string(size, 'x') + '"');
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->substr(5), std::string(size, 'x'));
  }
}

TEST(CanonicalJson, CanonicalTextIsItsOwnCanonicalText) {
  const std::string once = text_of("{ \"b\" : [ 1.50 , \"\\u00e9\\n\" ], \"a\" : -0 , \"c\":1e3}");
  EXPECT_EQ(once, "{\"a\":0,\"b\":[15e-1,\"\xC3\xA9\\n\"],\"c\":1e3}");
  EXPECT_EQ(text_of(once), once);
}

TEST(CanonicalJson, AgreesWithRfc8785OnEverythingButNumbers) {
  const auto folder = testing::corpora_folder() / "jcs/testdata";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  for (const char* file : {"arrays", "french", "structures", "unicode", "weird"}) {
    const std::string name = std::string(file) + ".json";
    const auto input = encoding(file_bytes(folder / "input" / name));
    ASSERT_TRUE(input) << name;
    EXPECT_EQ(input, encoding(file_bytes(folder / "output" / name))) << name;
  }
  // Its values.json writes 333333333.33333329 as the nearest double; here they are two numbers.
  EXPECT_NE(encoding(file_bytes(folder / "input/values.json")),
            encoding(file_bytes(folder / "output/values.json")));
}

TEST(CanonicalJson, TransformFilesThatOtherParsersBendAreExactOrRefused) {
  const auto folder = testing::corpora_folder() / "JSONTestSuite/test_transform";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  std::set<std::string> encodings;
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const auto bytes = encoding(file_bytes(entry.path()));
    const bool ambiguous = name.starts_with("object_") || name.find("invalid") != name.npos;
    EXPECT_EQ(!bytes, ambiguous) << name;
    refused += bytes ? 0 : 1;
    if (bytes) EXPECT_TRUE(encodings.insert(*bytes).second) << name << " equals another file";
  }
  EXPECT_EQ(refused, 11);
  EXPECT_EQ(encodings.size(), 11u);
}

TEST(CanonicalJson, EveryNaughtyStringIsItsOwnValue) {
  const auto file = testing::corpora_folder() / "blns/blns.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent";
  const std::string bytes_of_file = file_bytes(file);
  const testing::Json list = testing::Json::parse(bytes_of_file);
  ValueTape tape;
  ASSERT_FALSE(read_json(bytes_of_file, tape));
  ASSERT_GT(list.items().size(), 500u);
  const std::string whole = canonical_text(tape, 0);
  const testing::Json again = testing::Json::parse(whole);
  ASSERT_EQ(again.items().size(), list.items().size());
  std::set<std::string> distinct;
  std::set<std::string> encodings;
  for (const testing::Json& item : again.items()) {
    std::string quoted = "[\"";
    for (const char c : item.text()) {
      if (c == '"' || c == '\\') quoted.push_back('\\');
      static constexpr char kDigits[] = "0123456789abcdef";
      if (static_cast<unsigned char>(c) < 0x20) {
        quoted += std::string("\\u00") + kDigits[c >> 4] + kDigits[c & 15];
      } else {
        quoted.push_back(c);
      }
    }
    const auto bytes = encoding(quoted + "\"]");
    ASSERT_TRUE(bytes) << quoted;
    distinct.insert(item.text());
    encodings.insert(*bytes);
  }
  EXPECT_EQ(encodings.size(), distinct.size());
}

}  // namespace
}  // namespace semel
