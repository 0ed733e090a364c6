// Every clause of docs/guarantee.md has its tests, and every threat its clauses and its tests.
// That the tests exist is what NamedTests sees to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

using Row = std::vector<std::string>;

/// The part of a page from one heading to the next of its level or above.
std::string section_of(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

/// The rows of all tables of a text, without heads and rules; cells without outer spaces.
std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  bool in_body = false;
  for (const Line& line : lines_of(text)) {
    if (!line.text.starts_with("| ")) {
      in_body = line.text.starts_with("|---");
      continue;
    }
    if (!in_body) continue;
    Row row;
    for (std::string_view rest = line.text.substr(2); !rest.empty();) {
      const std::size_t end = rest.find(" |");
      row.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : std::min(end + 3, rest.size()));
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> matches_in(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

std::vector<std::string> tests_named_in(const std::string& cell) {
  return matches_in(cell, R"(`(\w+\.\w+)`)");
}

std::vector<std::string> clauses_of(const std::string& page) {
  return matches_in("\n" + page, R"(\n- (\d+\.\d+) )");
}

std::string page(const std::string& path) {
  for (const SourceFile& file : read_tree(SEMEL_SOURCE_DIR)) {
    if (file.path == path) return file.text;
  }
  return {};
}

TEST(CoveredClauses, AreReadFromTheirPages) {
  const std::string text = "\n## A\n| x | y |\n|---|---|\n| 1.1 | `T.One` |\n\n## B\n| z | z |\n";
  EXPECT_THAT(rows_of(section_of(text, "A")), ::testing::ElementsAre(Row{"1.1", "`T.One`"}));
  EXPECT_THAT(rows_of(section_of(text, "B")), ::testing::IsEmpty());
  EXPECT_THAT(clauses_of("- 1.1 *A*\n- 1.10 b\n  - 2.2 no\n3.1 no\n"),
              ::testing::ElementsAre("1.1", "1.10"));
  EXPECT_THAT(tests_named_in("`A.B`, `Fuzz.c_d` and `e`"),
              ::testing::ElementsAre("A.B", "Fuzz.c_d"));
}

TEST(CoveredClauses, EveryClauseOfTheGuaranteeNamesItsTests) {
  const std::vector<std::string> clauses = clauses_of(page("docs/guarantee.md"));
  ASSERT_GT(clauses.size(), 40U);
  std::vector<std::string> covered;
  for (const Row& row : rows_of(section_of(page("docs/evidence.md"), "The clauses"))) {
    ASSERT_EQ(row.size(), 2U) << row.front();
    EXPECT_THAT(tests_named_in(row[1]), ::testing::Not(::testing::IsEmpty())) << row[0];
    covered.push_back(row[0]);
  }
  EXPECT_EQ(covered, clauses) << "docs/evidence.md, The clauses: one row each, in their order";
}

TEST(CoveredClauses, EveryThreatNamesItsClausesAndItsTests) {
  const std::vector<std::string> known = clauses_of(page("docs/guarantee.md"));
  const std::vector<Row> threats = rows_of(section_of(page("docs/threat-model.md"), "Threats"));
  ASSERT_GT(threats.size(), 30U);
  for (const Row& threat : threats) {
    ASSERT_EQ(threat.size(), 4U) << threat.front();
    const std::vector<std::string> clauses = matches_in(threat[2], R"((\d+\.\d+))");
    EXPECT_THAT(clauses, ::testing::Not(::testing::IsEmpty())) << threat[0];
    EXPECT_THAT(known, ::testing::IsSupersetOf(clauses)) << threat[0];
    EXPECT_THAT(tests_named_in(threat[3]), ::testing::Not(::testing::IsEmpty())) << threat[0];
  }
}

}  // namespace
}  // namespace semel::layering
