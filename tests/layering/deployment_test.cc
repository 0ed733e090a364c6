// What deploy/ and Dockerfile say of the program is true of the program and of its pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

std::string text_of(const std::vector<SourceFile>& tree, std::string_view path) {
  for (const SourceFile& file : tree) {
    if (file.path == path) return file.text;
  }
  ADD_FAILURE() << path << " is not there";
  return {};
}

/// What the first group of the pattern finds, each once.
std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

/// The series that the rules ask for, under the names of their families.
std::set<std::string> families_asked_by(const std::string& rules) {
  return found_in(rules, R"(\b(semel_[a-z_]+?)(?:_bucket|_count|_sum)?(?=[\s{\[)]))");
}

std::set<std::string> families_exported_by(const std::vector<SourceFile>& tree) {
  std::set<std::string> families;
  for (const SourceFile& file : tree) {
    if (!file.path.starts_with("proxy/") || !file.path.ends_with(".cc")) continue;
    families.merge(
        found_in(file.text, R"re(page\.(?:counter|gauge|histogram)\(\s*"(semel_[a-z_]+)")re"));
  }
  return families;
}

std::set<std::string> alerts_of(const std::string& rules) {
  return found_in(rules, R"(- alert: (\w+))");
}

std::string routes_of(const std::string& configuration) {
  const auto at = configuration.find("\nroutes:\n");
  return at == std::string::npos ? std::string{} : configuration.substr(at);
}

TEST(Deployment, RulesAndPagesAreReadForTheirNames) {
  EXPECT_THAT(families_asked_by("rate(semel_a_seconds_bucket{le=\"1\"}[5m]) > max (semel_b_total)"),
              ::testing::ElementsAre("semel_a_seconds", "semel_b_total"));
  EXPECT_THAT(families_exported_by({{"proxy/x.cc",
                                     "page.gauge(\"semel_a\",\npage.counter(\n  "
                                     "\"semel_b\", \"semel_c\""},
                                    {"core/x.cc", "page.gauge(\"semel_d\""}}),
              ::testing::ElementsAre("semel_a", "semel_b"));
  EXPECT_THAT(alerts_of("  - alert: SemelA\n    expr: x"), ::testing::ElementsAre("SemelA"));
}

TEST(Deployment, AlertsAskForWhatTheMetricsPageTells) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  const std::set<std::string> asked =
      families_asked_by(text_of(tree, "deploy/prometheus/alerts.yml"));
  ASSERT_THAT(asked, ::testing::Contains("semel_store_up"));
  EXPECT_THAT(families_exported_by(tree), ::testing::IsSupersetOf(asked))
      << "an alert on a series that does not exist is never raised";
}

TEST(Deployment, EveryAlertHasItsRowInTheRunbook) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  const std::set<std::string> alerts = alerts_of(text_of(tree, "deploy/prometheus/alerts.yml"));
  ASSERT_THAT(alerts, ::testing::Contains("SemelStoreDown"));
  EXPECT_EQ(found_in(text_of(tree, "docs/operations.md"), R"(\n\| `(Semel\w+)` \|)"), alerts);
  EXPECT_EQ(found_in(text_of(tree, "deploy/prometheus/alerts_test.yml"), R"(\b(Semel\w+)\b)"),
            alerts)
      << "each alert has a test of its own";
}

TEST(Deployment, TheReplicasServeTheRoutesOfTheTour) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  const std::string routes = routes_of(text_of(tree, "examples/booking.yaml"));
  ASSERT_THAT(routes, ::testing::HasSubstr("name: book"));
  for (const char* store : {"redis", "postgres"}) {
    EXPECT_EQ(routes_of(text_of(tree, std::string("deploy/semel/") + store + ".yaml")), routes)
        << store << ": copy the routes of examples/booking.yaml again";
  }
}

TEST(Deployment, TheImageIsLabelledWithTheVersionOfTheProgram) {
  const std::vector<SourceFile> tree = read_tree(SEMEL_SOURCE_DIR);
  EXPECT_EQ(found_in(text_of(tree, "Dockerfile"), R"(\nARG VERSION=(\S+))"),
            found_in(text_of(tree, "CMakeLists.txt"), R"(project\(semel VERSION (\S+))"));
}

}  // namespace
}  // namespace semel::layering
