// What calls may rely on when PostgreSQL is killed, hung, replaced or not what it should be.

#include <gmock/gmock.h>

#include "stores/pg_links.h"
#include "tests/stores/pg_worker.h"
#include "tests/support/faulty_link.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;

const PgStatement kPing{"ping", "SELECT 1::int8", PgStatement::Kind::Read, {}};
const PgStatement kSleep{"sleep", "SELECT pg_sleep(30)", PgStatement::Kind::Write, {}};
const PgStatement kInsert{
    "insert", "INSERT INTO public.kept VALUES ($1)", PgStatement::Kind::Write, {PgType::Int8}};
const PgStatement kSize{"size", "SELECT length($1)", PgStatement::Kind::Read, {PgType::Bytea}};

/// Longer than the usual one: a loaded machine takes its time.
constexpr milliseconds kDeadline{2'000};

class PgOutage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  static PostgresOptions at(const PostgresServer& server) {
    PostgresOptions options;
    options.url = server.url();
    options.deadline = kDeadline;
    return options;
  }
  static PostgresOptions through(const PostgresServer& server, const FaultyLink& address) {
    PostgresOptions options = at(server);
    options.url = "postgres://semel@127.0.0.1:" + std::to_string(address.port()) + "/postgres";
    return options;
  }
  static bool is_running(const PostgresServer& server, const std::string& query) {
    return server.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = '" +
                      query + "'") == "1";
  }
};

TEST_F(PgOutage, ACallInFlightWhenTheServerIsKilledMayHaveBeenCarriedOut) {
  PostgresServer server;
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_LT(links.ghosts_until(), asked);
  const auto replies = worker.begin({{&kSleep, {}}});
  ASSERT_TRUE(worker.turn_until([&] { return is_running(server, kSleep.sql); }));
  server.kill9();
  ASSERT_TRUE(worker.finish(replies));
  EXPECT_EQ(fault_of(*replies->front()), Fault::StoreTimeout);
  EXPECT_GE(links.ghosts_until(), asked + kDeadline);
  EXPECT_FALSE(links.state().up);
  // Nothing is asked while it is down, and nobody waits for that.
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreUnreachable);
  server.restart();
  const auto there = std::chrono::steady_clock::now();
  EXPECT_TRUE(worker.asks_until_answered(kPing));
  const auto back_after = std::chrono::steady_clock::now() - there;
  RecordProperty("back_after_ms", static_cast<int>(back_after / milliseconds{1}));
  EXPECT_TRUE(links.state().up);
}

TEST_F(PgOutage, AServerThatHangsIsDownAfterTheDeadlineAndBackWhenItGoesOn) {
  PostgresServer server;
  server.sql("CREATE TABLE kept (id bigint)");
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  server.pause();
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(1)})), Fault::StoreTimeout);
  EXPECT_THAT(links.state().trouble, HasSubstr("deadline"));
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(2)})), Fault::StoreUnreachable);
  // New connections hang, too: still nobody waits.
  EXPECT_TRUE(worker.turn_until(
      [&] { return links.state().trouble.find("no answer in time") != std::string::npos; }));
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(2)})), Fault::StoreUnreachable);
  server.resume();
  EXPECT_TRUE(worker.asks_until_answered(kPing));
  // The first was carried out after all, as StoreTimeout says; the others never were.
  EXPECT_TRUE(worker.turn_until([&] { return server.sql("SELECT id FROM kept") == "1"; }));
}

TEST_F(PgOutage, CallsThatTheSocketHadNoRoomForWereNotCarriedOut) {
  PostgresServer server;
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  server.pause();
  std::vector<PgAsked> questions;
  for (int i = 0; i < 64; ++i) questions.push_back({&kSize, {std::string(1 << 20, 'x')}});
  const auto replies = worker.ask_together(std::move(questions));
  EXPECT_EQ(fault_of(replies.front()), Fault::StoreTimeout);
  EXPECT_EQ(fault_of(replies.back()), Fault::StoreUnreachable);
  server.resume();
  EXPECT_TRUE(worker.asks_until_answered(kPing));
}

TEST_F(PgOutage, MoreThanTheSocketTakesAtOnceGoesThroughAllTheSame) {
  PostgresServer server;
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  std::vector<PgAsked> questions;
  for (int i = 0; i < 24; ++i) questions.push_back({&kSize, {std::string(1 << 20, 'x')}});
  for (const auto& reply : worker.ask_together(std::move(questions))) {
    EXPECT_EQ(number_of(reply), 1 << 20);
  }
}

