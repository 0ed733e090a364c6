#include "config/yaml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/yaml_text.h"

namespace semel::config {
namespace {

using testing::HasSubstr;
using Kind = YamlNode::Kind;
using Spelling = YamlNode::Spelling;

std::optional<std::string> lookup(const std::string& name) {
  if (name == "PORT") return "8080";
  if (name == "EMPTY") return "";
  if (name == "TRICK") return "${PORT}";
  return std::nullopt;
}

YamlNode read(std::string_view text) { return read_yaml(text, "f.yaml", lookup); }

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(read(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(YamlTree, PlacesCountFromOne) {
  const YamlNode root = read("a: 1\nb:\n  - x\n  - {c: y}\n");
  ASSERT_EQ(root.members.size(), 2u);
  EXPECT_EQ(root.members[1].place.line, 2);
  EXPECT_EQ(root.members[1].place.column, 1);
  const YamlNode& mapping = root.members[1].value.items.at(1);
  EXPECT_EQ(mapping.place.line, 4);
  EXPECT_EQ(mapping.place.column, 5);
  EXPECT_EQ(mapping.members.at(0).value.place.column, 9);
}

TEST(YamlTree, AnAliasIsTheValueThatItNames) {
  const YamlNode root = read("a: &x [1, 2]\nb: *x\n");
  EXPECT_EQ(root.members.at(1).value.items.size(), 2u);
}

TEST(YamlTree, VariablesAreReplacedInValuesOnly) {
  const YamlNode root = read("a: ${PORT}\nb: \"0.0.0.0:${PORT}\"\n\"${PORT}\": c\n");
  EXPECT_EQ(root.members.at(0).value.text, "8080");
  EXPECT_EQ(root.members.at(0).value.spelling, Spelling::Expanded);
  EXPECT_EQ(root.members.at(1).value.text, "0.0.0.0:8080");
  EXPECT_EQ(root.members.at(2).key, "${PORT}");
}

TEST(YamlTree, AVariableCannotBringStructureOrAnotherVariable) {
  EXPECT_EQ(expand_variables("${TRICK}", "f", {}, lookup), "${PORT}");
  EXPECT_EQ(read("a: ${TRICK}\n").members.at(0).value.kind, Kind::Scalar);
}

TEST(YamlTree, TheDefaultStandsInForUnsetAndEmpty) {
  EXPECT_EQ(expand_variables("${UNSET:-a}-${EMPTY:-b}-${PORT:-c}-${UNSET:-}", "f", {}, lookup),
            "a-b-8080-");
  EXPECT_EQ(expand_variables("${EMPTY}", "f", {}, lookup), "");
  EXPECT_EQ(expand_variables("$${PORT} costs $5", "f", {}, lookup), "${PORT} costs $5");
}

TEST(YamlTree, AMalformedVariableIsRefused) {
  EXPECT_THAT(error_of("a: ${UNSET}\n"), HasSubstr("f.yaml:1:4: the environment variable UNSET"));
  EXPECT_THAT(error_of("a: ${PORT\n"), HasSubstr("without \"}\""));
  EXPECT_THAT(error_of("a: ${}\n"), HasSubstr("names no environment variable"));
  EXPECT_THAT(error_of("a: ${1X}\n"), HasSubstr("names no environment variable"));
  EXPECT_THAT(error_of("a: ${A:-${B}}\n"), HasSubstr("a variable inside the default of A"));
  EXPECT_THAT(error_of("a: ${A B:-c}\n"), HasSubstr("names no environment variable"));
}

TEST(YamlTree, AnchorBombsAreRefusedBeforeTheyGrow) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_THAT(error_of(bomb), HasSubstr("once aliases are written out; use fewer anchors"));
}

TEST(YamlTree, DeepNestingIsRefused) {
  std::string deep;
  for (int i = 0; i < 2'000; ++i) deep += "- ";
  EXPECT_THAT(error_of(deep + "x\n"), HasSubstr("f.yaml:1:"));
}

TEST(YamlTree, TricksAreRefused) {
  struct Row {
    const char* text;
    const char* error;
  };
  for (const Row& row : {
           Row{"", "f.yaml:1:1: the file is empty"},
           Row{"a: &x [*x]\n", "f.yaml:1:8: an alias inside the node that it names"},
           Row{"a: *x\n", "f.yaml:1:4: this is not YAML"},
           Row{"a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3:3: the merge key <<"},
           Row{"? [a]\n: b\n", "f.yaml:1:3: a key must be one word"},
           Row{"~: b\n", "f.yaml:1:1: a key must be one word"},
           Row{"a: !!str 1\n", "f.yaml:1:4: a YAML tag"},
           Row{"a: !!map {}\n", "f.yaml:1:4: a YAML tag"},
           Row{"a: 1\n\"a\": 2\n", "f.yaml:2:1: the key \"a\" stands here twice, first in line 1"},
           Row{"a: 1\n---\nb: 1\n", "f.yaml:3:1: a second YAML document"},
           Row{"a:\n \tb: 1\n", "f.yaml:2:2: a tab in the indentation"},
           Row{"a: [1\n", "this is not YAML"},
           Row{"a: \xed\xa0\x80\n", "f.yaml:1:4: this byte is not UTF-8"},
           Row{"a: \xc0\x80\n", "f.yaml:1:4: this byte is not UTF-8"},
           Row{"a: \xf4\x90\x80\x80\n", "f.yaml:1:4: this byte is not UTF-8"},
           Row{"a: \xe2\x82\n", "f.yaml:1:4: this byte is not UTF-8"},
           Row{"a: \x01\n", "f.yaml:1:4: a control character"},
       }) {
    EXPECT_THAT(error_of(row.text), HasSubstr(row.error)) << row.text;
  }
}

TEST(YamlTree, WindowsLineEndsAndNamesOfAllScriptsAreTaken) {
  const YamlNode root = read("a: 1\r\nb: \"\xe2\x82\xac \xf0\x9f\x98\x80\"\r\n");
  EXPECT_EQ(root.members.at(0).value.text, "1");
  EXPECT_EQ(root.members.at(1).value.text, "\xe2\x82\xac \xf0\x9f\x98\x80");
}

}  // namespace
}  // namespace semel::config
