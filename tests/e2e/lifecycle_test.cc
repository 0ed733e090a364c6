#include <gtest/gtest.h>

#include <optional>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

Script commits_and_answers_when_let_go() {
  return [](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(response_text(201, R"({"id":"b-1"})"));
  };
}

bool refuses_connections(std::uint16_t port) {
  return !HttpClient(port, milliseconds{500}).is_connected();
}

TEST(Lifecycle, AClientThatGoesAwayCancelsNothingAndTheNextCallIsAReplay) {
  for (const bool rudely : {false, true}) {
    for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
      SCOPED_TRACE(std::string(rudely ? "RST" : "FIN") +
                   (store == StoreKind::Memory ? ", memory" : ", sqlite"));
      Gateway gateway({.store = store});
      gateway.upstream.script(commits_and_answers_when_let_go());
      HttpClient client(gateway.semel.port());
      client.send(Gateway::tool_request("/tools/book"));
      ASSERT_TRUE(gateway.upstream.sees_effects(1));
      rudely ? client.reset() : client.close();
      gateway.upstream.let_go();
      const Response next = gateway.book();
      EXPECT_EQ(next.status, 201);
      EXPECT_EQ(next.header("Idempotent-Replayed"), "true");
      EXPECT_EQ(gateway.upstream.requests(), 1);
      EXPECT_EQ(gateway.upstream.effects(), 1);
    }
  }
}

TEST(Lifecycle, AClientThatGoesAwayBeforeItsBodyIsWholeHasAskedForNothing) {
  Gateway gateway;
  {
    HttpClient client(gateway.semel.port());
    const std::string text = text_of(Gateway::tool_request("/tools/book"));
    client.send(text.substr(0, text.size() - 1));
    client.reset();
  }
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Lifecycle, AnUnknownOutcomeIsSettledThoughTheClientHasGone) {
  Gateway gateway;
  gateway.upstream.script(commits_and_hangs());
  {
    HttpClient client(gateway.semel.port());
    client.send(Gateway::tool_request("/tools/brief"));
    ASSERT_TRUE(gateway.upstream.sees_effects(1));
    client.reset();
  }
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Lifecycle, OnSigtermWhatFliesIsFinishedAndTheExitIsClean) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_answers_when_let_go());
  std::future<Response> effectful = gateway.begin("/tools/book");
  std::future<Response> read = gateway.begin("/tools/fare");
  ASSERT_TRUE(gateway.upstream.sees_effects(2));
  gateway.semel.sigterm();
  ASSERT_TRUE(eventually([&] { return refuses_connections(gateway.semel.port()); }))
      << "a draining proxy accepts nobody";
  EXPECT_TRUE(gateway.semel.is_running());
  gateway.upstream.let_go();
  EXPECT_EQ(effectful.get().status, 201);
  EXPECT_EQ(read.get().status, 201);
  const std::optional<Exit> exit = gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0) << gateway.semel.stderr_text();
  gateway.semel.start();
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(Lifecycle, ACallOnAnOldConnectionOfADrainingProxyIsRefusedOrCutNeverForwarded) {
  Gateway gateway;
  HttpClient old(gateway.semel.port());
  EXPECT_EQ(old.exchange(Gateway::tool_request("/tools/book")).status, 200);
  gateway.upstream.script(commits_and_answers_when_let_go());
  std::future<Response> flying =
      std::async(std::launch::async, [&] { return gateway.call_tool("/tools/seat"); });
  ASSERT_TRUE(gateway.upstream.sees_requests(2));
  gateway.semel.sigterm();
  ASSERT_TRUE(eventually([&] { return refuses_connections(gateway.semel.port()); }));
  const Response late =
      old.exchange(Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", "late"}}));
  if (late.is_complete()) {
    expect_problem(late, "draining");
  }
  EXPECT_EQ(gateway.upstream.requests(), 2);
  gateway.upstream.let_go();
  EXPECT_EQ(flying.get().status, 201);
  ASSERT_TRUE(gateway.semel.wait());
}

TEST(Lifecycle, ACallWhoseHeadWasStillComingIsToldThatTheProcessIsDraining) {
  GatewayOptions options;
  options.more = "workers: 1\n";  // What was sent before another call has been taken in before it.
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers_when_let_go());
  HttpClient half(gateway.semel.port());
  const std::string text =
      text_of(Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", "late"}}));
  half.send(text.substr(0, 30));
  std::future<Response> flying = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  gateway.semel.sigterm();
  ASSERT_TRUE(
      eventually([&] { return fetch(gateway.semel.metrics_port(), "/readyz").status == 503; }));
  half.send(text.substr(30));
  expect_problem(half.read(), "draining");
  gateway.upstream.let_go();
  EXPECT_EQ(flying.get().status, 201);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Lifecycle, ADrainingProxyIsNotReadyButAlive) {
  Gateway gateway;
  EXPECT_EQ(fetch(gateway.semel.metrics_port(), "/healthz").status, 200);
  EXPECT_EQ(fetch(gateway.semel.metrics_port(), "/readyz").status, 200);
  gateway.upstream.script(commits_and_answers_when_let_go());
  std::future<Response> flying = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  gateway.semel.sigterm();
  EXPECT_TRUE(
      eventually([&] { return fetch(gateway.semel.metrics_port(), "/readyz").status == 503; }));
  gateway.upstream.let_go();
  EXPECT_EQ(flying.get().status, 201);
}

TEST(Lifecycle, SighupEndsNeitherTheProcessNorACall) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(commits_and_answers_when_let_go());
  std::future<Response> flying = gateway.begin("/tools/book");
  ASSERT_TRUE(gateway.upstream.sees_effects(1));
  EXPECT_NE(gateway.semel.reload().find("reloaded "), std::string::npos);
  gateway.upstream.let_go();
  EXPECT_EQ(flying.get().status, 201);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true") << "new connections are taken";
  gateway.semel.sigterm();
  const std::optional<Exit> exit = gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0);
}

TEST(Lifecycle, AnIdleProxyEndsAtOnceOnSigterm) {
  Gateway gateway({.store = StoreKind::Sqlite});
  HttpClient idle(gateway.semel.port());
  EXPECT_EQ(idle.exchange(Gateway::tool_request("/tools/book")).status, 200);
  gateway.semel.sigterm();
  const std::optional<Exit> exit = gateway.semel.wait(milliseconds{5'000});
  ASSERT_TRUE(exit) << "an idle connection holds nobody up";
  EXPECT_EQ(exit->code, 0);
  EXPECT_TRUE(idle.sees_end());
}

TEST(Lifecycle, SigtermsThatGoOnUntilTheProcessIsGoneLeaveItsExitClean) {
  for (int round = 0; round < 10; ++round) {
    Gateway gateway({.store = StoreKind::Sqlite});
    while (gateway.semel.is_running()) gateway.semel.sigterm();
    const std::optional<Exit> exit = gateway.semel.wait();
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->code, 0) << "round " << round << ", signal " << exit->signal;
  }
}

TEST(Lifecycle, ASecondProxyOnTheSameStoreIsRefused) {
  Gateway gateway({.store = StoreKind::Sqlite});
  const Finished second = run({semel_binary(), "serve", gateway.semel.config_file()});
  ASSERT_TRUE(second.exit);
  EXPECT_EQ(second.exit->code, 2) << second.err;
  EXPECT_EQ(gateway.book().status, 200) << "the first one runs on";
}

}  // namespace
}  // namespace semel::testing
