#include "stores/witness.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/stores/requests.h"

namespace semel::testing {
namespace {

WitnessNote note() {
  return {"0123456789abcdef0123456789abcdef", Fence{41}, 2'049, 77, "boot-a", false};
}

class Witness : public ::testing::Test {
 protected:
  void put(const std::string& text) {
    std::filesystem::create_directories(folder_.path() + "/state");
    std::ofstream(file_.path(), std::ios::binary) << text;
  }

  TemporaryFolder folder_;
  WitnessFile file_{folder_.path() + "/state"};
};

TEST_F(Witness, WhatWasWrittenIsRead) {
  EXPECT_FALSE(file_.read().value());
  WitnessNote written = note();
  for (const bool suspect : {false, true}) {
    written.suspect = suspect;
    ASSERT_EQ(file_.write(written), "");
    EXPECT_EQ(file_.read().value(), written);
  }
}

TEST_F(Witness, IsItsOwnersAlone) {
  ASSERT_EQ(file_.write(note()), "");
  struct stat status{};
  ASSERT_EQ(::stat(file_.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder_.path() + "/state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Witness, IsTheTextOfTheFormatPage) {
  ASSERT_EQ(file_.write(note()), "");
  std::ifstream file(file_.path());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text,
            "semel witness 1\n"
            "store 0123456789abcdef0123456789abcdef\n"
            "fence 41\n"
            "device 2049\n"
            "inode 77\n"
            "boot boot-a\n"
            "suspect no\n");
}

TEST_F(Witness, AnythingElseIsUnreadableAndNotAbsent) {
  const std::string whole =
      "semel witness 1\nstore ab\nfence 1\ndevice 2\ninode 3\nboot x\nsuspect no\n";
  put(whole);
  ASSERT_TRUE(file_.read());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_EQ(file_.read().error(), Fault::RecordCorrupt) << size << " bytes";
  }
  for (const char* text :
       {"semel witness 2\nstore ab\nfence 1\ndevice 2\ninode 3\nboot x\nsuspect no\n",
        "semel witness 1\nstore ab\nfence 1x\ndevice 2\ninode 3\nboot x\nsuspect no\n",
        "semel witness 1\nstore ab\nfence -1\ndevice 2\ninode 3\nboot x\nsuspect no\n",
        "semel witness 1\nfence 1\nstore ab\ndevice 2\ninode 3\nboot x\nsuspect no\n",
        "semel witness 1\nstore ab\nfence 1\ndevice 2\ninode 3\nboot x\nsuspect maybe\n",
        "semel witness 1\nstore ab\nfence 1\ndevice 2\ninode 3\nboot x\nsuspect no\nmore\n"}) {
    put(text);
    EXPECT_EQ(file_.read().error(), Fault::RecordCorrupt) << text;
  }
}

TEST_F(Witness, ThatCannotBeWrittenSaysWhyAndLeavesTheOldOne) {
  ASSERT_EQ(file_.write(note()), "");
  std::filesystem::create_directory(file_.path() + ".new");
  WitnessNote later = note();
  later.fence.value += 1;
  EXPECT_NE(file_.write(later), "");
  EXPECT_EQ(file_.read().value(), note());
}

TEST(WitnessLoss, IsAnotherStoreAnOlderOneOrAnotherFile) {
  struct Row {
    const char* name;
    void (*change)(WitnessNote&);
    bool is_loss;
  };
  constexpr Row kRows[] = {
      {"the same", [](WitnessNote&) {}, false},
      {"went on", [](WitnessNote& n) { n.fence.value += 1'000; }, false},
      {"behind by one", [](WitnessNote& n) { n.fence.value -= 1; }, true},
      {"another store", [](WitnessNote& n) { n.store_id[0] = 'f'; }, true},
      {"another inode", [](WitnessNote& n) { n.inode += 1; }, true},
      {"another device", [](WitnessNote& n) { n.device += 1; }, true},
      {"another inode after a boot",
       [](WitnessNote& n) {
         n.inode += 1;
         n.boot_id = "boot-b";
       },
       true},
      {"behind after a boot",
       [](WitnessNote& n) {
         n.fence.value -= 1;
         n.boot_id = "boot-b";
       },
       true},
      {"a boot that numbers the devices anew",
       [](WitnessNote& n) {
         n.device += 1;
         n.boot_id = "boot-b";
       },
       false},
  };
  for (const Row& row : kRows) {
    WitnessNote found = note();
    row.change(found);
    EXPECT_EQ(!loss_between(note(), found).empty(), row.is_loss) << row.name;
  }
}

}  // namespace
}  // namespace semel::testing
