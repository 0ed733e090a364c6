// What calls may rely on while PostgreSQL answers. What happens when it does not: pg_outage_test.

#include "stores/pg_links.h"

#include <gmock/gmock.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <set>
#include <thread>

#include "stores/pg_session.h"
#include "tests/stores/pg_worker.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PgStatement kEcho{"echo", "SELECT $1", PgStatement::Kind::Read, {PgType::Bytea}};
const PgStatement kNumber{"number", "SELECT $1", PgStatement::Kind::Read, {PgType::Int8}};
const PgStatement kBackend{"backend", "SELECT pg_backend_pid()", PgStatement::Kind::Read, {}};
const PgStatement kInsert{
    "insert", "INSERT INTO public.kept (id) VALUES ($1)", PgStatement::Kind::Write, {PgType::Int8}};
const PgStatement kTouch{"touch",
                         "UPDATE public.kept SET touched = touched + 1 WHERE id = $1",
                         PgStatement::Kind::Write,
                         {PgType::Int8}};

/// One server for all tests of this file that leave it standing.
PostgresServer& server() {
  static PostgresServer shared;
  return shared;
}

class PgLinksTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!PostgresServer::is_installed()) return;
    server().sql(
        "CREATE TABLE kept (id bigint PRIMARY KEY CHECK (id <> 13), touched int DEFAULT 0);"
        "CREATE TABLE late (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  }
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
    server().sql("TRUNCATE kept, late");
    options.url = server().url();
    options.deadline = milliseconds{4'000};  // A loaded machine takes its time.
  }
  static std::vector<PgAsked> inserts(std::int64_t first, std::int64_t last) {
    std::vector<PgAsked> all;
    for (std::int64_t id = first; id <= last; ++id) all.push_back({&kInsert, {pg_int8(id)}});
    return all;
  }

  PostgresOptions options;
};

/// Segments with content that this process has sent to the server's port.
std::uint64_t segments_sent_to(std::uint16_t port) {
  std::uint64_t segments = 0;
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
    tcp_info told{};
    size = sizeof told;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &told, &size) == 0)
      segments += told.tcpi_data_segs_out;
  }
  return segments;
}

TEST_F(PgLinksTest, AThousandCallsOfOneTurnLeaveTogether) {
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.ask(kNumber, {pg_int8(0)}));
  const auto before = segments_sent_to(server().port());
  std::vector<PgAsked> questions;
  for (std::int64_t i = 0; i < 1'000; ++i) questions.push_back({&kNumber, {pg_int8(i)}});
  const auto replies = worker.ask_together(std::move(questions));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    ASSERT_EQ(number_of(replies[i]), static_cast<std::int64_t>(i));
  }
  const auto sent = segments_sent_to(server().port()) - before;
  EXPECT_GE(sent, 1u);
  EXPECT_LE(sent, 20u);
}

TEST_F(PgLinksTest, BytesOfEveryValueComeBackAsTheyWere) {
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  EXPECT_EQ(value_of(worker.ask(kEcho, {bytes})), bytes);
  EXPECT_EQ(value_of(worker.ask(kEcho, {""})), "");
  const auto absent = worker.ask(kEcho, {std::nullopt});
  ASSERT_TRUE(absent);
  EXPECT_EQ(absent->rows.at(0).at(0), std::nullopt);
}

TEST_F(PgLinksTest, OneCallThatFailsAmongManyFailsAlone) {
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const auto replies = worker.ask_together(inserts(1, 20));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].has_value(), i + 1 != 13) << i + 1;
  }
  EXPECT_EQ(fault_of(replies[12]), Fault::StoreUnreachable);
  EXPECT_EQ(server().sql("SELECT count(*), max(id) FROM kept"), "19|20");
}

TEST_F(PgLinksTest, OneCallWhoseCommitFailsFailsAlone) {
  const PgStatement late{
      "late", "INSERT INTO public.late VALUES ($1)", PgStatement::Kind::Write, {PgType::Int8}};
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  std::vector<PgAsked> questions;
  for (const std::int64_t id : {1, 2, 2, 3}) questions.push_back({&late, {pg_int8(id)}});
  const auto replies = worker.ask_together(std::move(questions));
  EXPECT_TRUE(replies[0]);
  EXPECT_TRUE(replies[1]);
  EXPECT_EQ(fault_of(replies[2]), Fault::StoreUnreachable);
  EXPECT_TRUE(replies[3]);
  EXPECT_EQ(server().sql("SELECT string_agg(id::text, ',' ORDER BY id) FROM late"), "1,2,3");
}

