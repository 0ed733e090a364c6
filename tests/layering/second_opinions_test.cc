// What a fuzz target judges by is a second opinion only while it shares nothing with the code that
// it judges.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

/// What a file includes of ours outside its own folder.
std::vector<std::string> borrowed_by(const SourceFile& file) {
  std::vector<std::string> borrowed;
  for (const Include& include : includes_of(file)) {
    if (include.is_quoted && !include.name.starts_with("tests/fuzz/")) {
      borrowed.emplace_back(include.name);
    }
  }
  return borrowed;
}

TEST(SecondOpinions, WhatTheyBorrowIsSeen) {
  EXPECT_THAT(borrowed_by({"tests/fuzz/a.cc", "#include \"tests/fuzz/a.h\"\n#include <map>\n"}),
              ::testing::IsEmpty());
  EXPECT_THAT(borrowed_by({"tests/fuzz/a.cc", "#include \"core/json_reader.h\"\n"}),
              ::testing::ElementsAre("core/json_reader.h"));
}

TEST(SecondOpinions, OnKeysShareNothingWithTheCore) {
  int files = 0;
  for (const SourceFile& file : read_tree(SEMEL_SOURCE_DIR)) {
    for (const char* name : {"dice", "document", "json_reference", "key_reference"}) {
      const std::string stem = std::string("tests/fuzz/") + name + ".";
      if (!file.path.starts_with(stem)) continue;
      ++files;
      EXPECT_THAT(borrowed_by(file), ::testing::IsEmpty()) << file.path;
    }
  }
  EXPECT_EQ(files, 7);
}

TEST(SecondOpinions, OnPathsBorrowTheRouteAndNoReader) {
  for (const SourceFile& file : read_tree(SEMEL_SOURCE_DIR)) {
    if (!file.path.starts_with("tests/fuzz/lenient_path.")) continue;
    EXPECT_THAT(borrowed_by(file), ::testing::Each("core/route.h")) << file.path;
  }
}

}  // namespace
}  // namespace semel::layering
