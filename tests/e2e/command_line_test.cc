#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

/// A sound configuration whose upstream never exists.
std::string sound(const std::string& store) {
  return "version: 1\n"
         "listen: {address: \"127.0.0.1:" +
         std::to_string(free_port()) +
         "\"}\n"
         "store: {" +
         store +
         "}\n"
         "upstreams: {tool: {endpoints: [\"http://127.0.0.1:9\"]}}\n" +
         tool_routes();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

struct Command {
  TempFolder folder;
  Finished with_config(const std::string& yaml, const std::vector<std::string>& words) {
    const std::string file = folder.file("semel.yaml");
    write_file(file, yaml + "state_dir: \"" + folder.file("state") + "\"\n");
    std::vector<std::string> arguments = {semel_binary()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.push_back(file);
    return run(arguments);
  }
};

TEST(CommandLine, ASoundConfigurationIsCheckedAndItsRoutesAreShown) {
  Command command;
  const Finished check = command.with_config(sound("memory: {allow_volatile: true}"), {"check"});
  ASSERT_TRUE(check.exit);
  EXPECT_EQ(check.exit->code, 0) << check.err;
  for (const char* word : {"book", "EFFECTFUL", "seat", "IDEMPOTENT", "fare", "READ_ONLY"}) {
    EXPECT_NE(check.out.find(word), std::string::npos) << word;
  }
}

TEST(CommandLine, AWrongConfigurationEndsCheckAndServeWithThePlaceAndTheCure) {
  const std::string yaml = sound("memory: {allow_volatile: true}");
  struct Row {
    const char* name;
    std::string yaml;
    const char* place;
    const char* cure;
  };
  const Row rows[] = {
      {"a misspelt key", replaced(yaml, "upstreams:", "upstream:"), ":4:1:", "upstreams"},
      {"a misspelt policy", replaced(yaml, "policy: EFFECTFUL", "policy: EFECTFUL"),
       ":10:", "EFFECTFUL"},
      {"an unknown upstream", replaced(yaml, "upstream: tool", "upstream: tol"), ":9:", "tool"},
      {"no allow_volatile", replaced(yaml, "allow_volatile: true", "allow_volatile: false"), ":",
       "allow_volatile"},
      {"no YAML", yaml + "]", ":", ""},
  };
  for (const Row& row : rows) {
    for (const char* verb : {"check", "serve"}) {
      SCOPED_TRACE(std::string(row.name) + ", " + verb);
      Command command;
      const Finished ended = command.with_config(row.yaml, {verb});
      ASSERT_TRUE(ended.exit);
      EXPECT_EQ(ended.exit->code, 2);
      EXPECT_NE(ended.err.find("semel.yaml" + std::string(row.place)), std::string::npos)
          << ended.err;
      EXPECT_NE(ended.err.find(row.cure), std::string::npos) << ended.err;
    }
  }
}

TEST(CommandLine, ServeNeverCreatesAStore) {
  Command command;
  const std::string database = command.folder.file("semel.db");
  const std::string yaml = sound("sqlite: {path: \"" + database + "\"}");
  const Finished ended = command.with_config(yaml, {"serve"});
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err.find("semel store init"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(database)) << "an empty store is not permission";
}

TEST(CommandLine, StoreInitMakesAStoreAndLeavesOneThatIsThere) {
  Command command;
  const std::string database = command.folder.file("semel.db");
  const std::string yaml = sound("sqlite: {path: \"" + database + "\"}");
  const Finished made = command.with_config(yaml, {"store", "init"});
  ASSERT_TRUE(made.exit);
  EXPECT_EQ(made.exit->code, 0) << made.err;
  EXPECT_NE((made.out + made.err).find(database), std::string::npos) << "visibly";
  const std::string before = read_file(database);
  EXPECT_FALSE(before.empty());
  const Finished again = command.with_config(yaml, {"store", "init"});
  ASSERT_TRUE(again.exit);
  EXPECT_EQ(again.exit->code, 0) << again.err;
  EXPECT_TRUE(read_file(database) == before);
}

TEST(CommandLine, ADryRunOfStoreInitShowsWhatItWouldDoAndChangesNothing) {
  Command command;
  const std::string database = command.folder.file("semel.db");
  const std::string yaml = sound("sqlite: {path: \"" + database + "\"}");
  for (const bool is_there : {false, true}) {
    if (is_there) {
      ASSERT_EQ(command.with_config(yaml, {"store", "init"}).exit->code, 0);
    }
    const std::string before = read_file(database);
    const Finished shown = command.with_config(yaml, {"store", "init", "--dry-run"});
    ASSERT_TRUE(shown.exit);
    EXPECT_EQ(shown.exit->code, 0) << shown.err;
    EXPECT_NE(shown.out.find(database), std::string::npos) << shown.out;
    EXPECT_EQ(shown.out.find("untouched") != std::string::npos, is_there) << shown.out;
    EXPECT_EQ(std::filesystem::exists(database), is_there);
    EXPECT_TRUE(read_file(database) == before);
  }
}

TEST(CommandLine, ADryRunOfStoreInitSaysWhatWouldStandInItsWay) {
  Command command;
  const std::string folder = command.folder.file("missing");
  const std::string yaml = sound("sqlite: {path: \"" + folder + "/semel.db\"}");
  const Finished shown = command.with_config(yaml, {"store", "init", "--dry-run"});
  const Finished carried_out = command.with_config(yaml, {"store", "init"});
  ASSERT_TRUE(shown.exit && carried_out.exit);
  EXPECT_EQ(shown.exit->code, carried_out.exit->code);
  EXPECT_NE(shown.exit->code, 0);
  EXPECT_EQ(shown.err, carried_out.err);
  EXPECT_NE(shown.err.find("mkdir -p " + folder), std::string::npos) << shown.err;
}

TEST(CommandLine, AnAcknowledgementIsNeverADryRun) {
  Command command;
  const Finished ended = command.with_config(sound("memory: {allow_volatile: true}"),
                                             {"store", "acknowledge", "--dry-run"});
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err.find("usage"), std::string::npos) << ended.err;
}

TEST(CommandLine, ADatabaseThatIsNoStoreIsRefused) {
  Command command;
  const std::string database = command.folder.file("semel.db");
  write_file(database,
             "this is no database at all, and longer than a header of SQLite would be...");
  const Finished ended =
      command.with_config(sound("sqlite: {path: \"" + database + "\"}"), {"serve"});
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2) << ended.err;
}

