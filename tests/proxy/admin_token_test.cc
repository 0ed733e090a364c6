#include "proxy/admin_token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <regex>

#include "tests/support/temp_folder.h"

namespace semel::proxy {
namespace {

using semel::testing::read_file;
using semel::testing::TempFolder;
using semel::testing::write_file;

class AdminToken : public ::testing::Test {
 protected:
  AdminToken() {
    config_.state_dir = folder_.file("a/state");
    config_.admin.emplace();
  }
  static unsigned mode_of(const std::string& path) {
    struct stat what{};
    EXPECT_EQ(::stat(path.c_str(), &what), 0) << path;
    return what.st_mode & 0777U;
  }
  [[nodiscard]] std::string path() const { return config_.state_dir + "/admin.token"; }
  [[nodiscard]] std::string refusal() const {
    try {
      return "took " + take_admin_token(config_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  TempFolder folder_;
  config::Config config_;
};

TEST_F(AdminToken, IsMadeOfRandomBitsThatOnlyItsOwnerReads) {
  const std::string token = take_admin_token(config_);
  EXPECT_TRUE(std::regex_match(token, std::regex("[0-9a-f]{64}"))) << token;
  EXPECT_EQ(read_file(path()), token + "\n");
  EXPECT_EQ(mode_of(path()), 0600U);
  EXPECT_EQ(mode_of(config_.state_dir), 0700U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(config_.state_dir), {}), 1)
      << "nothing is left beside it";
}

TEST_F(AdminToken, StaysFromStartToStartAndDiffersFromPlaceToPlace) {
  const std::string token = take_admin_token(config_);
  EXPECT_EQ(take_admin_token(config_), token);
  EXPECT_EQ(read_admin_token(config_), token);
  config::Config other = config_;
  other.state_dir = folder_.file("b");
  EXPECT_NE(take_admin_token(other), token);
}

TEST_F(AdminToken, OfTheConfigurationIsWrittenNowhere) {
  config_.admin->token = "of-the-file";
  EXPECT_EQ(take_admin_token(config_), "of-the-file");
  EXPECT_EQ(read_admin_token(config_), "of-the-file");
  EXPECT_FALSE(std::filesystem::exists(config_.state_dir));
}

TEST_F(AdminToken, ACommandMakesNone) {
  EXPECT_THROW(static_cast<void>(read_admin_token(config_)), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(config_.state_dir));
}

TEST_F(AdminToken, MayBeTheOperatorsOwn) {
  std::filesystem::create_directories(config_.state_dir);
  write_file(path(), "chosen-by-hand\r\n");
  ASSERT_EQ(::chmod(path().c_str(), 0400), 0);
  EXPECT_EQ(take_admin_token(config_), "chosen-by-hand");
}

TEST_F(AdminToken, IsRefusedWhereOthersMayReadIt) {
  std::filesystem::create_directories(config_.state_dir);
  write_file(path(), "known-to-all\n");
  ASSERT_EQ(::chmod(path().c_str(), 0640), 0);
  EXPECT_NE(refusal().find("chmod 600"), std::string::npos) << refusal();
}

TEST_F(AdminToken, IsRefusedWhereTheFileHoldsNone) {
  std::filesystem::create_directories(config_.state_dir);
  for (const char* text : {"", "\n", "two words\n", "two\nlines\n", "caf\xC3\xA9\n"}) {
    write_file(path(), text);
    ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
    EXPECT_NE(refusal().find("holds no token"), std::string::npos) << refusal();
  }
}

TEST_F(AdminToken, IsNoLinkToAnotherFile) {
  std::filesystem::create_directories(config_.state_dir);
  write_file(folder_.file("elsewhere"), "elsewhere\n");
  ASSERT_EQ(::chmod(folder_.file("elsewhere").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder_.file("elsewhere"), path());
  EXPECT_NE(refusal().find("cannot read"), std::string::npos) << refusal();
}

TEST_F(AdminToken, AFolderThatCannotBeMadeIsABadStart) {
  write_file(folder_.file("a"), "in the way");
  EXPECT_NE(refusal().find("state_dir"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace semel::proxy