TEST_F(PgOutage, AnOrderlyRestartIsNoticedBeforeTheNextCallIsWritten) {
  PostgresServer server;
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  // The worker stands still meanwhile: it has not seen the connection end when the call is asked.
  server.restart();
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreUnreachable);
  EXPECT_TRUE(worker.asks_until_answered(kPing));
}

TEST_F(PgOutage, AServerThatIsNotThereYetIsFoundWhenItComes) {
  PostgresServer server;
  server.stop();
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreUnreachable);
  EXPECT_THAT(links.state().trouble, HasSubstr("refused"));
  server.restart();
  EXPECT_TRUE(worker.asks_until_answered(kPing));
}

TEST_F(PgOutage, AWorkerThatStoodStillWhileItConnectedTriesAgain) {
  PostgresServer server;
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  const auto early = worker.begin({{&kPing, {}}});
  // The connection is under way when the worker stops turning, for longer than it may take.
  worker.io().restart();
  worker.io().poll();
  const Deadline stands_still(kDeadline + milliseconds{500});
  ASSERT_TRUE(eventually([&] { return stands_still.passed(); }));
  const auto late = worker.begin({{&kPing, {}}});
  ASSERT_TRUE(worker.finish(early));
  ASSERT_TRUE(worker.finish(late));
  EXPECT_EQ(number_of(*late->front()), 1);
}

TEST_F(PgOutage, AStandbyIsRefusedUntilItIsPromoted) {
  PostgresServer primary;
  PostgresServer standby(primary, PostgresSetup{});
  PgLinks links(at(standby), one_connection());
  PgWorker worker(links);
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreUnreachable);
  EXPECT_THAT(links.state().trouble, HasSubstr("standby"));
  primary.kill9();
  standby.promote();
  EXPECT_TRUE(worker.asks_until_answered(kPing));
  EXPECT_EQ(links.state().facts->timeline, 2u);
}

TEST_F(PgOutage, OfSeveralHostsTheOneThatTakesWritesIsUsed) {
  PostgresServer primary;
  PostgresServer standby(primary, PostgresSetup{});
  PostgresServer nobody;
  nobody.stop();
  PostgresOptions options;
  options.url = "postgres://semel@127.0.0.1:" + std::to_string(nobody.port()) +
                ",127.0.0.1:" + std::to_string(standby.port()) +
                ",localhost:" + std::to_string(primary.port()) + "/postgres";
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const PgStatement port{"port", "SELECT inet_server_port()", PgStatement::Kind::Read, {}};
  EXPECT_EQ(number_of(worker.ask(port)), primary.port());
}

TEST_F(PgOutage, AServerThatBecomesReadOnlyIsDownUntilItTakesWritesAgain) {
  PostgresServer server;
  server.sql("CREATE TABLE kept (id bigint)");
  PgLinks links(at(server), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  EXPECT_TRUE(worker.ask(kInsert, {pg_int8(1)}));
  server.sql("ALTER SYSTEM SET default_transaction_read_only = on");
  server.sql("SELECT pg_reload_conf()");
  EXPECT_TRUE(worker.turn_until([&] { return !worker.ask(kInsert, {pg_int8(2)}).has_value(); }));
  EXPECT_TRUE(worker.turn_until([&] { return !links.state().up; }));
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreUnreachable);
  server.sql("ALTER SYSTEM RESET default_transaction_read_only");
  server.sql("SELECT pg_reload_conf()");
  EXPECT_TRUE(worker.asks_until_answered(kPing));
}

TEST_F(PgOutage, ACommitThatNoStandbyConfirmedIsNoSuccess) {
  PostgresServer server;
  server.sql("CREATE TABLE kept (id bigint)");
  server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  server.sql("SELECT pg_reload_conf()");
  PostgresOptions options = at(server);
  options.deadline = std::chrono::seconds(20);
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(
      worker.turn_until([&] { return server.sql("SHOW synchronous_standby_names") == "nobody"; }));
  const auto replies = worker.begin({{&kInsert, {pg_int8(1)}}});
  ASSERT_TRUE(worker.turn_until([&] {
    return server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1";
  }));
  server.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  ASSERT_TRUE(worker.finish(replies));
  EXPECT_EQ(fault_of(*replies->front()), Fault::StoreTimeout);
  EXPECT_EQ(server.sql("SELECT id FROM kept"), "1");
}

