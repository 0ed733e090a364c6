#include "stores/redis_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/stores/running_worker.h"
#include "tests/support/redis_server.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using ::testing::HasSubstr;
using testing::RedisServer;
using testing::RedisSetup;
using testing::RunningWorker;

const RedisScript kAppend(
    "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('LLEN', KEYS[1])");
const RedisScript kEcho("return ARGV[1]");

/// One store's links, called from one worker.
class Links {
 public:
  explicit Links(RedisOptions options, RedisHooks hooks = {})
      : links(std::in_place, options, std::move(hooks)) {}
  ~Links() {
    links->close();
    worker.stop();
    links.reset();
  }

  std::future<Result<RedisReply>> start(const RedisScript& script, std::vector<std::string> keys,
                                        std::vector<std::string> args,
                                        StoreTime not_after = StoreTime{0}) {
    return worker.start(links->run(script, 0, std::move(keys), std::move(args), not_after));
  }
  Result<RedisReply> run(const RedisScript& script, std::vector<std::string> keys,
                         std::vector<std::string> args) {
    return RunningWorker::wait_for(start(script, std::move(keys), std::move(args)));
  }
  Result<RedisReply> echo(const std::string& word) { return run(kEcho, {"{semel}"}, {word}); }
  bool answers() {
    const auto reply = echo("?");
    return reply && reply->text == "?";
  }

  RunningWorker worker;
  std::optional<RedisLinks> links;
};

RedisOptions options_of(const std::string& url) {
  RedisOptions options;
  options.url = url;
  return options;
}

class RedisLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "no redis-server here";
  }
};

TEST_F(RedisLinkTest, AScriptThatTheServerDoesNotKnowIsRunAllTheSameAndOnce) {
  RedisServer server;
  Links links(options_of(server.url()));
  for (int length = 1; length <= 3; ++length) {
    const auto reply = links.run(kAppend, {"{semel}:list"}, {"x"});
    ASSERT_TRUE(reply) << name(reply.error());
    EXPECT_EQ(reply->integer, length);
    server.command({"SCRIPT", "FLUSH"});
  }
  EXPECT_EQ(server.command({"LLEN", "{semel}:list"}), "3");
}

TEST_F(RedisLinkTest, AServerThatIsKilledIsBackForTheNextCallersWithinTwoSeconds) {
  RedisServer server;
  Links links(options_of(server.url()));
  ASSERT_TRUE(links.answers());
  server.kill9();
  ASSERT_TRUE(eventually([&] { return !links.answers(); }));
  EXPECT_EQ(links.echo("x").error(), Fault::StoreUnreachable);
  server.restart();
  EXPECT_TRUE(eventually([&] { return links.answers(); }, 2s));
}

}  // namespace
}  // namespace semel
