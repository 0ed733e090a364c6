#include <gtest/gtest.h>

#include <map>

#include "tests/e2e/gateway.h"
#include "tests/support/corpus.h"

namespace semel::testing {
namespace {

/// What a client that sends bytes and then ends its direction gets to hear.
struct Heard {
  std::vector<int> statuses;  ///< Of each response.
  ReadEnd end;                ///< Cut: the proxy has ended the connection, as it should.
};

Heard hear(std::uint16_t port, const std::string& raw) {
  HttpClient client(port, milliseconds{3'000});
  client.send(raw);
  client.half_close();
  Heard heard{{}, ReadEnd::Complete};
  while (heard.end == ReadEnd::Complete) {
    const Response response = client.read();
    heard.end = response.end;
    if (response.is_complete()) heard.statuses.push_back(response.status);
  }
  return heard;
}

/// Everything goes to the tool that the gate lets through.
GatewayOptions without_policies() {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: all
    match: {path: /*}
    upstream: tool
)";
  return options;
}

void expect_nothing_smuggled(const ReceivedRequest& received) {
  SCOPED_TRACE(received.head);
  EXPECT_EQ(received.target.find("smuggled"), std::string::npos);
  EXPECT_EQ(received.all("Host").size(), 1U);
  EXPECT_LE(received.all("Content-Length").size() + received.all("Transfer-Encoding").size(), 1U);
  for (const char* name : {"Upgrade", "Trailer", "TE", "HTTP2-Settings"}) {
    EXPECT_TRUE(received.all(name).empty()) << name;
  }
}

TEST(ClientCorpus, WhatIsNoRequestNeverReachesTheToolAndIsToldSo) {
  Gateway gateway(without_policies());
  std::map<std::string, int> rows;
  for (const Json& row : read_rows(SEMEL_SOURCE_DIR "/tests/proxy/corpus/http_requests.jsonl")) {
    SCOPED_TRACE(row["id"].text());
    const std::string& expected = row["expect"].text();
    ++rows[expected];
    const int before = gateway.upstream.requests();
    const Heard heard = hear(gateway.semel.port(), to_bytes(row["raw"].text()));
    const int forwarded = gateway.upstream.requests() - before;
    EXPECT_EQ(name(heard.end), "cut") << "the connection ends";
    if (expected == "reject") {
      EXPECT_EQ(forwarded, 0) << gateway.upstream.last_received().head;
      for (const int status : heard.statuses) EXPECT_GE(status, 400);
    } else if (expected == "accept") {
      const int whole = row["id"].text() == "pl-two" ? 2 : 1;
      EXPECT_EQ(forwarded, whole);
      EXPECT_EQ(heard.statuses, std::vector<int>(static_cast<std::size_t>(whole), 200));
    } else {
      EXPECT_LE(forwarded, 1) << "never two requests where one was sent";
    }
  }
  EXPECT_EQ(rows, (std::map<std::string, int>{{"reject", 92}, {"accept", 8}, {"either", 26}}));
  for (int number = 1; number <= gateway.upstream.requests(); ++number) {
    expect_nothing_smuggled(gateway.upstream.received(number));
  }
}

TEST(ClientCorpus, ABrokenBodyOnItsWayToTheToolIsToldAtOnce) {
  Gateway gateway(without_policies());
  for (const char* body : {"-5\r\nhello\r\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5;\r\nhello"}) {
    SCOPED_TRACE(body);
    const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    HttpClient client(gateway.semel.port(), milliseconds{3'000});
    client.send(head + body);
    EXPECT_EQ(client.read().status, 400);
    EXPECT_TRUE(client.sees_end());
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << "none was whole";
}

TEST(ClientCorpus, NoSpellingOfAPathFallsToAWeakerRoute) {
  GatewayOptions options;
  options.routes = tool_routes() + R"(
  - name: rest
    match: {path: /*}
    upstream: tool
)";
  Gateway gateway(options);
  int effectful = 0;
  for (const Json& row : read_rows(SEMEL_SOURCE_DIR "/tests/core/corpus/paths.jsonl")) {
    SCOPED_TRACE(row["target"].text());
    Request request = Gateway::tool_request(row["target"].text());
    const Response response = gateway.call(request);
    if (row["verdict"].text() == "effectful") {
      ++effectful;
      EXPECT_EQ(response.status, 200);
      EXPECT_NE(response.header("Idempotency-Status"), std::nullopt) << "it was keyed";
    } else if (response.status == 200) {
      // Another path altogether, which the wildcard may serve: it must not look like the tool's.
      EXPECT_NE(gateway.upstream.last_received().target, "/tools/book");
    }
  }
  EXPECT_GE(effectful, 4);
}

}  // namespace
}  // namespace semel::testing
