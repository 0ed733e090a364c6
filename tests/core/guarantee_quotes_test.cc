// docs/guarantee.md quotes the dispatch table. Here both are read cell by cell: a row that the page
// lacks, has too much, or spells otherwise fails with the cell's name.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/dispatch.h"

namespace semel {
namespace {

constexpr std::string_view kHeading = "## 9. The dispatch table";

/// Who, where and what happened, spelled as the page spells them.
using Cell = std::tuple<std::string, std::string, std::string>;
/// Next stage and act.
using Then = std::pair<std::string, std::string>;

std::string spelled(const Cell& cell) {
  return std::get<0>(cell) + " at " + std::get<1>(cell) + ", " + std::get<2>(cell);
}

struct QuotedRow {
  std::vector<std::string> who;
  std::string stage;
  std::string event;
  Then then;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// `| I E | keying | key_ready | joining | join_flight |`, or nothing for any other line.
std::optional<QuotedRow> parse_row(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
  if (cells.size() != 6 || !cells[0].empty()) return std::nullopt;
  QuotedRow row{words_of(cells[1]), {}, {}, {}};
  std::array<std::string*, 4> rest{&row.stage, &row.event, &row.then.first, &row.then.second};
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto words = words_of(cells[i + 2]);
    if (words.size() != 1) return std::nullopt;
    *rest[i] = words[0];
  }
  return row;
}

/// The rows below the section's heading, up to the next heading.
std::vector<QuotedRow> rows_of(std::istream& page) {
  std::vector<QuotedRow> rows;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_inside = line == kHeading;
    if (!is_inside) continue;
    auto row = parse_row(line);
    const bool is_policies = row && row->who.size() <= 4 && row->who[0].size() == 1;
    if (is_policies && std::string_view("NRIE").find(row->who[0]) != std::string_view::npos) {
      rows.push_back(*std::move(row));
    }
  }
  return rows;
}

std::map<Cell, Then> cells_of(const std::vector<QuotedRow>& rows) {
  std::map<Cell, Then> cells;
  for (const QuotedRow& row : rows) {
    for (const std::string& who : row.who) {
      const Cell cell{who, row.stage, row.event};
      EXPECT_TRUE(cells.emplace(cell, row.then).second) << "quoted twice: " << spelled(cell);
    }
  }
  return cells;
}

std::map<Cell, Then> cells_of_the_code() {
  constexpr std::pair<Policy, const char*> kPolicies[] = {{Policy::None, "N"},
                                                          {Policy::ReadOnly, "R"},
                                                          {Policy::Idempotent, "I"},
                                                          {Policy::Effectful, "E"}};
  std::map<Cell, Then> cells;
  for (const auto& [policy, who] : kPolicies) {
    for (std::size_t s = 0; s < kStageCount; ++s) {
      for (std::size_t e = 0; e < kEventCount; ++e) {
        const auto stage = static_cast<Stage>(s);
        const auto event = static_cast<Event>(e);
        const auto step = next(policy, stage, event);
        if (!step) continue;
        cells[{who, std::string(name(stage)), std::string(name(event))}] = {
            std::string(name(step->stage)), std::string(name(step->act))};
      }
    }
  }
  return cells;
}

TEST(GuaranteeQuotes, ARowIsReadAsItIsWritten) {
  std::istringstream page("## 8. Before\n| I | routed | start | done | finish |\n" +
                          std::string(kHeading) +
                          "\n| who | stage | event | next stage | act |\n|---|---|---|---|---|\n"
                          "| I E | claiming | held | waiting | await_holder |\n## 10. After\n"
                          "| E | routed | start | done | finish |\n");
  const auto cells = cells_of(rows_of(page));
  const std::map<Cell, Then> expected{{{"I", "claiming", "held"}, {"waiting", "await_holder"}},
                                      {{"E", "claiming", "held"}, {"waiting", "await_holder"}}};
  EXPECT_EQ(cells, expected);
}

TEST(GuaranteeQuotes, ThePageHasTheRowsOfTheCodeAndNoOthers) {
  std::ifstream page(SEMEL_SOURCE_DIR "/docs/guarantee.md");
  ASSERT_TRUE(page) << "docs/guarantee.md is missing";
  const auto quoted = cells_of(rows_of(page));
  const auto code = cells_of_the_code();
  ASSERT_FALSE(quoted.empty()) << "no rows below \"" << kHeading << "\"";
  for (const auto& [cell, then] : code) {
    const auto found = quoted.find(cell);
    if (found == quoted.end()) {
      ADD_FAILURE() << "docs/guarantee.md lacks: " << spelled(cell);
    } else {
      EXPECT_EQ(found->second, then) << spelled(cell);
    }
  }
  for (const auto& [cell, then] : quoted) {
    EXPECT_TRUE(code.contains(cell))
        << "docs/guarantee.md quotes what the code has not: " << spelled(cell);
  }
}

}  // namespace
}  // namespace semel
