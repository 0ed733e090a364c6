// Every commit of PostgreSQL waits for a standby that is not there: what was never sent is no
// unknown outcome once it is back, and the server keeps room for others meanwhile.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

/// A lease of 3.3 s: the outage is longer.
std::string short_leases() {
  return booking_route(R"(
    on_duplicate: reject
    dispatch_by: 1s
    timeout: 1s
    stream_timeout: 500ms
    settle: 500ms
    lease_margin: 300ms)");
}
constexpr milliseconds kOutage{6'000};

/// Semel with its store in that server, before a tool.
class OnServer {
 public:
  explicit OnServer(const PostgresServer& server) : semel(options(server, upstream)) {
    semel.init_store();
    semel.start();
  }
  [[nodiscard]] Response book(const std::string& run) const {
    return call(semel.port(), Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}}));
  }

  ScriptedUpstream upstream;
  SemelProcess semel;

 private:
  static SemelOptions options(const PostgresServer& server, const ScriptedUpstream& upstream) {
    SemelOptions process;
    process.binary = semel_binary();
    process.store = StoreKind::Shared;
    process.shared_store = "postgres: {url: \"" + server.url() + "\"}";
    process.yaml = "workers: 1\nupstreams:\n  tool:\n    endpoints: [\"" +
                   endpoint_of(upstream.port()) + "\"]\n" + short_leases();
    return process;
  }
};

int backends(const PostgresServer& server) {
  return std::stoi(
      server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'semel'"));
}

TEST(StandbyOutage, LeavesNothingUnknownThatWasNeverSentAndTheServerRoomForOthers) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  PostgresServer server;
  const OnServer on(server);
  ASSERT_TRUE(eventually([&] { return on.book("before").status == 200; }));
  const int effects_before = on.upstream.effects();
  const int at_rest = backends(server);
  // Of four connections that wait one more watches, for the worker and for the housekeeping.
  const int most = at_rest + at_rest / 4;

  server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  server.sql("SELECT pg_reload_conf()");
  ASSERT_TRUE(eventually([&] { return server.sql("SHOW synchronous_standby_names") == "nobody"; }));
  std::vector<std::string> runs;
  for (const Deadline outage(kOutage); !outage.passed();) {
    runs.push_back("missing-" + std::to_string(runs.size()));
    expect_problem(on.book(runs.back()), "store-unavailable");
    ASSERT_LE(backends(server), most);
  }
  EXPECT_EQ(on.upstream.effects(), effects_before) << "a claim without an answer is not dispatched";

  server.sql("ALTER SYSTEM RESET synchronous_standby_names");
  server.sql("SELECT pg_reload_conf()");
  ASSERT_TRUE(eventually([&] { return on.book("after").status == 200; }));
  // What was stuck was made in the end, after its lease: it is given back all the same.
  ASSERT_TRUE(eventually([&] { return on.semel.metric("semel_disowned_claims") == 0; }));
  EXPECT_EQ(server.sql("SELECT count(*) FROM semel.record WHERE state <> 'completed'"), "0");
  for (const std::string& run : runs) {
    SCOPED_TRACE("run " + run);
    const Response answer = on.book(run);
    EXPECT_EQ(answer.header("Idempotency-Status"), "executed") << answer.body;
  }
  EXPECT_EQ(on.upstream.effects(), effects_before + static_cast<int>(runs.size()) + 1);
}

}  // namespace
}  // namespace semel::testing
