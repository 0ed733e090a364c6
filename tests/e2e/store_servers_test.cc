// What the tests say of the servers that they start has to be true before it can judge a store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/moved_wall.h"
#include "tests/support/postgres_server.h"
#include "tests/support/process_tree.h"
#include "tests/support/redis_group.h"
#include "tests/support/redis_server.h"

namespace semel::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr seconds kTwoDays{48 * 3'600};

class OnRedis : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "redis-server is not installed";
  }
};

class OnPostgres : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "postgresql-15 is not installed";
  }
};

using RedisServers = OnRedis;
using PostgresServers = OnPostgres;

/// A number of seconds, and what may follow it.
seconds seconds_in(const std::string& printed) { return seconds{std::stoll(printed)}; }

const std::string kClock = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint";

TEST_F(RedisServers, KeepWhatTheyAcknowledgedOverAKill) {
  RedisServer server;
  server.command({"SET", "a", "1"});
  server.kill9();
  EXPECT_FALSE(server.client(milliseconds{200}).is_connected());
  server.restart();
  EXPECT_EQ(server.command({"GET", "a"}), "1");
}

TEST_F(RedisServers, SeeTheMovedWallAlsoInAScript) {
  MovedWall wall;
  RedisSetup setup;
  setup.wall = &wall;
  RedisServer server(setup);
  const auto told = [&] { return seconds_in(server.command({"TIME"})); };
  const auto told_in_a_script = [&] {
    return seconds_in(server.command({"EVAL", "return redis.call('TIME')", "0"}));
  };
  const seconds before = told();
  for (const seconds ahead : {kTwoDays, -kTwoDays}) {
    wall.move_to(ahead);
    EXPECT_NEAR(static_cast<double>((told() - before - ahead).count()), 0, 60);
    EXPECT_NEAR(static_cast<double>((told_in_a_script() - before - ahead).count()), 0, 60);
  }
}

TEST_F(RedisServers, ThatArePausedSayNothingUntilTheyGoOn) {
  RedisServer server;
  server.pause();
  RespClient client = server.client(milliseconds{100});
  EXPECT_TRUE(client.is_connected());
  EXPECT_FALSE(client.ask({"PING"}));
  server.resume();
  EXPECT_EQ(server.command({"PING"}), "PONG");
}

TEST_F(RedisServers, KnowTheirUsersAndSpeakTls) {
  RedisSetup setup;
  setup.users = {"user default off", "user semel on >secret ~semel:* &* +@all"};
  setup.has_tls = true;
  const RedisServer server(setup);
  EXPECT_EQ(server.command({"SET", "other", "1"}), "OK");
  RespClient stranger(server.port());
  EXPECT_EQ(stranger.ask({"GET", "other"})->kind, RespValue::Kind::Error);
  EXPECT_EQ(stranger.ask({"AUTH", "semel", "secret"})->text, "OK");
  EXPECT_THAT(stranger.ask({"GET", "other"})->text, HasSubstr("NOPERM"));
  const Finished tls = run({"/usr/bin/redis-cli", "--tls", "--cacert", server.certificates().ca,
                            "-h", "localhost", "-p", std::to_string(server.tls_port()), "--user",
                            "semel", "--pass", "secret", "--no-auth-warning", "PING"});
  EXPECT_EQ(tls.out, "PONG\n") << tls.err;
}

