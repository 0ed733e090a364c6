// A link of a document leads to a file of the repository.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

/// The targets of `[text](target)`, without what lies outside and without `#anchors`.
std::vector<std::string> links_of(std::string_view text) {
  std::vector<std::string> links;
  for (auto at = text.find("]("); at != std::string_view::npos; at = text.find("](", at + 2)) {
    const std::string_view target =
        text.substr(at + 2, text.find_first_of(") \n", at + 2) - at - 2);
    const std::string_view path = target.substr(0, target.find('#'));
    if (!path.empty() && path.find("://") == std::string_view::npos) links.emplace_back(path);
  }
  return links;
}

TEST(DocumentLinks, AreFoundInTheText) {
  EXPECT_THAT(links_of("[a](docs/a.md#part), [b](https://example.org/b)\n[c](#here) [d](d/)"),
              ::testing::ElementsAre("docs/a.md", "d/"));
}

TEST(DocumentLinks, LeadToAFile) {
  const std::filesystem::path root = SEMEL_SOURCE_DIR;
  for (const SourceFile& file : read_tree(root)) {
    if (!file.path.ends_with(".md")) continue;
    for (const std::string& link : links_of(file.text)) {
      EXPECT_TRUE(std::filesystem::exists((root / file.path).parent_path() / link))
          << file.path << " links to " << link << ", which does not exist";
    }
  }
}

}  // namespace
}  // namespace semel::layering