TEST_F(PgLinksTest, ACallThatWaitsForALockGivesUpAloneAndTheOneBehindItGoesOn) {
  server().sql("INSERT INTO kept (id) VALUES (1), (2)");
  PgSession other(options);
  other.run("BEGIN; UPDATE public.kept SET touched = 7 WHERE id = 1");
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const auto replies = worker.ask_together({{&kTouch, {pg_int8(1)}}, {&kTouch, {pg_int8(2)}}});
  EXPECT_EQ(fault_of(replies[0]), Fault::StoreUnreachable);
  EXPECT_TRUE(replies[1]);
  EXPECT_THAT(links.state().trouble, HasSubstr("55P03"));
  other.run("COMMIT");
  EXPECT_TRUE(worker.ask(kTouch, {pg_int8(1)})) << links.state().trouble;
  EXPECT_EQ(server().sql("SELECT id, touched FROM kept ORDER BY id"), "1|8\n2|1");
}

TEST_F(PgLinksTest, CallsOfOneSpreadAreCarriedOutInTheOrderOfTheAsking) {
  const PgStatement append{"append",
                           "UPDATE public.kept SET touched = $1 WHERE id = 1 AND touched = $1 - 1",
                           PgStatement::Kind::Write,
                           {PgType::Int4}};
  server().sql("INSERT INTO kept (id) VALUES (1)");
  PgLinks links(options, {});
  PgWorker worker(links);
  std::vector<PgAsked> questions;
  for (int i = 1; i <= 200; ++i) questions.push_back({&append, {pg_int4(i)}, 5});
  for (const auto& reply : worker.ask_together(std::move(questions))) EXPECT_TRUE(reply);
  EXPECT_EQ(server().sql("SELECT touched FROM kept"), "200");
}

TEST_F(PgLinksTest, EverySpreadHasALaneThatIsItsConnection) {
  PgLinks links(options, {});
  PgWorker worker(links);
  PgWorker other(links);
  std::map<std::size_t, std::optional<std::int64_t>> backends;
  for (PgWorker* each : {&worker, &other}) {
    for (std::size_t spread = 0; spread < 8; ++spread) {
      const auto lane = links.lane_of(each->io().get_executor(), spread);
      const auto backend = number_of(each->ask(kBackend, {}, spread));
      const auto known = backends.emplace(lane, backend);
      EXPECT_EQ(known.first->second, backend) << lane;
    }
  }
  std::set<std::optional<std::int64_t>> different;
  for (const auto& [lane, backend] : backends) different.insert(backend);
  EXPECT_EQ(backends.size(), 8u);
  EXPECT_EQ(different.size(), 8u);
}

TEST_F(PgLinksTest, WorkersAskAtTheSameTimeOnConnectionsOfTheirOwn) {
  PgLinks links(options, {});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      PgWorker worker(links);
      for (int round = 0; round < 5; ++round) {
        std::vector<PgAsked> questions;
        for (int i = 0; i < 20; ++i) {
          const std::int64_t id = 1'000 + thread * 100 + round * 20 + i;
          questions.push_back({&kInsert, {pg_int8(id)}, static_cast<std::size_t>(i)});
        }
        for (const auto& reply : worker.ask_together(std::move(questions))) EXPECT_TRUE(reply);
        EXPECT_TRUE(links.state().up);
        EXPECT_LT(links.ghosts_until(), std::chrono::steady_clock::now());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server().sql("SELECT count(*) FROM kept"), "300");
}

TEST_F(PgLinksTest, AFunctionThatIsNotThereIsNoSchemaAndTheConnectionStays) {
  const PgStatement missing{"missing", "SELECT semel.claim()", PgStatement::Kind::Write, {}};
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const auto backend = number_of(worker.ask(kBackend));
  const auto replies = worker.ask_together({{&missing, {}}, {&missing, {}}, {&kBackend, {}}});
  EXPECT_EQ(fault_of(replies[0]), Fault::StoreUnreachable);
  EXPECT_EQ(fault_of(replies[1]), Fault::StoreUnreachable);
  EXPECT_EQ(number_of(replies[2]), backend);
  EXPECT_EQ(fault_of(worker.ask(missing)), Fault::StoreUnreachable);
  EXPECT_THAT(links.state().trouble, HasSubstr("run `semel store init CONFIG`"));
  // It is there in the end: nobody has to be restarted.
  server().sql(
      "CREATE SCHEMA semel; CREATE FUNCTION semel.claim() RETURNS int AS 'SELECT 1' "
      "LANGUAGE sql");
  EXPECT_TRUE(worker.ask(missing));
  server().sql("DROP SCHEMA semel CASCADE");
}

