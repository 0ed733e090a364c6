#include "stores/redis_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "tests/stores/fake_redis.h"
#include "tests/stores/redis_links.h"
#include "tests/support/faulty_link.h"
#include "tests/support/redis_server.h"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::Deadline;
using testing::eventually;
using testing::FakeRedis;
using testing::FaultyLink;
using ::testing::HasSubstr;
using testing::kAppend;
using testing::kEcho;
using testing::Links;
using testing::milliseconds;
using ::testing::Not;
using testing::redis_options;
using testing::RedisServer;
using testing::RedisSetup;
using testing::RunningWorker;

class RedisLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "no redis-server here";
  }
};

TEST_F(RedisLinkTest, AScriptThatTheServerDoesNotKnowIsRunAllTheSameAndOnce) {
  RedisServer server;
  Links links(redis_options(server.url()));
  for (int length = 1; length <= 3; ++length) {
    const auto reply = links.append();
    ASSERT_TRUE(reply) << name(reply.error());
    EXPECT_EQ(reply->integer, length);
    server.command({"SCRIPT", "FLUSH"});
  }
  EXPECT_EQ(server.command({"LLEN", links.list()}), "3");
}

TEST_F(RedisLinkTest, ScriptsThatAreNamedAreThereBeforeTheFirstCall) {
  RedisServer server;
  RedisHooks hooks;
  hooks.scripts = {&kEcho};
  Links links(redis_options(server.url()), std::move(hooks));
  ASSERT_TRUE(links.answers());
  EXPECT_EQ(server.command({"SCRIPT", "EXISTS", kEcho.sha1()}), "1");
  EXPECT_THAT(server.command({"INFO", "commandstats"}), Not(HasSubstr("cmdstat_eval:")));
}

TEST_F(RedisLinkTest, EachOfManyCallsAtOnceGetsItsOwnAnswerInTheOrderInWhichTheyWereAsked) {
  RedisServer server;
  // A script that the server has to be told first is asked for twice, the second time behind
  // others.
  RedisHooks hooks;
  hooks.scripts = {&kAppend};
  Links links(redis_options(server.url()), std::move(hooks));
  std::deque<std::future<Result<RedisReply>>> calls;
  for (int i = 0; i < 2'000; ++i) {
    calls.push_back(links.start(kAppend, 0, {links.list()}, {std::to_string(i)}));
  }
  for (int i = 0; i < 2'000; ++i) {
    const auto reply = RunningWorker::wait_for(std::move(calls[static_cast<std::size_t>(i)]));
    ASSERT_TRUE(reply) << name(reply.error());
    ASSERT_EQ(reply->integer, i + 1);
  }
}

TEST_F(RedisLinkTest, WhatIsAskedInOneTurnLeavesInOneWrite) {
  const FakeRedis server([](const FakeRedis::Words&) { return "$1\r\n?\r\n"; });
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  const unsigned before = server.segments();
  std::deque<std::future<Result<RedisReply>>> calls;
  links.worker.in_one_turn([&] {
    for (int i = 0; i < 100; ++i) calls.push_back(links.start(kEcho, 0, {}, {"?"}));
  });
  for (auto& call : calls) ASSERT_TRUE(RunningWorker::wait_for(std::move(call)));
  EXPECT_EQ(server.segments() - before, 1U);
}

TEST_F(RedisLinkTest, EachWorkerHasAConnectionOfItsOwn) {
  RedisServer server;
  Links links(redis_options(server.url()));
  RunningWorker second;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(links.answers());
    ASSERT_TRUE(second.run(links.links->run(kEcho, 0, {}, {"x"})));
  }
  const std::string clients = server.command({"CLIENT", "LIST"});
  std::size_t ours = 0;
  for (auto at = clients.find("name=semel "); at != std::string::npos;
       at = clients.find("name=semel ", at + 1)) {
    ++ours;
  }
  EXPECT_EQ(ours, 2U);
  links.links->close();
  second.in_one_turn([] {});
  second.stop();
}

TEST_F(RedisLinkTest, AServerThatSaysNothingEndsACallAtItsDeadlineAndItMayHaveBeenCarriedOut) {
  RedisServer server;
  RedisOptions options = redis_options(server.url());
  options.deadline = 200ms;
  Links links(options);
  ASSERT_TRUE(links.append());
  server.pause();
  EXPECT_EQ(links.append().error(), Fault::StoreTimeout);
  // It accepts connections and says nothing: it counts as down, and nothing is asked of it.
  EXPECT_EQ(links.append().error(), Fault::StoreUnreachable);
  EXPECT_EQ(links.append().error(), Fault::StoreUnreachable);
  server.resume();
  ASSERT_TRUE(eventually([&] { return links.answers(); }));
  // The first call was there before its connection was closed.
  EXPECT_EQ(server.command({"LLEN", links.list()}), "2");
}

