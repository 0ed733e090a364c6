#include "io/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_folder.h"

namespace semel {
namespace {

class FileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  testing::TempFolder folder_;
};

TEST_F(FileTest, WhatIsReplacedIsReadWholeAndIsItsOwnersAlone) {
  EXPECT_FALSE(read_file(path("note"), 100));
  EXPECT_EQ(errno, ENOENT);
  const std::string long_one(100'000, 'x');
  ASSERT_EQ(replace_file(path("note"), long_one), "");
  EXPECT_EQ(read_file(path("note"), 1'000'000), long_one);
  EXPECT_EQ(read_file(path("note"), 99'999), long_one.substr(1));
  ASSERT_EQ(replace_file(path("note"), "short"), "");
  EXPECT_EQ(read_file(path("note"), 1'000'000), "short");
  struct stat status{};
  ASSERT_EQ(::stat(path("note").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_FALSE(std::filesystem::exists(path("note.new")));
}

TEST_F(FileTest, ThatCannotBeReplacedSaysWhyAndStaysAsItWas) {
  ASSERT_EQ(replace_file(path("note"), "old"), "");
  std::filesystem::create_directory(path("note.new"));
  EXPECT_EQ(replace_file(path("note"), "new"), "Is a directory");
  EXPECT_EQ(read_file(path("note"), 100), "old");
  EXPECT_EQ(replace_file(path("nowhere/note"), "new"), "No such file or directory");
}

TEST_F(FileTest, AFullDeviceIsNoSuccess) {
  const File full("/dev/full", O_WRONLY);
  ASSERT_GE(full.descriptor(), 0);
  EXPECT_FALSE(write_all(full, "text"));
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace semel