TEST_F(PgLinksTest, ASchemaThatChangesUnderAPreparedStatementHealsByItself) {
  const PgStatement all{"all", "SELECT * FROM public.kept", PgStatement::Kind::Read, {}};
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.ask(all));
  server().sql("ALTER TABLE kept ADD COLUMN more int");
  EXPECT_TRUE(worker.asks_until_answered(all));
  server().sql("ALTER TABLE kept DROP COLUMN more");
}

TEST_F(PgLinksTest, AValueOfAParameterIsInNoSentence) {
  const PgStatement cast{"cast", "SELECT $1::int", PgStatement::Kind::Read, {PgType::Text}};
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  EXPECT_EQ(fault_of(worker.ask(cast, {"hunter2"})), Fault::StoreUnreachable);
  EXPECT_THAT(links.state().trouble, HasSubstr("22P02"));
  EXPECT_THAT(links.state().trouble, ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(PgLinksTest, AWriteThatIsAnsweredWithAWarningMayHaveBeenCarriedOut) {
  server().sql(
      "CREATE OR REPLACE FUNCTION warn() RETURNS int LANGUAGE plpgsql AS "
      "$$ BEGIN RAISE WARNING 'less durable'; RETURN 1; END $$");
  const PgStatement write{"warn", "SELECT public.warn()", PgStatement::Kind::Write, {}};
  const PgStatement read{"warned", "SELECT public.warn()", PgStatement::Kind::Read, {}};
  options.url += "?options=-c%20client_min_messages%3Derror";  // Whatever the URL says.
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const auto replies =
      worker.ask_together({{&kInsert, {pg_int8(1)}}, {&write, {}}, {&kInsert, {pg_int8(2)}}});
  EXPECT_TRUE(replies[0]);
  EXPECT_EQ(fault_of(replies[1]), Fault::StoreTimeout);
  EXPECT_TRUE(replies[2]);
  EXPECT_TRUE(worker.ask(read));
}

TEST_F(PgLinksTest, SessionsAreSetUpForShortWrites) {
  const PgStatement settings{
      "settings",
      "SELECT current_setting('lock_timeout'), current_setting('statement_timeout'),"
      " current_setting('transaction_isolation'), current_setting('search_path'),"
      " current_setting('application_name'), current_setting('synchronous_commit')",
      PgStatement::Kind::Read,
      {}};
  options.url += "?options=-c%20synchronous_commit%3Dremote_apply%20-c%20lock_timeout%3D0";
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  const auto reply = worker.ask(settings);
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->rows.at(0), ElementsAre("1s", "3600ms", "read committed", "pg_catalog,pg_temp",
                                             "semel", "remote_apply"));
}

TEST_F(PgLinksTest, AdmissionIsAskedOnEachConnectionBeforeItsFirstCall) {
  const PgStatement question{"admission",
                             "SELECT $1, count(*) FROM public.kept",
                             PgStatement::Kind::Write,
                             {PgType::Int8}};
  std::vector<std::pair<std::size_t, std::int64_t>> judged;
  std::string system_id;
  PgLinkOptions link_options;
  link_options.connections_per_worker = 2;
  link_options.admission.question = &question;
  link_options.admission.params = [](std::size_t lane) {
    return std::vector<PgValue>{pg_int8(static_cast<std::int64_t>(lane))};
  };
  link_options.admission.judge = [&](const PgFacts& facts, std::size_t lane,
                                     const Result<PgRows>& answer) {
    system_id = facts.system_id;
    judged.emplace_back(lane, pg_integer(answer->rows.at(0).at(0)).value_or(-1));
    return Result<void>();
  };
  PgLinks links(options, link_options);
  PgWorker worker(links);
  const auto replies =
      worker.ask_together({{&kInsert, {pg_int8(1)}, 0}, {&kInsert, {pg_int8(2)}, 1}});
  EXPECT_TRUE(replies[0] && replies[1]);
  EXPECT_THAT(judged, ::testing::UnorderedElementsAre(std::pair(0u, 0), std::pair(1u, 1)));
  EXPECT_EQ(system_id, server().sql("SELECT system_identifier FROM pg_control_system()"));
}

TEST_F(PgLinksTest, WhoIsNotAdmittedLetsNoCallThroughAndIsAskedAgain) {
  bool is_admitted = false;
  auto link_options = one_connection();
  link_options.admission.judge = [&](const PgFacts&, std::size_t, const Result<PgRows>&) {
    return is_admitted ? Result<void>() : Result<void>(Fault::StoreSuspect);
  };
  PgLinks links(options, link_options);
  PgWorker worker(links);
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(1)})), Fault::StoreSuspect);
  EXPECT_EQ(fault_of(worker.ask(kInsert, {pg_int8(1)})), Fault::StoreSuspect);
  EXPECT_FALSE(links.state().up);
  is_admitted = true;
  EXPECT_TRUE(worker.asks_until_answered(kBackend));
  EXPECT_EQ(server().sql("SELECT count(*) FROM kept"), "0");
}

