// Expected values: WHATWG URL, section 5.1, where a form is read strictly; RFC 3986 for the query.
#include "core/form.h"

#include <gtest/gtest.h>

#include "core/canonical_json.h"
#include "core/multipart.h"

namespace semel {
namespace {

std::string form_text(std::string_view body) {
  ValueTape tape;
  const std::optional<TextFault> fault = read_form(body, tape);
  if (fault) return std::string(fault->what) + " at " + std::to_string(fault->offset);
  return canonical_text(tape, 0);
}

TEST(Form, IsAnObjectOfTexts) {
  EXPECT_EQ(form_text("b=2&a=1"), R"({"a":"1","b":"2"})");
  EXPECT_EQ(form_text("a=x+y%2B%26&b"), R"({"a":"x y+&","b":""})");
  EXPECT_EQ(form_text("&&a=1&"), R"({"a":"1"})");
  EXPECT_EQ(form_text("=1"), R"({"":"1"})");
  EXPECT_EQ(form_text("a=b=c"), R"({"a":"b=c"})");
  EXPECT_EQ(form_text("a=e%CC%81"), "{\"a\":\"\xC3\xA9\"}");
}

TEST(Form, ARepeatedNameIsAnArrayInItsOrder) {
  EXPECT_EQ(form_text("a=2&b=x&a=1&%61=3"), R"({"a":["2","1","3"],"b":"x"})");
}

TEST(Form, IsRefusedWhereTwoServersCouldDiffer) {
  EXPECT_EQ(form_text("ok=1&a=%E9"), "invalid UTF-8 at 5");
  EXPECT_EQ(form_text("%ED%A0%80=1"), "invalid UTF-8 at 0");
  EXPECT_EQ(form_text("a=\xFF"), "invalid UTF-8 at 0");
  EXPECT_EQ(form_text("a=%4"), "a broken escape at 0");
  EXPECT_EQ(form_text("a=1&b=%zz"), "a broken escape at 4");
  EXPECT_EQ(form_text("e%CC%81=1&%C3%A9=2"), "one name in two spellings at 10");
}

TEST(Query, NamedValuesAreDecodedBytesInOrder) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(query_values("a=1&b=2&a=x+y&%61=%FF", "a"), (Values{"1", "x y", "\xFF"}));
  EXPECT_EQ(query_values("A=1&ab=2", "a"), Values{});
  EXPECT_EQ(query_values("a", "a"), Values{""});
  EXPECT_EQ(query_values("", "a"), Values{});
  EXPECT_EQ(query_values("a=1&b=%", "a"), Values{"1"});
  EXPECT_FALSE(query_values("a=%2", "a"));
  EXPECT_FALSE(query_values("%=1", "a"));
}

TEST(Path, APlusInASegmentIsAPlus) {
  std::string out;
  EXPECT_TRUE(append_percent_decoded("a+b%2fc%20%C3%A9", out));
  EXPECT_EQ(out, "a+b/c \xC3\xA9");
  EXPECT_FALSE(append_percent_decoded("a%2", out));
}

TEST(Query, EscapesHaveOneSpelling) {
  std::string out;
  EXPECT_TRUE(append_normal_query("a=%7e%2f%C3%a9+%41%20~", out));
  EXPECT_EQ(out, "a=~%2F%C3%A9+A%20~");
  EXPECT_FALSE(append_normal_query("a=%2", out));
  EXPECT_FALSE(append_normal_query("a=%g0", out));
}

TEST(Multipart, WhatLiesBetweenTheDelimitersDoesNotDependOnThem) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(multipart_pieces("--x\r\nA\r\n--x\r\nB\r\n--x--\r\n", "x"),
            (Pieces{"", "\r\nA", "\r\nB", "--\r\n"}));
  EXPECT_EQ(multipart_pieces("--yy\r\nA\r\n--yy\r\nB\r\n--yy--\r\n", "yy"),
            (Pieces{"", "\r\nA", "\r\nB", "--\r\n"}));
  EXPECT_EQ(multipart_pieces("pre\r\n--x\r\nA --x B\r\n--x--", "x"),
            (Pieces{"pre", "\r\nA --x B", "--"}));
  EXPECT_EQ(multipart_pieces("no delimiter", "x"), Pieces{"no delimiter"});
}

}  // namespace
}  // namespace semel
