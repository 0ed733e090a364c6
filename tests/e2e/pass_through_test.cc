#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

std::string chunked(std::string_view bytes, std::size_t size) {
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    const std::string_view piece = bytes.substr(0, size);
    std::array<char, 20> line{};
    std::snprintf(line.data(), line.size(), "%zx\r\n", piece.size());
    text += std::string(line.data()) + std::string(piece) + "\r\n";
  }
  return text + "0\r\n\r\n";
}

std::string twenty_mebibytes() {
  std::string text;
  while (text.size() < 20 * 1024 * 1024) text += std::to_string(text.size()) + ",";
  return text;
}

TEST(PassThrough, TwentyMebibytesGoBothWaysUnharmed) {
  const std::string large = twenty_mebibytes();
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    timeout: 60s
  - name: plain
    match: {path: /files/*}
    upstream: tool
    timeout: 60s
)";
  Gateway gateway(options);
  for (const char* path : {"/tools/fare", "/files/large"}) {
    for (const bool is_chunked : {false, true}) {
      SCOPED_TRACE(std::string(path) + (is_chunked ? " chunked" : " with a length"));
      gateway.upstream.script([is_chunked](Turn& turn) {
        const std::string& body = turn.request().body;
        turn.send(is_chunked ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                   chunked(body, 100'000)
                             : response_text(200, body));
      });
      HttpClient client(gateway.semel.port(), milliseconds{60'000});
      if (is_chunked) {
        client.send(Request{"POST", path, {{"Transfer-Encoding", "chunked"}}, {}});
        client.send(chunked(large, 77'777));
      } else {
        client.send(Request{"POST", path, {}, large});
      }
      const Response response = client.read();
      EXPECT_EQ(name(response.end), "complete");
      EXPECT_TRUE(response.body == large);
      EXPECT_TRUE(gateway.upstream.last_received().body == large);
      EXPECT_EQ(gateway.upstream.last_received().is_chunked, is_chunked);
      EXPECT_EQ(response.is_chunked, is_chunked);
    }
  }
}

TEST(PassThrough, AnAnswerFlowsBeforeItIsWhole) {
  Gateway gateway;
  gateway.upstream.script([](Turn& turn) {
    turn.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    turn.wait_until_let_go();
    turn.send("6\r\nsecond\r\n0\r\n\r\n");
  });
  HttpClient client(gateway.semel.port());
  client.send(Request{"GET", "/tools/fare", {}, {}});
  EXPECT_TRUE(client.sees("first")) << "while the tool has not finished";
  gateway.upstream.let_go();
  EXPECT_EQ(client.read("GET").body, "firstsecond");
}

TEST(PassThrough, ARequestFlowsBeforeItIsWhole) {
  Gateway gateway;
  gateway.upstream.answer_before_body();
  HttpClient client(gateway.semel.port());
  client.send(Request{"POST", "/files/a", {{"Content-Length", "10"}}, "half "});
  EXPECT_TRUE(gateway.upstream.sees_requests(1)) << "the tool has the head before the body's end";
}

TEST(PassThrough, WhatIsSaidBeforeTheWholeRequestWasReadSaysThatItEndsTheConnection) {
  struct Row {
    const char* name;
    Script script;
    int status;
  };
  const Row rows[] = {
      {"an answer", answers(200, "enough"), 200},
      {"a long answer", answers(200, std::string(100'000, 'x')), 200},
      {"no answer", commits_and_sends("", Then::Reset), 502},
  };
  for (const char* path : {"/files/a", "/tools/fare"}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(path) + ", " + row.name);
      Gateway gateway;
      gateway.upstream.answer_before_body();
      gateway.upstream.script(row.script);
      HttpClient client(gateway.semel.port());
      client.send(Request{"POST", path, {{"Content-Length", "200000"}}, std::string(70'000, 'x')});
      const Response response = client.read();
      EXPECT_EQ(name(response.end), "complete");
      EXPECT_EQ(response.status, row.status);
      EXPECT_EQ(response.header("Connection"), "close");
      EXPECT_TRUE(client.sees_end());
    }
  }
}

TEST(PassThrough, ACutAnswerIsCutForTheClient) {
  struct Row {
    const char* name;
    const char* raw;
    Then then;
  };
  constexpr Row kRows[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", Then::Finish},
      {"chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
       Then::Finish},
      {"reset", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", Then::Reset},
  };
  Gateway gateway;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    gateway.upstream.script(commits_and_sends(row.raw, row.then));
    const Response response = gateway.call({"POST", "/files/a", {}, {}});
    EXPECT_FALSE(response.is_complete() && response.status == 200)
        << "a cut answer must not look whole";
  }
}

TEST(PassThrough, AnAnswerThatEndsWithTheConnectionArrivesWhole) {
  Gateway gateway;
  gateway.upstream.script(commits_and_sends("HTTP/1.1 200 OK\r\n\r\nhello", Then::Finish));
  const Response response = gateway.call({"GET", "/tools/fare", {}, {}});
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.body, "hello");
}

TEST(PassThrough, OneConnectionCarriesManyRequestsAlsoPipelined) {
  Gateway gateway;
  gateway.upstream.script([](Turn& turn) {
    turn.send(response_text(200, turn.request().target + " " + turn.request().body));
  });
  HttpClient client(gateway.semel.port());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client.exchange({"POST", "/files/" + std::to_string(i), {}, "x"}).body,
              "/files/" + std::to_string(i) + " x");
  }
  std::string pipelined;
  for (const char* path : {"/files/p1", "/tools/fare", "/tools/book", "/files/p2"}) {
    pipelined += text_of(Gateway::tool_request(path));
  }
  client.send(pipelined);
  for (const char* path : {"/files/p1", "/tools/fare", "/tools/book", "/files/p2"}) {
    EXPECT_EQ(client.read().body, std::string(path) + " " + kBooking);
  }
  EXPECT_EQ(gateway.upstream.requests(), 24);
}

TEST(PassThrough, ConnectionCloseIsHonoured) {
  Gateway gateway;
  HttpClient client(gateway.semel.port());
  const Response response =
      client.exchange(Gateway::tool_request("/tools/book", kBooking, {{"Connection", "close"}}));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.header("Connection"), "close");
  EXPECT_TRUE(client.sees_end());
}

TEST(PassThrough, AClientThatHalfClosesStillGetsItsAnswer) {
  Gateway gateway;
  for (const char* path : {"/tools/book", "/tools/fare"}) {
    SCOPED_TRACE(path);
    gateway.upstream.script(commits_and_answers_after(milliseconds{100}, 200, "{}"));
    HttpClient client(gateway.semel.port());
    client.send(Gateway::tool_request(path));
    client.half_close();
    EXPECT_EQ(client.read().status, 200);
  }
}

TEST(PassThrough, AnOldClientGetsAnAnswerThatItCanRead) {
  Gateway gateway;
  gateway.upstream.script(commits_and_sends(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Then::Keep));
  HttpClient client(gateway.semel.port());
  client.send("GET /tools/fare HTTP/1.0\r\nHost: a\r\n\r\n");
  const Response response = client.read("GET");
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_FALSE(response.is_chunked) << "HTTP/1.0 knows no chunks";
  EXPECT_EQ(response.body, "hello");
  EXPECT_TRUE(client.sees_end());
}

TEST(PassThrough, AnswersWithoutABodyAreKeptApartFromTheNext) {
  Gateway gateway;
  gateway.upstream.script([](Turn& turn) {
    const std::string& method = turn.request().method;
    if (method == "HEAD") {
      turn.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"e\"\r\n\r\n");
    } else if (!turn.request().all("If-None-Match").empty()) {
      turn.send("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n");
    } else {
      turn.send(response_text(200, "body"));
    }
  });
  HttpClient client(gateway.semel.port());
  for (int round = 0; round < 3; ++round) {
    const Response head = client.exchange({"HEAD", "/tools/fare", {}, {}});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Content-Length"), "1000");
    EXPECT_EQ(client.exchange({"GET", "/tools/fare", {{"If-None-Match", "\"e\""}}, {}}).status,
              304);
    EXPECT_EQ(client.exchange({"GET", "/tools/fare", {}, {}}).body, "body");
  }
  EXPECT_EQ(gateway.upstream.connections(), 1);
}

TEST(PassThrough, OptionsReachTheToolAndAreNeverKeyed) {
  Gateway gateway;
  gateway.upstream.script(answers(204, ""));
  for (int i = 1; i <= 2; ++i) {
    const Response response =
        gateway.call({"OPTIONS", "/tools/book", {{"Origin", "https://a.test"}}, {}});
    EXPECT_EQ(response.status, 204);
    EXPECT_EQ(response.header("Idempotency-Status"), std::nullopt);
    EXPECT_EQ(gateway.upstream.requests(), i);
  }
  EXPECT_EQ(gateway.upstream.last_received().method, "OPTIONS");
  EXPECT_EQ(gateway.call({"OPTIONS", "*", {}, {}}).status, 204);
  EXPECT_EQ(gateway.upstream.requests(), 2) << "Semel answers OPTIONS * itself";
}

TEST(PassThrough, AClientThatWaitsForContinueIsTold) {
  Gateway gateway;
  for (const char* path : {"/tools/book", "/tools/fare", "/files/a"}) {
    SCOPED_TRACE(path);
    HttpClient client(gateway.semel.port());
    Request request = Gateway::tool_request(
        path, "",
        {{"Expect", "100-continue"}, {"Content-Length", std::to_string(sizeof kBooking - 1)}});
    client.send(request);
    ASSERT_TRUE(client.sees("HTTP/1.1 100 "));
    client.send(kBooking);
    const Response response = client.read();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.interim, std::vector<int>{100});
    EXPECT_EQ(gateway.upstream.last_received().body, kBooking);
    EXPECT_TRUE(gateway.upstream.last_received().all("Expect").empty());
  }
}

TEST(PassThrough, AnotherExpectationIs417) {
  Gateway gateway;
  for (const char* path : {"/tools/book", "/tools/fare"}) {
    EXPECT_EQ(gateway.call_tool(path, kBooking, {{"Expect", "miracles"}}).status, 417) << path;
  }
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(PassThrough, ReadsAndPlainRoutesLeaveNoRecordAndNoWordOfIdempotency) {
  Gateway gateway;
  for (const char* path : {"/tools/fare", "/files/a"}) {
    SCOPED_TRACE(path);
    for (int i = 0; i < 2; ++i) {
      const Response response = gateway.call_tool(path);
      EXPECT_EQ(response.header("Idempotency-Status"), std::nullopt);
      EXPECT_EQ(response.header("Idempotent-Replayed"), std::nullopt);
    }
  }
  EXPECT_EQ(gateway.upstream.requests(), 4);
}

TEST(PassThrough, AGuardedRouteThatIsSwitchedOffIsAPlainOne) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    mode: "off")" + std::string(kToolKey);
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers(503, "x"));
  for (int call = 1; call <= 2; ++call) {
    const Response response = gateway.book(kBooking, {{"Idempotency-Key", "the-clients-own"}});
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.header("Idempotency-Status"), std::nullopt);
    EXPECT_EQ(response.header("x-should-retry"), std::nullopt);
    EXPECT_EQ(gateway.upstream.requests(), call) << "each call is one call, and none is retried";
    EXPECT_EQ(gateway.upstream.last_received().all("Idempotency-Key"),
              std::vector<std::string>{"the-clients-own"});
  }
  gateway.upstream.script(commits_and_answers(200, "{}"));
  EXPECT_EQ(gateway.call({"POST", "/tools/book", {}, "{\"a\":1,\"a\":2}"}).status, 200)
      << "neither tenant nor key is asked for";
}

TEST(PassThrough, AnUpgradeOfAKeyedRouteIsRefused) {
  Gateway gateway;
  const Response refused = gateway.call_tool("/tools/book", kBooking,
                                             {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
  EXPECT_GE(refused.status, 400);
  EXPECT_LT(refused.status, 500);
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

}  // namespace
}  // namespace semel::testing