TEST(CommandLine, APortThatIsTakenEndsServe) {
  const std::uint16_t port = free_port();
  const Socket taken = Socket::listen_on(port);
  Command command;
  const std::string yaml = "version: 1\nlisten: {address: \"127.0.0.1:" + std::to_string(port) +
                           "\"}\nstore: {memory: {allow_volatile: true}}\n"
                           "upstreams: {tool: {endpoints: [\"http://127.0.0.1:9\"]}}\n" +
                           tool_routes();
  const Finished ended = command.with_config(yaml, {"serve"});
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err.find(std::to_string(port)), std::string::npos) << ended.err;
}

TEST(CommandLine, ExplainShowsTheKeyThatServeWouldSend) {
  Gateway gateway;
  EXPECT_EQ(gateway.book().status, 200);
  const std::string sent = gateway.upstream.last_received().all("Idempotency-Key").at(0);
  const Finished explained = run({semel_binary(), "explain", gateway.semel.config_file(), "--json",
                                  "-X", "POST", "/tools/book", "-H", "X-Tenant-Id: acme", "-H",
                                  "X-Run-Id: run-7", "-H", "Content-Type: application/json", "-d",
                                  R"({"name":"Zoe","seats":2.0,"flight":"BA117"})"});
  ASSERT_TRUE(explained.exit);
  EXPECT_EQ(explained.exit->code, 0) << explained.err;
  const Json json = Json::parse(explained.out);
  EXPECT_EQ(json["key"].text(), sent);
  EXPECT_EQ(json["route"].text(), "book");
  EXPECT_EQ(json["tenant"].text(), "acme");
}

TEST(CommandLine, VersionAndUnknownWords) {
  const Finished version = run({semel_binary(), "version"});
  ASSERT_TRUE(version.exit);
  EXPECT_EQ(version.exit->code, 0);
  EXPECT_NE(version.out.find("semel"), std::string::npos);
  const Finished unknown = run({semel_binary(), "sreve"});
  ASSERT_TRUE(unknown.exit);
  EXPECT_EQ(unknown.exit->code, 2);
}

}  // namespace
}  // namespace semel::testing