TEST_F(RedisServers, AreFollowedByReplicasAndSentinels) {
  RedisServer primary;
  RedisSetup setup;
  setup.replica_of = primary.port();
  RedisServer replica(setup);
  ASSERT_TRUE(eventually([&] { return replica.info("master_link_status") == "up"; }));
  SentinelSetup watched;
  watched.master_port = primary.port();
  const SentinelServer sentinel(watched);
  EXPECT_EQ(sentinel.master_port(), primary.port());
  ASSERT_TRUE(sentinel.knows(1, 0));
  RespClient writer = primary.client(milliseconds{10'000});  // WAIT is for its own writes.
  EXPECT_EQ(writer.ask({"SET", "a", "1"})->text, "OK");
  EXPECT_EQ(writer.ask({"WAIT", "1", "5000"})->text, "1");
  primary.kill9();
  EXPECT_TRUE(eventually([&] { return sentinel.master_port() == replica.port(); }, seconds{30}));
  EXPECT_TRUE(eventually([&] { return replica.info("role") == "master"; }));
  EXPECT_EQ(replica.command({"GET", "a"}), "1");
}

TEST_F(RedisServers, JoinAClusterWhoseSlotsMove) {
  RedisCluster cluster;
  const int slot = std::stoi(cluster.node(0).command({"CLUSTER", "KEYSLOT", "{a}1"}));
  const std::size_t from = cluster.owner_of(slot);
  const std::size_t to = (from + 1) % 3;
  cluster.node(from).command({"SET", "{a}1", "x"});
  cluster.begin_move(slot, to);
  EXPECT_THAT(cluster.node(from).client().ask({"GET", "{a}2"})->text, HasSubstr("ASK "));
  cluster.end_move(slot, to);
  EXPECT_THAT(cluster.node(from).client().ask({"GET", "{a}1"})->text, HasSubstr("MOVED "));
  EXPECT_EQ(cluster.node(to).command({"GET", "{a}1"}), "x");
}

TEST_F(PostgresServers, KeepWhatTheyCommittedOverAKillOfTheWholeTree) {
  PostgresServer server;
  server.sql("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)");
  const std::vector<pid_t> children = children_of(server.pid());
  EXPECT_GE(children.size(), 4U);
  server.kill9();
  for (const pid_t child : children) EXPECT_TRUE(is_gone(child));
  server.restart();
  EXPECT_EQ(server.sql("SELECT a, a * 2 FROM t ORDER BY a"), "1|2\n2|4");
}

TEST_F(PostgresServers, SeeTheMovedWallInEverySession) {
  MovedWall wall;
  PostgresSetup setup;
  setup.wall = &wall;
  const PostgresServer server(setup);
  const seconds before = seconds_in(server.sql(kClock));
  for (const seconds ahead : {kTwoDays, -kTwoDays}) {
    wall.move_to(ahead);
    EXPECT_NEAR(static_cast<double>((seconds_in(server.sql(kClock)) - before - ahead).count()), 0,
                60);
  }
}

TEST_F(PostgresServers, ThatArePausedSayNothingUntilTheyGoOn) {
  PostgresServer server;
  server.pause();
  Socket socket = Socket::connect_to(server.port(), Deadline(milliseconds{1'000}));
  ASSERT_TRUE(socket.is_open());
  // SSLRequest of the protocol: a server that goes on answers it with one letter.
  ASSERT_TRUE(socket.send_all(std::string_view("\0\0\0\x08\x04\xd2\x16\x2f", 8),
                              Deadline(milliseconds{1'000})));
  std::string answer;
  EXPECT_EQ(socket.read_some(answer, Deadline(milliseconds{100})), Incoming::TimedOut);
  server.resume();
  EXPECT_EQ(socket.read_some(answer, Deadline(milliseconds{10'000})), Incoming::Bytes);
  EXPECT_EQ(answer, "N");
  EXPECT_EQ(server.sql("SELECT 1"), "1");
}

TEST_F(PostgresServers, AskForPasswordsAndSpeakTls) {
  PostgresSetup setup;
  setup.has_tls = true;
  setup.access = {"hostssl all all 127.0.0.1/32 scram-sha-256"};
  const PostgresServer server(setup);
  server.sql("ALTER USER semel PASSWORD 'secret'");
  const auto asked = [&](const std::string& more) {
    return run({"/usr/bin/psql", "-XAtc", "SELECT 1",
                "host=127.0.0.1 port=" + std::to_string(server.port()) +
                    " user=semel dbname=postgres sslrootcert=" + server.certificates().ca + more});
  };
  EXPECT_EQ(asked(" sslmode=verify-full password=secret").out, "1\n");
  EXPECT_THAT(asked(" sslmode=verify-full password=wrong").err, HasSubstr("authentication failed"));
  EXPECT_THAT(asked(" sslmode=disable password=secret").err, HasSubstr("no encryption"));
}

TEST_F(PostgresServers, AreFollowedByAStandbyThatCanBePromoted) {
  PostgresSetup setup;
  setup.settings = {"synchronous_standby_names = 'standby'", "synchronous_commit = local"};
  PostgresServer primary(setup);
  PostgresServer standby(primary, PostgresSetup{});
  EXPECT_EQ(standby.sql("SELECT pg_is_in_recovery()"), "t");
  ASSERT_TRUE(eventually(
      [&] { return primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync"; }));
  primary.sql("SET synchronous_commit = remote_apply; CREATE TABLE t AS SELECT 7 AS a");
  primary.kill9();
  standby.promote();
  EXPECT_EQ(standby.sql("SELECT pg_is_in_recovery(), a FROM t"), "f|7");
}

TEST_F(PostgresServers, AreRestoredToWhatTheBackupHad) {
  PostgresServer server;
  server.sql("CREATE TABLE t AS SELECT 1 AS a");
  server.back_up();
  server.sql("UPDATE t SET a = 2");
  server.restore();
  EXPECT_EQ(server.sql("SELECT a FROM t"), "1");
}

TEST_F(PostgresServers, AreOneSystemUnlessOneIsAskedForOfItsOwn) {
  const std::string which = "SELECT system_identifier FROM pg_control_system()";
  PostgresSetup own;
  own.has_own_system_id = true;
  const std::string common = PostgresServer().sql(which);
  EXPECT_EQ(PostgresServer().sql(which), common);
  EXPECT_NE(PostgresServer(own).sql(which), common);
}

/// Servers that were started by a program which is killed before it can end them.
template <class Server>
void expect_death_of(const char* name) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t starter = ::fork();
  if (starter == 0) {
    const Server server;
    const pid_t pid = server.pid();
    if (::write(pipe[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t server = 0;
  ASSERT_EQ(::read(pipe[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
  const std::vector<pid_t> children = children_of(server);
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return is_gone(server); })) << name;
  for (const pid_t child : children) {
    EXPECT_TRUE(eventually([&] { return is_gone(child); })) << name << "'s child";
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(RedisServers, DieWithTheTestProgram) { expect_death_of<RedisServer>("redis-server"); }
TEST_F(PostgresServers, DieWithTheTestProgram) { expect_death_of<PostgresServer>("postgres"); }

}  // namespace
}  // namespace semel::testing
