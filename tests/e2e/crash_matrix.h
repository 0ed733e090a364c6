#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace semel::testing {

/// One policy's rows of a table of docs/guarantee.md, section 11, as a run has measured them: three
/// columns of words for each point. On the page `a or b` in a cell allows either.
class CrashMatrix {
 public:
  using Observed = std::array<std::string, 3>;
  struct Row {
    int rounds = 0;
    std::array<std::set<std::string>, 3> cells;
  };

  CrashMatrix(std::string_view policy, std::span<const char* const> points)
      : policy_(policy), points_(points.begin(), points.end()) {
    for (const std::string& point : points_) rows_[point];
  }

  void note(const std::string& point, const Observed& observed) {
    const std::lock_guard lock(mutex_);
    Row& row = rows_.at(point);
    ++row.rounds;
    for (std::size_t i = 0; i < observed.size(); ++i) row.cells[i].insert(observed[i]);
  }

  /// The rows as the page has them.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::string& point : points_) {
      const Row& row = rows_.at(point);
      text += "| `" + point + "` | `" + policy_ + "` | " + std::to_string(row.rounds);
      for (const auto& cell : row.cells) text += " | " + joined(cell);
      text += " |\n";
    }
    return text;
  }

  /// Expects the page's table below that heading to have these rows for the policy and no others,
  /// and to allow every word that was observed.
  void expect_documented(std::string_view heading) const {
    const auto documented = rows_below(heading);
    for (const auto& [point, row] : rows_) {
      SCOPED_TRACE(point);
      const auto found = documented.find(point);
      if (found == documented.end()) {
        ADD_FAILURE() << "no such row below \"" << heading << "\"";
        continue;
      }
      EXPECT_EQ(row.rounds, found->second.rounds);
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        for (const std::string& word : row.cells[i]) {
          EXPECT_TRUE(found->second.cells[i].contains(word))
              << "observed " << word << " where the page says " << joined(found->second.cells[i]);
        }
      }
    }
    for (const auto& [point, row] : documented) {
      EXPECT_TRUE(rows_.contains(point)) << "the page has a row more: " << point;
    }
  }

 private:
  static std::string joined(const std::set<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " or ") + word;
    return text;
  }

  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '|');) {
      const std::size_t from = cell.find_first_not_of(" `");
      const std::size_t to = cell.find_last_not_of(" `");
      cells.push_back(from == std::string::npos ? "" : cell.substr(from, to - from + 1));
    }
    return cells;
  }

  static std::set<std::string> words_of(std::string cell) {
    std::set<std::string> words;
    for (std::size_t at; (at = cell.find(" or ")) != std::string::npos;) {
      words.insert(cell.substr(0, at));
      cell.erase(0, at + 4);
    }
    words.insert(cell);
    return words;
  }

  [[nodiscard]] std::map<std::string, Row> rows_below(std::string_view heading) const {
    std::map<std::string, Row> rows;
    std::istringstream page(read_file(SEMEL_SOURCE_DIR "/docs/guarantee.md"));
    bool is_inside = false;
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with("#")) is_inside = line == heading;
      const auto cells = cells_of(line);
      if (!is_inside || cells.size() != 7 || cells[2] != policy_) continue;
      Row row{std::stoi(cells[3]), {words_of(cells[4]), words_of(cells[5]), words_of(cells[6])}};
      EXPECT_TRUE(rows.emplace(cells[1], row).second) << "twice: " << line;
    }
    return rows;
  }

  const std::string policy_;
  const std::vector<std::string> points_;
  std::mutex mutex_;
  std::map<std::string, Row> rows_;
};

/// Runs each job on a thread of its own. What one throws is a failure of the test.
inline void run_together(const std::vector<std::function<void()>>& jobs) {
  std::vector<std::thread> threads;
  for (const auto& job : jobs) {
    threads.emplace_back([&job] {
      try {
        job();
      } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace semel::testing
