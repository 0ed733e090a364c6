// "guarantee 4.2" in the code or in a test is a clause that docs/guarantee.md has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

/// `4` of a heading `## 4. Sending`, `4.2` of a clause `- 4.2 ...`.
std::set<std::string> clauses_of(const std::string& page) {
  static const std::regex kClause(R"((?:^|\n)(?:## (\d+)\. |- (\d+\.\d+) ))");
  std::set<std::string> clauses;
  for (std::sregex_iterator at(page.begin(), page.end(), kClause), end; at != end; ++at) {
    clauses.insert((*at)[1].matched ? (*at)[1] : (*at)[2]);
  }
  return clauses;
}

std::vector<std::string> citations_of(const std::string& text) {
  static const std::regex kCitation(R"(\bguarantee (\d+(?:\.\d+)?)\b)");
  std::vector<std::string> cited;
  for (std::sregex_iterator at(text.begin(), text.end(), kCitation), end; at != end; ++at) {
    cited.push_back((*at)[1]);
  }
  return cited;
}

TEST(GuaranteeCitations, AreReadFromTextAndPage) {
  EXPECT_THAT(citations_of("(guarantee 2), guarantee 4.2: no guarantees 3"),
              ::testing::ElementsAre("2", "4.2"));
  EXPECT_THAT(clauses_of("# T\n\n## 4. Sending\n- 4.2 never\n  5.1 no\n- 5.3.\n"),
              ::testing::ElementsAre("4", "4.2"));
}

TEST(GuaranteeCitations, LeadToAClause) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  std::set<std::string> clauses;
  for (const SourceFile& file : tree) {
    if (file.path == "docs/guarantee.md") clauses = clauses_of(file.text);
  }
  ASSERT_TRUE(clauses.contains("1"));
  for (const SourceFile& file : tree) {
    if (!file.is_code() || file.path.starts_with("tests/layering/")) continue;
    for (const std::string& cited : citations_of(file.text)) {
      EXPECT_TRUE(clauses.contains(cited))
          << file.path << " cites guarantee " << cited << ", which docs/guarantee.md has not";
    }
  }
}

}  // namespace
}  // namespace semel::layering
