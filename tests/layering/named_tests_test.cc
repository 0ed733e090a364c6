// A test that a document names exists, and what a document promises to list in full is listed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

/// `Suite.Name` of every TEST, TEST_F and TEST_P.
std::set<std::string> tests_in(const std::string& text) {
  static const std::regex kTest(R"(\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\))");
  std::set<std::string> tests;
  for (std::sregex_iterator at(text.begin(), text.end(), kTest), end; at != end; ++at) {
    tests.insert((*at)[1].str() + "." + (*at)[2].str());
  }
  return tests;
}

/// Every test of the tree: those of GoogleTest, and `Fuzz.name` for each fuzz target's corpus.
std::set<std::string> tests_of(const std::vector<SourceFile>& tree) {
  static const std::regex kTarget(R"(tests/fuzz/(\w+)_fuzz\.cc)");
  std::set<std::string> tests;
  for (const SourceFile& file : tree) {
    std::smatch target;
    if (file.is_code()) tests.merge(tests_in(file.text));
    if (std::regex_match(file.path, target, kTarget)) tests.insert("Fuzz." + target[1].str());
  }
  return tests;
}

/// What stands in back quotes and looks like the name of a test.
std::vector<std::string> names_in(const std::string& text) {
  static const std::regex kName(R"(`([A-Z][A-Za-z0-9]*\.[A-Z][A-Za-z0-9_]*|Fuzz\.[a-z_]+)`)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
    names.push_back((*at)[1]);
  }
  return names;
}

TEST(NamedTests, AreReadFromCodeAndPage) {
  EXPECT_THAT(tests_in("TEST(A, B) {\nTEST_P(C,\n       D_1) {\nTESTS(E, F)"),
              ::testing::ElementsAre("A.B", "C.D_1"));
  EXPECT_THAT(names_in("`A.B_1` and `a.b`, `A.b`, A.C, `C.D`, `Fuzz.x_y`."),
              ::testing::ElementsAre("A.B_1", "C.D", "Fuzz.x_y"));
  EXPECT_THAT(tests_of({{"tests/fuzz/x_y_fuzz.cc", ""}, {"a_test.cc", "TEST(A, B) {"}}),
              ::testing::ElementsAre("A.B", "Fuzz.x_y"));
}

TEST(NamedTests, OfEveryDocumentExist) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  const std::set<std::string> tests = tests_of(tree);
  ASSERT_TRUE(tests.contains("NamedTests.OfEveryDocumentExist"));
  for (const SourceFile& file : tree) {
    if (!file.path.ends_with(".md")) continue;
    for (const std::string& name : names_in(file.text)) {
      EXPECT_TRUE(tests.contains(name)) << file.path << " names " << name << ", which is no test";
    }
  }
}

TEST(NamedTests, EveryReportedCaseIsInItsPage) {
  std::set<std::string> tests;
  std::vector<std::string> named;
  for (const SourceFile& file : read_tree(SEMEL_SOURCE_DIR)) {
    if (file.path.starts_with("tests/e2e/cases_")) tests.merge(tests_in(file.text));
    if (file.path == "docs/reported-cases.md") named = names_in(file.text);
  }
  EXPECT_GT(tests.size(), 50U);
  for (const std::string& test : tests) {
    EXPECT_THAT(named, ::testing::Contains(test)) << "docs/reported-cases.md has no row for it";
  }
}

}  // namespace
}  // namespace semel::layering