TEST_F(RedisLinkTest, AClaimThatWasUnderWayHauntsItsLaneUntilItsTimeIsOver) {
  RedisServer server;
  RedisOptions options = redis_options(server.url());
  options.deadline = 200ms;
  Links links(options);
  ASSERT_TRUE(links.append());
  EXPECT_EQ(links.links->ghosts_until(0), StoreTime{0});
  server.pause();
  auto late = links.start(kAppend, 0, {links.list()}, {"x"}, StoreTime{7'000});
  auto later = links.start(kAppend, 0, {links.list()}, {"x"}, StoreTime{9'000});
  auto other = links.start(kAppend, 0, {links.list()}, {"x"}, StoreTime{8'000});
  EXPECT_EQ(RunningWorker::wait_for(std::move(late)).error(), Fault::StoreTimeout);
  EXPECT_EQ(RunningWorker::wait_for(std::move(later)).error(), Fault::StoreTimeout);
  EXPECT_EQ(RunningWorker::wait_for(std::move(other)).error(), Fault::StoreTimeout);
  EXPECT_EQ(links.links->ghosts_until(0), StoreTime{9'000});
  // One that was never sent does not.
  auto never = links.start(kAppend, 0, {links.list()}, {"x"}, StoreTime{99'000});
  EXPECT_EQ(RunningWorker::wait_for(std::move(never)).error(), Fault::StoreUnreachable);
  EXPECT_EQ(links.links->ghosts_until(0), StoreTime{9'000});
  server.resume();
}

TEST_F(RedisLinkTest, AServerThatIsKilledIsBackForTheNextCallersWithinTwoSeconds) {
  RedisServer server;
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  server.kill9();
  ASSERT_TRUE(eventually([&] { return !links.answers(); }));
  ASSERT_TRUE(eventually(
      [&] { return links.links->remark().find("cannot be reached") != std::string::npos; }));
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  server.restart();
  EXPECT_TRUE(eventually([&] { return links.answers(); }, 2s));
  EXPECT_EQ(links.links->remark(), "");
}

TEST_F(RedisLinkTest, TheFirstCallAfterARestartOfTheServerIsNotSpentOnTheOldConnection) {
  RedisServer server;
  RedisOptions options = redis_options(server.url());
  asio::io_context io;
  RedisLinks links(options, {});
  const auto call = [&] {
    std::optional<Result<RedisReply>> reply;
    asio::co_spawn(io, links.run(kEcho, 0, {}, {"x"}),
                   [&](std::exception_ptr, Result<RedisReply> got) { reply = std::move(got); });
    io.restart();
    const testing::Deadline deadline(10s);
    while (!reply && !deadline.passed()) io.run_one_for(1s);
    return *reply;
  };
  ASSERT_TRUE(call());
  for (int i = 0; i < 3; ++i) {
    // Nobody lets the worker run meanwhile, so that it does not know.
    server.restart();
    const auto reply = call();
    EXPECT_TRUE(reply) << name(reply.error());
  }
  links.close();
  io.restart();
  io.poll();
}

TEST_F(RedisLinkTest, ACallWhoseConnectionBreaksBeforeItsAnswerMayHaveBeenCarriedOut) {
  const FakeRedis server([](const FakeRedis::Words& command) {
    return std::string(command.back() == "break" ? FakeRedis::kHangUp : "$1\r\n?\r\n");
  });
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  EXPECT_EQ(links.echo("break").error(), Fault::StoreTimeout);
  EXPECT_TRUE(eventually([&] { return links.answers(); }));
}

TEST_F(RedisLinkTest, AServerThatAnswersWhatNobodyAskedIsNotBelieved) {
  const FakeRedis server([](const FakeRedis::Words& command) {
    return std::string(command.back() == "odd" ? "%no protocol\r\n" : "$1\r\n?\r\n");
  });
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  EXPECT_EQ(links.echo("odd").error(), Fault::StoreTimeout);
  EXPECT_TRUE(eventually([&] { return links.answers(); }));
}

TEST_F(RedisLinkTest, APrimaryThatIsDemotedWhileItRunsTakesNothing) {
  RedisServer other;
  RedisServer server;
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.append());
  server.command({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  EXPECT_EQ(links.append().error(), Fault::StoreUnreachable);
  ASSERT_TRUE(eventually([&] {
    return links.append().error() == Fault::StoreUnreachable && !links.links->remark().empty();
  }));
  EXPECT_THAT(links.links->remark(), HasSubstr("replica"));
  server.command({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(eventually([&] { return links.answers(); }));
}

TEST_F(RedisLinkTest, AServerWithoutMemoryIsFullAndNothingWasChanged) {
  RedisSetup setup;
  setup.maxmemory = "4mb";
  RedisServer server(setup);
  Links links(redis_options(server.url()));
  const std::string text(1'000, 'x');
  int taken = 0;
  auto reply = links.run(kAppend, {links.list()}, {text});
  for (; reply && taken < 10'000; ++taken) reply = links.run(kAppend, {links.list()}, {text});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), Fault::StoreFull);
  EXPECT_EQ(server.command({"LLEN", links.list()}), std::to_string(taken));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(links.append());
}

TEST_F(RedisLinkTest, AScriptsOwnErrorIsHandedOn) {
  RedisServer server;
  Links links(redis_options(server.url()));
  const RedisScript refuses("return redis.error_reply('SUSPECT it is')");
  const auto reply = links.run(refuses, {}, {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code(), "SUSPECT");
}

TEST_F(RedisLinkTest, ABusyServerRefusesAndSaysSoUntilItAnswersAgain) {
  RedisServer server;
  server.command({"CONFIG", "SET", "busy-reply-threshold", "1"});
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  auto other = server.client();
  ASSERT_TRUE(other.send({"EVAL", "while true do end", "0"}));
  ASSERT_TRUE(eventually(
      [&] { return !links.append() && links.links->remark().find("BUSY") != std::string::npos; }));
  server.command({"SCRIPT", "KILL"});
  ASSERT_TRUE(eventually([&] { return links.answers(); }));
  EXPECT_EQ(links.links->remark(), "");
}

/// As when the program ends in the middle of everything: nothing is left behind and nothing is
/// touched that is gone.
TEST_F(RedisLinkTest, AWorkerThatEndsWithCallsUnderWayTakesThemAlong) {
  RedisServer server;
  RedisOptions options = redis_options(server.url());
  options.wait_replicas = 1;
  std::weak_ptr<int> held;
  {
    std::optional<RedisLinks> links(std::in_place, options, RedisHooks{});
    asio::io_context io;
    const auto token = std::make_shared<int>(1);
    held = token;
    for (int i = 0; i < 3; ++i) {
      asio::co_spawn(io, links->run(kEcho, 0, {}, {"x"}),
                     [token](std::exception_ptr, const Result<RedisReply>&) {
                       ADD_FAILURE() << "nobody has acknowledged anything";
                     });
    }
    links->subscribe(io.get_executor(), {"news"}, [token](auto, auto) {}, [token] {});
    // In the middle of the greeting, then of the call that waits for its replica.
    while (server.info("total_commands_processed").size() < 2) io.run_one_for(10ms);
    for (int i = 0; i < 200; ++i) io.poll_one();
    links->close();
    links.reset();
  }
  EXPECT_TRUE(held.expired());
}

TEST_F(RedisLinkTest, ClosingEndsWhatIsUnderWay) {
  RedisServer server;
  Links links(redis_options(server.url()));
  ASSERT_TRUE(links.answers());
  server.pause();
  auto call = links.start(kEcho, 0, {}, {"x"});
  links.worker.in_one_turn([] {});
  links.links->close();
  EXPECT_FALSE(RunningWorker::wait_for(std::move(call)));
  EXPECT_EQ(links.fault(), Fault::StoreUnreachable);
  server.resume();
}

TEST_F(RedisLinkTest, AServerThatOneWorkerHasReachedAgainIsDownForNone) {
  const RedisServer server;
  FaultyLink way(server.port());
  Links links(redis_options("redis://127.0.0.1:" + std::to_string(way.port())));
  RunningWorker other;
  const auto others_reply = [&] {
    return other.run(links.links->run(kEcho, 0, {links.list()}, {"?"}));
  };
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(eventually([&] { return links.answers() && others_reply().has_value(); }));
    way.lead_to(1);  // Where nobody listens.
    server.command({"CLIENT", "KILL", "TYPE", "normal"});
    ASSERT_TRUE(eventually([&] { return !links.answers() && !others_reply().has_value(); }));
    // Both have tried in vain for so long that their pauses are long ones.
    const Deadline away(milliseconds{2'000});
    while (!away.passed()) EXPECT_FALSE(links.answers() || others_reply().has_value());
    way.lead_to(server.port());
    ASSERT_TRUE(eventually([&] { return links.answers(); }));
    EXPECT_TRUE(others_reply().has_value()) << round;
  }
  links.links->close();
  other.stop();
}

}  // namespace
}  // namespace semel
