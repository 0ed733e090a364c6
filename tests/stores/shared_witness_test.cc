#include "stores/shared_witness.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "stores/open.h"
#include "tests/stores/requests.h"

namespace semel::testing {
namespace {

const std::string kStore = "5e0c3b1f8a9d4c27b6e1f0a2d3c4b5a6";

class SharedWitnessTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return folder_.path() + "/state"; }
  [[nodiscard]] std::string path() const { return folder() + "/writer"; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const {
    std::filesystem::create_directories(folder());
    std::ofstream(path(), std::ios::binary) << text;
  }

  TemporaryFolder folder_;
};

TEST_F(SharedWitnessTest, AProcessKeepsItsNameAndWhatItKnewOverARestart) {
  std::string writer;
  {
    SharedWitness witness(folder());
    writer = witness.writer();
    EXPECT_EQ(witness.store_id(), "");
    EXPECT_TRUE(witness.known().lanes.empty());
    witness.meet(kStore);
    witness.note(3, Fence{41});
    witness.note(0, Fence{7});
    witness.note(3, Fence{40});
  }
  const SharedWitness witness(folder());
  EXPECT_EQ(witness.writer(), writer);
  EXPECT_EQ(witness.store_id(), kStore);
  EXPECT_EQ(witness.known().lanes, (std::map<std::size_t, Fence>{{0, Fence{7}}, {3, Fence{41}}}));
  EXPECT_EQ(witness.known(3), Fence{41});
  EXPECT_EQ(witness.known(1), Fence{0});
  EXPECT_EQ(witness.remark(), "");
}

TEST_F(SharedWitnessTest, AFailOverIsKnownOfTheGroupThatItWasIn) {
  const std::string group = "a b\nc";
  {
    SharedWitness witness(folder());
    EXPECT_EQ(witness.epoch(group), 0U);
    witness.note_epoch(group, 5);
    witness.meet(kStore);
    witness.note(3, Fence{41});
  }
  {
    SharedWitness witness(folder());
    EXPECT_EQ(witness.epoch(group), 5U);
    EXPECT_EQ(witness.epoch("other"), 0U);
    EXPECT_EQ(witness.store_id(), kStore);
    EXPECT_EQ(witness.known(3), Fence{41});
    witness.note_epoch("other", 1);
  }
  const SharedWitness witness(folder());
  EXPECT_EQ(witness.epoch("other"), 1U);
  EXPECT_EQ(witness.epoch(group), 0U);
}

TEST_F(SharedWitnessTest, ANoteWithoutAGroupIsWrittenAsEver) {
  {
    SharedWitness witness(folder());
    witness.meet(kStore);
  }
  EXPECT_EQ(text().find("group"), std::string::npos);
}

TEST_F(SharedWitnessTest, ANameIsOnTheDiskBeforeAnybodyUsesIt) {
  const SharedWitness witness(folder());
  EXPECT_EQ(witness.writer().size(), 32u);
  EXPECT_NE(text().find("writer " + witness.writer() + "\n"), std::string::npos);
  struct stat status{};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(SharedWitnessTest, TwoProcessesHaveTwoNamesAndAFolderHasOne) {
  const SharedWitness first(folder());
  const SharedWitness second(folder() + "-2");
  EXPECT_NE(first.writer(), second.writer());
  EXPECT_THROW(SharedWitness third(folder()), StoreError);
}

TEST_F(SharedWitnessTest, WithoutAFolderNothingIsWrittenAndAllIsKnownUntilTheEnd) {
  SharedWitness witness("");
  EXPECT_EQ(witness.writer().size(), 32u);
  witness.meet(kStore);
  witness.note(0, Fence{7});
  EXPECT_EQ(witness.known(0), Fence{7});
  EXPECT_EQ(witness.remark(), "");
  EXPECT_NE(SharedWitness("").writer(), witness.writer());
}

TEST_F(SharedWitnessTest, InAnotherStoresPlaceTheFencesGoOnCounting) {
  SharedWitness witness(folder());
  witness.meet(kStore);
  witness.note(0, Fence{7});
  witness.meet(kStore);
  EXPECT_EQ(witness.known(0), Fence{7});
  witness.meet("another");
  EXPECT_EQ(witness.store_id(), "another");
  EXPECT_EQ(witness.known(0), Fence{7}) << "the doubt that raised its fences may be lost with it";
}

TEST_F(SharedWitnessTest, WhatIsToldWithAMeetingIsKnownOfThatStore) {
  {
    SharedWitness witness(folder());
    witness.meet(kStore, {{0, Fence{7}}, {2, Fence{}}});
    witness.meet("another", {{0, Fence{5}}, {1, Fence{9}}});
    const SharedWitness::Known known = witness.known();
    EXPECT_EQ(known.store_id, "another");
    EXPECT_EQ(known.lanes, (SharedWitness::Lanes{{0, Fence{7}}, {1, Fence{9}}}));
  }
  EXPECT_EQ(SharedWitness(folder()).known().lanes,
            (SharedWitness::Lanes{{0, Fence{7}}, {1, Fence{9}}}));
}

TEST_F(SharedWitnessTest, IsOnTheDiskWithinASecondOfAProcessThatDies) {
  // The name of the process before lies there already, so that the child has only lanes to write.
  const std::string writer = SharedWitness(folder()).writer();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // Its end if ours comes first.
    SharedWitness witness(folder());
    witness.meet(kStore);
    for (std::uint64_t fence = 1;; ++fence) {
      witness.note(0, Fence{fence});
      ::usleep(1'000);
    }
  }
  while (text().find("lane 0 ") == std::string::npos) ::usleep(1'000);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const SharedWitness witness(folder());
  EXPECT_EQ(witness.writer(), writer);
  EXPECT_EQ(witness.store_id(), kStore);
  EXPECT_GE(witness.known(0), Fence{1});
}

/// The checksums are those of Python's zlib.crc32.
const std::string kWhole =
    "semel writer 1\n"
    "writer 0123456789abcdef0123456789abcdef\n"
    "store 2 ab\n"
    "lane 0 12\n"
    "lane 7 1042\n"
    "crc 2357833449\n";

TEST_F(SharedWitnessTest, IsTheTextOfTheFormatPage) {
  put(kWhole);
  {
    SharedWitness witness(folder());
    EXPECT_EQ(witness.writer(), "0123456789abcdef0123456789abcdef");
    EXPECT_EQ(witness.store_id(), "ab");
    EXPECT_EQ(witness.known().lanes,
              (std::map<std::size_t, Fence>{{0, Fence{12}}, {7, Fence{1042}}}));
    witness.meet("a b\n");
    witness.note(1, Fence{5});
  }
  EXPECT_EQ(text(),
            "semel writer 1\n"
            "writer 0123456789abcdef0123456789abcdef\n"
            "store 4 a b\n\n"
            "lane 0 12\n"
            "lane 1 5\n"
            "lane 7 1042\n"
            "crc 3725075216\n");
  EXPECT_EQ(SharedWitness(folder()).store_id(), "a b\n");
}

TEST_F(SharedWitnessTest, AnythingElseIsRefusedAndLeftAsItIs) {
  put(kWhole);
  ASSERT_NO_THROW(SharedWitness witness(folder()));
  const auto refuses = [this](const std::string& damaged) {
    put(damaged);
    EXPECT_THROW(SharedWitness witness(folder()), StoreError) << damaged;
    EXPECT_EQ(text(), damaged);
  };
  for (std::size_t size = 0; size < kWhole.size(); ++size) refuses(kWhole.substr(0, size));
  for (std::size_t at = 0; at < kWhole.size(); ++at) {
    std::string damaged = kWhole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    refuses(damaged);
  }
  refuses(kWhole + "more\n");
  // Of the right checksum, and of no version that is known here.
  refuses("semel writer 2\nwriter 0123456789abcdef0123456789abcdef\nstore 2 ab\ncrc 962403348\n");
  refuses("semel writer 1\nwriter 0123456789abcdef0123456789abcdeX\nstore 2 ab\ncrc 1202400584\n");
  refuses(
      "semel writer 1\nwriter 0123456789abcdef0123456789abcdef\nstore 2 ab\nlane 0 1\nlane 0 2\n"
      "crc 1692490786\n");
}

TEST_F(SharedWitnessTest, ThatCannotBeReadNamesTheFileAndTheCure) {
  put("semel writer 1\n");
  try {
    SharedWitness witness(folder());
    FAIL() << "it was read";
  } catch (const StoreError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find(path()), std::string::npos) << said;
    EXPECT_NE(said.find("remove the file"), std::string::npos) << said;
  }
}

TEST_F(SharedWitnessTest, ThatCannotBeWrittenSaysSo) {
  std::filesystem::create_directories(path() + ".new");
  const SharedWitness witness(folder());
  EXPECT_NE(witness.remark().find(path()), std::string::npos) << witness.remark();
  EXPECT_EQ(witness.writer().size(), 32u);
}

}  // namespace
}  // namespace semel::testing
