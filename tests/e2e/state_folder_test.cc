// Two processes and one state_dir: the second is turned away before it has written anything there.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

class StateFolder : public ::testing::Test {
 protected:
  StateFolder() { EXPECT_EQ(gateway_.book().status, 200); }

  [[nodiscard]] std::string folder() const {
    return (fs::path(gateway_.semel.config_file()).parent_path() / "state").string();
  }
  /// Another configuration with that folder, and the store that it names.
  Finished command(const std::string& store, const std::vector<std::string>& words,
                   const std::string& more = {}) const {
    const std::string config = other_.file("semel.yaml");
    write_file(config, "version: 1\nlisten: {address: \"127.0.0.1:" + std::to_string(free_port()) +
                           "\"}\nstate_dir: \"" + folder() + "\"\nstore: {" + store + "}\n" + more +
                           "upstreams: {tool: {endpoints: [\"http://127.0.0.1:9\"]}}\n" +
                           tool_routes());
    std::vector<std::string> all = {gateway_.semel.binary()};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back(config);
    return run(all);
  }
  [[nodiscard]] std::string own_file() const {
    return "sqlite: {path: \"" + other_.file("semel.db") + "\"}";
  }
  void expect_refused(const Finished& ended) const {
    ASSERT_TRUE(ended.exit);
    EXPECT_EQ(ended.exit->code, 2) << ended.out;
    const std::string sentence = "state_dir " + folder() +
                                 " is in use by another process: give each process a folder of its "
                                 "own";
    EXPECT_NE(ended.err.find(sentence), std::string::npos) << ended.err;
  }
  void expect_untouched() {
    EXPECT_NE(read_file(folder() + "/witness").find("suspect no"), std::string::npos);
    gateway_.semel.restart();
    EXPECT_EQ(gateway_.semel.metric("semel_store_suspect"), 0);
    EXPECT_EQ(gateway_.book().header("Idempotent-Replayed"), "true");
  }

  Gateway gateway_{{.store = StoreKind::Sqlite}};
  TempFolder other_;
};

TEST_F(StateFolder, ASecondServeIsTurnedAway) {
  EXPECT_EQ(command(own_file(), {"store", "init"}).exit->code, 0);
  expect_refused(command(own_file(), {"serve"}));
  expect_untouched();
}

TEST_F(StateFolder, AnAcknowledgementOfAnotherStoreIsTurnedAway) {
  EXPECT_EQ(command(own_file(), {"store", "init"}).exit->code, 0);
  expect_refused(command(own_file(), {"store", "acknowledge"}));
  expect_untouched();
}

TEST_F(StateFolder, ATokenIsNotWrittenIntoIt) {
  expect_refused(command("memory: {allow_volatile: true}", {"serve"},
                         "admin: {address: \"127.0.0.1:" + std::to_string(free_port()) + "\"}\n"));
  EXPECT_FALSE(fs::exists(folder() + "/admin.token"));
  expect_untouched();
}

TEST_F(StateFolder, IsFreeAfterAKill) {
  gateway_.semel.kill9();
  gateway_.semel.start();
  EXPECT_EQ(gateway_.book().header("Idempotent-Replayed"), "true");
}

TEST_F(StateFolder, HoldsALockOfItsOwnerAlone) {
  EXPECT_EQ(fs::status(folder() + "/lock").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
}

TEST(StoreInit, SaysWhichFolderIsMissing) {
  TempFolder folder;
  const std::string config = folder.file("semel.yaml");
  const std::string missing = folder.file("volume");
  write_file(config, "version: 1\nlisten: {address: \"127.0.0.1:" + std::to_string(free_port()) +
                         "\"}\nstate_dir: \"" + folder.file("state") +
                         "\"\nstore: {sqlite: {path: \"" + missing + "/semel.db\"}}\n" +
                         "upstreams: {tool: {endpoints: [\"http://127.0.0.1:9\"]}}\n" +
                         tool_routes());
  const std::vector<std::string> init = {semel_binary(), "store", "init", config};
  const Finished ended = run(init);
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err.find("mkdir -p " + missing), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(missing)) << "a volume that is not mounted looks the same";
  fs::create_directory(missing);
  EXPECT_EQ(run(init).exit->code, 0);
}

}  // namespace
}  // namespace semel::testing
