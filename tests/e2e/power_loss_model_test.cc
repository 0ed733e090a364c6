// What the power_loss library makes of files: the test of the instrument. A small program carries
// out some steps, power goes with one of them, and over many seeds all that may be on the disk is
// found there, and nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <set>

#include "tests/support/process.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Steps = std::vector<std::string>;

constexpr char kAbsent[] = "absent";

/// A disk with the files `a` and `b`, which are not there yet.
class PowerLossModel : public ::testing::Test {
 protected:
  /// What is in `name` after power went, for each of many seeds.
  /// @param before  Carried out without a loss, by a process of its own.
  /// @param at      Which change or sync of `steps` it goes with, counted from 1.
  std::set<std::string> seen(const Steps& before, const Steps& steps, int at,
                             const std::string& name) {
    std::set<std::string> contents;
    for (int seed = 1; seed <= 40; ++seed) {
      std::filesystem::remove_all(files());
      std::filesystem::remove_all(folder_.file("disk"));
      std::filesystem::create_directory(files());
      std::filesystem::create_directory(folder_.file("disk"));
      write_file(file("marker"), "so that the disk is not taken for a new one");
      EXPECT_EQ(run_steps({"sync " + files()}, 0, 0).code, 0);
      EXPECT_EQ(run_steps(before, 0, 0).code, 0);
      EXPECT_EQ(run_steps(steps, at, seed).signal, SIGKILL) << "it came to that step";
      EXPECT_EQ(run_steps({"sync " + files()}, 0, 0).code, 0) << "the next start";
      contents.insert(std::filesystem::exists(file(name)) ? read_file(file(name)) : kAbsent);
    }
    return contents;
  }
  [[nodiscard]] std::string files() const { return folder_.file("files"); }
  [[nodiscard]] std::string file(const std::string& name) const { return files() + "/" + name; }
  [[nodiscard]] std::string write(const std::string& name, char character, int offset = 0,
                                  int size = 4'096) const {
    return "write " + file(name) + " " + std::to_string(offset) + " " + std::to_string(size) + " " +
           character;
  }
  [[nodiscard]] std::string sync(const std::string& name) const { return "sync " + file(name); }
  [[nodiscard]] std::string sync_folder() const { return "sync " + files(); }
  /// `a`, full of x, whole on the disk.
  [[nodiscard]] Steps durable() const { return {write("a", 'x'), sync("a"), sync_folder()}; }

 private:
  Exit run_steps(const Steps& steps, int at, int seed) {
    write_file(folder_.file("plan"), "disk " + folder_.file("disk") + "\nfile " + files() +
                                         "/\ncut " + std::to_string(at) + "\nseed " +
                                         std::to_string(seed) + "\n");
    std::vector<std::string> command = {SEMEL_BINARY_DIR "/semel_disk_steps"};
    command.insert(command.end(), steps.begin(), steps.end());
    Process process({command,
                     {"LD_PRELOAD=" SEMEL_BINARY_DIR "/libsemel_power_loss.so",
                      "SEMEL_POWER_LOSS=" + folder_.file("plan")},
                     folder_.file("out"),
                     folder_.file("err")});
    return process.wait(Deadline(milliseconds{20'000})).value_or(Exit{});
  }

  TempFolder folder_;
};

std::string bytes(char character, std::size_t size = 4'096) { return std::string(size, character); }

TEST_F(PowerLossModel, WhatWasSyncedIsThere) {
  const Steps steps = {write("a", 'y'), sync("a"), write("b", 'z')};
  EXPECT_THAT(seen(durable(), steps, 3, "a"), ElementsAre(bytes('y')));
}

TEST_F(PowerLossModel, WhatWasNotSyncedIsThereInPiecesOf512BytesOrNotAtAll) {
  const auto contents = seen(durable(), {write("a", 'y')}, 1, "a");
  EXPECT_TRUE(contents.contains(bytes('x')));
  EXPECT_TRUE(contents.contains(bytes('y')));
  EXPECT_GT(contents.size(), 4u) << "and torn in many ways";
  for (const std::string& content : contents) {
    ASSERT_EQ(content.size(), 4'096u);
    for (std::size_t at = 0; at < content.size(); at += 512) {
      const std::string piece = content.substr(at, 512);
      EXPECT_TRUE(piece == bytes('x', 512) || piece == bytes('y', 512)) << at;
    }
  }
}

TEST_F(PowerLossModel, ASyncThatIsUnderWayHasDoneAnyPartOfItsWork) {
  const auto contents = seen(durable(), {write("a", 'y'), sync("a")}, 2, "a");
  EXPECT_TRUE(contents.contains(bytes('x')));
  EXPECT_GT(contents.size(), 4u);
}

TEST_F(PowerLossModel, ANewNameIsThereOnceItsFolderIsSynced) {
  const Steps made = {write("a", 'y'), sync("a")};
  Steps steps = made;
  steps.push_back(write("marker", 'm'));
  EXPECT_THAT(seen({}, steps, 4, "a"), UnorderedElementsAre(bytes('y'), kAbsent));
  steps = made;
  steps.push_back(sync_folder());
  steps.push_back(write("marker", 'm'));
  EXPECT_THAT(seen({}, steps, 5, "a"), ElementsAre(bytes('y')));
}

TEST_F(PowerLossModel, ARenameLeavesOneOfBothFilesWhole) {
  Steps steps = {write("b", 'y'), sync("b"), "rename " + file("b") + " " + file("a")};
  EXPECT_THAT(seen(durable(), steps, 4, "a"), UnorderedElementsAre(bytes('x'), bytes('y')));
  steps.push_back(sync_folder());
  steps.push_back(write("marker", 'm'));
  EXPECT_THAT(seen(durable(), steps, 6, "a"), ElementsAre(bytes('y')));
}

TEST_F(PowerLossModel, ARemovedFileMayComeBackUntilItsFolderIsSynced) {
  Steps steps = {"remove " + file("a")};
  EXPECT_THAT(seen(durable(), steps, 1, "a"), UnorderedElementsAre(bytes('x'), kAbsent));
  steps.push_back(sync_folder());
  steps.push_back(write("marker", 'm'));
  EXPECT_THAT(seen(durable(), steps, 3, "a"), ElementsAre(kAbsent));
}

TEST_F(PowerLossModel, AFileThatWasMadeAnewIsNeverMixedWithTheRemovedOne) {
  const Steps steps = {"remove " + file("a"), write("a", 'y', 0, 1'024), sync("a"), sync_folder(),
                       write("marker", 'm')};
  EXPECT_THAT(seen(durable(), steps, 6, "a"), ElementsAre(bytes('y', 1'024)));
}

TEST_F(PowerLossModel, ALengthThatWasNotSyncedIsTheOldOrTheNewOne) {
  EXPECT_THAT(seen(durable(), {"truncate " + file("a") + " 1000"}, 1, "a"),
              UnorderedElementsAre(bytes('x'), bytes('x', 1'000)));
  const auto grown = seen(durable(), {write("a", 'y', 4'096, 512)}, 1, "a");
  EXPECT_THAT(grown, UnorderedElementsAre(bytes('x'), bytes('x') + bytes('y', 512),
                                          bytes('x') + bytes('\0', 512)));
}

TEST_F(PowerLossModel, AProcessThatEndsHasSyncedNothing) {
  Steps before = durable();
  before.push_back(write("a", 'y'));
  const auto contents = seen(before, {write("marker", 'm')}, 1, "a");
  EXPECT_TRUE(contents.contains(bytes('x')));
  EXPECT_TRUE(contents.contains(bytes('y')));
}

}  // namespace
}  // namespace semel::testing