TEST_F(PgLinksTest, FactsAreWhatTheServerSays) {
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.ask(kBackend));
  const auto facts = links.state().facts;
  ASSERT_TRUE(facts);
  EXPECT_EQ(std::to_string(facts->version), server().sql("SHOW server_version_num"));
  EXPECT_EQ(facts->fsync, server().sql("SHOW fsync"));
  EXPECT_EQ(facts->full_page_writes, server().sql("SHOW full_page_writes"));
  EXPECT_EQ(facts->synchronous_commit, server().sql("SHOW synchronous_commit"));
  EXPECT_EQ(facts->timeline, 1u);
  EXPECT_EQ(facts->standbys, 0u);
  EXPECT_EQ(facts->role, "semel");
  EXPECT_FALSE(facts->is_standby);
  EXPECT_GT(facts->time, facts->started);
}

TEST_F(PgLinksTest, ARoleThatMayNotReadTheOriginIsLetInWithoutIt) {
  server().sql(
      "DROP ROLE IF EXISTS modest; CREATE ROLE modest LOGIN;"
      "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
  options.url = "postgres://modest@127.0.0.1:" + std::to_string(server().port()) + "/postgres";
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  EXPECT_TRUE(worker.ask(kBackend));
  EXPECT_EQ(links.state().facts->system_id, "");
  EXPECT_EQ(links.state().facts->role, "modest");
  server().sql("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC");
}

TEST_F(PgLinksTest, ANotificationOfTheChannelReachesTheListener) {
  std::vector<std::string> heard;
  int losses = 0;
  auto link_options = one_connection();
  link_options.listening = {"odd \"name\"",
                            [&](std::string_view payload) { heard.emplace_back(payload); },
                            [&] { ++losses; }};
  PgLinks links(options, link_options);
  PgWorker worker(links);
  ASSERT_TRUE(worker.ask(kBackend));
  // Whatever was said before it listened is lost, and that is said.
  ASSERT_TRUE(worker.turn_until([&] { return losses == 1; }));
  server().sql("SELECT pg_notify('odd \"name\"', 'abc'); SELECT pg_notify('other', 'x')");
  EXPECT_TRUE(worker.turn_until([&] { return !heard.empty(); }));
  EXPECT_THAT(heard, ElementsAre("abc"));
  EXPECT_EQ(losses, 1);
}

TEST_F(PgLinksTest, ClosingEndsCallsUnderWayAndTheWorkerMayTurnOn) {
  const PgStatement sleep{"sleep", "SELECT pg_sleep(30)", PgStatement::Kind::Write, {}};
  PgLinks links(options, one_connection());
  PgWorker worker(links);
  ASSERT_TRUE(worker.ask(kBackend));
  const auto replies = worker.begin({{&sleep, {}}});
  ASSERT_TRUE(worker.turn_until([] {
    return server().sql(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE "
               "'SELECT pg_sleep%' AND state = 'active'") == "1";
  }));
  links.close();
  EXPECT_TRUE(worker.finish(replies));
  EXPECT_EQ(fault_of(*replies->front()), Fault::StoreTimeout);
  EXPECT_EQ(fault_of(worker.ask(kBackend)), Fault::StoreUnreachable);
}

TEST_F(PgLinksTest, LinksMayGoWhileTheyConnect) {
  for (int turns = 0; turns < 12; ++turns) {
    PgLinks links(options, {});
    PgWorker worker(links);
    const auto replies = worker.begin({{&kBackend, {}}});
    for (int i = 0; i < turns; ++i) worker.io().poll_one();
    links.close();
    ASSERT_TRUE(worker.finish(replies));
    EXPECT_EQ(fault_of(*replies->front()), Fault::StoreUnreachable);
  }
}

}  // namespace
}  // namespace semel::testing
