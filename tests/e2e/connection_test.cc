#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

TEST(Connections, ARefusalLeavesTheConnectionInStepOrEndsIt) {
  struct Row {
    const char* name;
    Request request;
    int status;
  };
  const Row rows[] = {
      {"no route", Gateway::tool_request("/nowhere"), 404},
      {"method",
       {"PUT", "/tools/book", {}, "GET /files/smuggled HTTP/1.1\r\nHost: a\r\n\r\n"},
       405},
      {"no tenant", {"POST", "/tools/book", {{"Content-Type", "application/json"}}, kBooking}, 400},
      {"content type", Gateway::tool_request("/tools/book", kBooking, {{"Content-Type", "a/b"}}),
       415},
      {"two readings", Gateway::tool_request("/tools/book", "{\"a\":1,\"a\":2}"), 400},
      {"an expectation", Gateway::tool_request("/tools/book", kBooking, {{"Expect", "x"}}), 417},
  };
  Gateway gateway;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    HttpClient client(gateway.semel.port());
    client.send(row.request);
    client.send(Request{"GET", "/files/next", {}, {}});
    const Response refused = client.read();
    EXPECT_EQ(refused.status, row.status);
    const Response next = client.read("GET");
    if (refused.header("Connection") == "close") {
      EXPECT_EQ(next.status, 0) << "nothing after the end";
    } else {
      EXPECT_EQ(next.status, 200) << "the next request is read where it begins";
      EXPECT_EQ(gateway.upstream.last_received().target, "/files/next");
    }
  }
}

TEST(Connections, AClientThatWaitsForContinueIsRefusedWithoutSendingItsBody) {
  struct Row {
    const char* name;
    Request request;
    int status;
  };
  const auto waiting = [](const std::string& path, HeaderLines lines) {
    lines.insert(lines.end(), {{"Expect", "100-continue"}, {"Content-Length", "41"}});
    return Gateway::tool_request(path, "", std::move(lines));
  };
  Request large = waiting("/tools/book", {});
  large.headers.back().second = "2000000";
  Request wrong_method = waiting("/tools/book", {});
  wrong_method.method = "PUT";
  const Row rows[] = {
      {"no route", waiting("/nowhere", {}), 404},
      {"method", wrong_method, 405},
      {"too large", large, 413},
  };
  Gateway gateway;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Response refused = gateway.call(row.request);
    EXPECT_EQ(refused.status, row.status);
    EXPECT_TRUE(refused.interim.empty());
  }
}

TEST(Connections, AnAnswerBeforeTheWholeRequestIsRelayedAndTheUploadEnds) {
  Gateway gateway;
  gateway.upstream.answer_before_body();
  gateway.upstream.script(
      commits_and_sends(response_text(413, "too much", {{"Connection", "close"}}), Then::Keep));
  for (const char* path : {"/files/a", "/tools/fare"}) {
    SCOPED_TRACE(path);
    HttpClient client(gateway.semel.port());
    client.send(Request{"POST", path, {{"Content-Length", "50000000"}}, {}});
    client.send(std::string(100'000, 'x'));
    const Response response = client.read();
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(response.body, "too much");
    EXPECT_TRUE(client.sees_end()) << "the rest of the body is not read as a request";
  }
}

TEST(Connections, AClientThatLeavesADownloadEndsItAtTheToolToo) {
  Gateway gateway;
  gateway.upstream.script([](Turn& turn) {
    turn.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    turn.drip(std::string(10'000, 'x'), milliseconds{5});
  });
  HttpClient client(gateway.semel.port());
  client.send(Request{"GET", "/files/endless", {}, {}});
  ASSERT_TRUE(client.sees("first"));
  client.reset();
  EXPECT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
}

TEST(Connections, AHeadThatNeverEndsIsRefusedAsItsOwnAndNotAsTheOneBefore) {
  GatewayOptions options;
  options.more = "limits: {header_timeout: 500ms}\n";
  Gateway gateway(options);
  const std::string large =
      R"({"flight":"BA117","seats":2,"name":")" + std::string(400'000, 'x') + "\"}";
  HttpClient client(gateway.semel.port());
  EXPECT_EQ(client.exchange(Gateway::tool_request("/tools/book", large)).status, 200);
  // A connection that was quiet for a second holds no memory of the request before.
  std::this_thread::sleep_for(milliseconds{1'300});
  client.send("GE");
  expect_problem(client.read(), "request-timeout");
  EXPECT_EQ(gateway.book().status, 200) << "the others go on";
  for (const Json& line : gateway.semel.access_log(3)) {
    if (line["problem"].text() == "request-timeout") EXPECT_EQ(line["method"].text(), "");
  }
}

TEST(Connections, AToolThatEndsEachConnectionAfterItsAnswerIsServedAllTheSame) {
  struct Row {
    const char* name;
    std::string answer;
  };
  const Row rows[] = {
      {"announced", response_text(200, "{}", {{"Connection", "close"}})},
      {"unannounced", response_text(200, "{}")},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"},
      {"HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\n{}"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Gateway gateway;
    gateway.upstream.script(commits_and_sends(row.answer, Then::Finish));
    for (int i = 0; i < 50; ++i) {
      const HeaderLines run = {{"X-Run-Id", std::to_string(i)}};
      EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), "executed");
      EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
      // A connection that is reused just as it ends is what a route without retries may meet.
      ASSERT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
    }
    EXPECT_EQ(gateway.upstream.effects(), 100);
  }
}

TEST(Connections, ManyClientsWithManyKeysEachHaveOneEffect) {
  constexpr int kClients = 32;
  constexpr int kCalls = 40;
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    SCOPED_TRACE(store == StoreKind::Memory ? "memory" : "sqlite");
    Gateway gateway({.store = store});
    gateway.upstream.script([](Turn& turn) {
      turn.commit();
      turn.send(response_text(201, turn.request().all("X-Run-Id").at(0)));
    });
    const auto play = [&gateway](int number) {
      HttpClient client(gateway.semel.port());
      int right = 0;
      for (int i = 0; i < kCalls; ++i) {
        const std::string run = std::to_string(number) + "." + std::to_string(i);
        const Request request = Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}});
        const Response first = client.exchange(request);
        const Response second = client.exchange(request);
        right += first.body == run && second.body == run &&
                         first.header("Idempotency-Status") == "executed" &&
                         second.header("Idempotency-Status") == "replayed"
                     ? 1
                     : 0;
      }
      return right;
    };
    std::vector<std::future<int>> players;
    for (int i = 0; i < kClients; ++i) players.push_back(std::async(std::launch::async, play, i));
    for (std::future<int>& player : players) EXPECT_EQ(player.get(), kCalls);
    EXPECT_EQ(gateway.upstream.effects(), kClients * kCalls);
    EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
  }
}

}  // namespace
}  // namespace semel::testing
