// Expected values: RFC 6901, section 5, and spec 5 for what lies beside a named member.
#include "core/json_pointer.h"

#include <gtest/gtest.h>

#include <string>

#include "core/canonical_json.h"
#include "core/json_reader.h"

namespace semel {
namespace {

/// The canonical text of what a pointer names, or what else it found.
std::string found(std::string_view body, std::string_view pointer) {
  ValueTape tape;
  EXPECT_FALSE(read_json(body, tape)) << body;
  const PointerAnswer answer = find(tape, pointer);
  if (const auto* named = std::get_if<Named>(&answer)) return canonical_text(tape, named->node);
  if (std::holds_alternative<CaseTwin>(answer)) return "case twin";
  if (std::holds_alternative<LoneTwin>(answer)) return "lone twin";
  if (std::holds_alternative<NoObject>(answer)) return "no object";
  return "nothing";
}

constexpr std::string_view kRfc6901 =
    R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";

TEST(JsonPointer, EvaluatesTheExamplesOfTheRfc) {
  struct Row {
    std::string_view pointer;
    std::string_view value;
  };
  const Row rows[] = {{"/foo", R"(["bar","baz"])"},
                      {"/foo/0", R"("bar")"},
                      {"/", "0"},
                      {"/a~1b", "1"},
                      {"/c%d", "2"},
                      {"/e^f", "3"},
                      {"/g|h", "4"},
                      {"/i\\j", "5"},
                      {"/k\"l", "6"},
                      {"/ ", "7"},
                      {"/m~0n", "8"}};
  for (const Row& row : rows) EXPECT_EQ(found(kRfc6901, row.pointer), row.value) << row.pointer;
  EXPECT_EQ(found(R"({"a":[1]})", ""), R"({"a":[1]})");
}

TEST(JsonPointer, FindsNothingRatherThanANeighbour) {
  for (const std::string_view pointer :
       {"/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/x", "/foo/", "/foo/99999999999", "/fo",
        "/food", "/foo/0/0", "/a/b", "/m~1n"}) {
    EXPECT_EQ(found(kRfc6901, pointer), "nothing") << pointer;
  }
}

TEST(JsonPointer, SkipsWholeValuesOnItsWay) {
  EXPECT_EQ(found(R"({"x":{"y":[{"z":1},2]},"w":[[[]]],"y":3})", "/y"), "3");
  EXPECT_EQ(found(R"([[1,[2,3]],{"a":4},5])", "/2"), "5");
}

TEST(JsonPointer, NamesCompareInNfc) {
  EXPECT_EQ(found(R"({"e\u0301":1})", "/\xC3\xA9"), "1");
  EXPECT_EQ(found(R"({"\u00e9":1})", "/e\xCC\x81"), "1");
}

TEST(JsonPointer, AMemberThatDiffersByCaseOnlyIsReported) {
  EXPECT_EQ(found(R"({"flight":1,"Flight":2})", "/flight"), "case twin");
  EXPECT_EQ(found(R"({"FLIGHT":2,"flight":1})", "/flight"), "case twin");
  EXPECT_EQ(found(R"({"Flight":2})", "/flight"), "lone twin");
  EXPECT_EQ(found(R"({"a":{"b":1,"B":2}})", "/a/b"), "case twin");
  EXPECT_EQ(found(R"({"a":{"b":1},"A":{"b":2}})", "/a/b"), "case twin");
  EXPECT_EQ(found(R"({"a":{"b":1,"c":2,"C":3},"x":1,"X":2})", "/a/b"), "1");
}

TEST(JsonPointer, ARootWithoutMembersIsNoBodyForIt) {
  for (const std::string_view body : {R"("A")", "1", "null", "true", "[]", R"([{"flight":1}])"}) {
    EXPECT_EQ(found(body, "/flight"), "no object") << body;
  }
  EXPECT_EQ(found("[7]", "/0"), "7");
  EXPECT_EQ(found("[7]", "/1"), "nothing");
}

}  // namespace
}  // namespace semel