/// Commits wait for a standby that is not there.
void wait_for_nobody(const PostgresServer& server) {
  server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  server.sql("SELECT pg_reload_conf()");
  ASSERT_TRUE(eventually([&] { return server.sql("SHOW synchronous_standby_names") == "nobody"; }));
}
void wait_for_none(const PostgresServer& server) {
  server.sql("ALTER SYSTEM RESET synchronous_standby_names");
  server.sql("SELECT pg_reload_conf()");
}
int count_of(const PostgresServer& server, const std::string& which) {
  return std::stoi(server.sql(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'semel' AND " + which));
}
constexpr char kWaitsForStandby[] = "wait_event = 'SyncRep'";

TEST_F(PgOutage, ACommitThatWaitsForAStandbyKeepsItsLaneDownAndCostsNoSecondBackend) {
  PostgresServer server;
  server.sql("CREATE TABLE kept (id bigint)");
  PgLinkOptions two;
  two.connections_per_worker = 2;
  PgLinks links(at(server), two);
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing, 0));
  ASSERT_TRUE(worker.asks_until_answered(kPing, 1));
  wait_for_nobody(server);
  const auto stuck =
      worker.ask_together({{&kInsert, {pg_int8(1)}, 0}, {&kInsert, {pg_int8(2)}, 1}});
  for (const auto& reply : stuck) EXPECT_EQ(fault_of(reply), Fault::StoreTimeout);
  // Whoever comes now is told at once that nothing was asked; the server is told of nothing more.
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(3)}, i % 2)), Fault::StoreUnreachable);
    EXPECT_EQ(count_of(server, kWaitsForStandby), 2);
    EXPECT_LE(count_of(server, "true"), 3) << "one that watches";
    static_cast<void>(worker.turn_until([] { return false; }, milliseconds{100}));
  }
  EXPECT_THAT(links.state().trouble, HasSubstr("SyncRep"));
  wait_for_none(server);
  EXPECT_TRUE(worker.asks_until_answered(kPing, 0));
  EXPECT_TRUE(worker.asks_until_answered(kPing, 1));
  EXPECT_EQ(server.sql("SELECT string_agg(id::text, ',' ORDER BY id) FROM kept"), "1,2");
}

TEST_F(PgOutage, AServerThatTakesTheOthersPlaceIsNotAskedToWaitForIt) {
  PostgresServer server;
  server.sql("CREATE TABLE kept (id bigint)");
  PostgresServer next;
  FaultyLink address(server.port());
  PgLinks links(through(server, address), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  wait_for_nobody(server);
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(1)})), Fault::StoreTimeout);
  address.lead_to(next.port());
  // The connection that watches over the old one ends with its server's standing there.
  address.arm({FaultyLink::Way::Back, FaultyLink::How::Reset, 0});
  EXPECT_TRUE(worker.asks_until_answered(kPing));
  EXPECT_EQ(count_of(server, kWaitsForStandby), 1);
  EXPECT_EQ(count_of(next, "true"), 1);
}

TEST_F(PgOutage, ABackendThatOnlyListensToAConnectionThatIsGoneKeepsNobodyWaiting) {
  PostgresServer server;
  FaultyLink address(server.port());
  PgLinks links(through(server, address), one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  // The question is lost on its way, and so is the connection's end.
  address.arm({FaultyLink::Way::Forth, FaultyLink::How::Stall, 0});
  EXPECT_EQ(fault_of(worker.ask(kPing)), Fault::StoreTimeout);
  EXPECT_TRUE(worker.asks_until_answered(kPing));
  EXPECT_EQ(count_of(server, "true"), 2) << "the old one is there still";
}

TEST_F(PgOutage, TheListenerListensAgainAndSaysWhatItMayHaveMissed) {
  PostgresServer server;
  std::vector<std::string> heard;
  int losses = 0;
  auto link_options = one_connection();
  link_options.listening = {"news", [&](std::string_view payload) { heard.emplace_back(payload); },
                            [&] { ++losses; }};
  PgLinks links(at(server), link_options);
  PgWorker worker(links);
  ASSERT_TRUE(worker.asks_until_answered(kPing));
  ASSERT_TRUE(worker.turn_until([&] { return losses == 1; }));
  server.kill9();
  ASSERT_TRUE(worker.turn_until([&] { return losses == 2; }));
  server.restart();
  ASSERT_TRUE(worker.turn_until([&] { return losses == 3; }));
  server.sql("NOTIFY news, 'again'");
  EXPECT_TRUE(worker.turn_until([&] { return !heard.empty(); }));
  EXPECT_EQ(heard.front(), "again");
  // One that hangs is deaf: that, too, is noticed.
  server.pause();
  EXPECT_TRUE(worker.turn_until([&] { return losses == 4; }));
  server.resume();
  EXPECT_TRUE(worker.turn_until([&] { return losses == 5; }));
}

}  // namespace
}  // namespace semel::testing
