#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

constexpr char kLines[] =
    "Host: gateway.test\r\nX-Tenant-Id: acme\r\nX-Run-Id: run-7\r\n"
    "Content-Type: application/json\r\n";
constexpr char kBody[] = R"({"flight":"BA117","seats":2,"name":"Zoe"})";
constexpr char kLength[] = "Content-Length: 41\r\n";
static_assert(sizeof kBody == 41 + 1);

std::string raw(const std::string& start_line, const std::string& more = kLength) {
  return start_line + "\r\n" + kLines + more + "\r\n" + kBody;
}

std::string booking_with(const std::string& more) {
  return raw("POST /tools/book HTTP/1.1", more + kLength);
}

/// A weaker route lies behind the keyed ones: nothing may fall to it by its spelling.
GatewayOptions before_a_wildcard() {
  GatewayOptions options;
  options.routes = tool_routes() + R"(
  - name: rest
    match: {path: /*}
    upstream: tool
)";
  return options;
}

TEST(Identity, ATenantOrAnotherReadHeaderThatIsDoubledOrDisguisedIs400) {
  struct Row {
    const char* name;
    const char* line;
  };
  constexpr Row kRows[] = {
      {"two tenants", "X-Tenant-Id: other\r\n"},
      {"two equal tenants", "X-Tenant-Id: acme\r\n"},
      {"two tenants, other case", "x-tenant-ID: other\r\n"},
      {"two runs", "X-Run-Id: run-8\r\n"},
      {"two hosts", "Host: other.test\r\n"},
      {"two content types", "Content-Type: text/plain\r\n"},
      {"two client keys", "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"},
      {"an underscore twin of the tenant", "X_Tenant_Id: other\r\n"},
      {"half an underscore twin", "X-Tenant_Id: other\r\n"},
      {"an underscore twin of the length", "Content_Length: 3\r\n"},
      {"Connection names the tenant", "Connection: X-Tenant-Id\r\n"},
      {"Connection names the client key", "Connection: close, idempotency-key\r\n"},
  };
  Gateway gateway;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(call_raw(gateway.semel.port(), booking_with(row.line)).status, 400);
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << gateway.upstream.last_received().head;
  EXPECT_EQ(call_raw(gateway.semel.port(), booking_with("")).status, 200);
}

TEST(Identity, WhatIsNoStrictRequestIsRefusedAndTheConnectionEnds) {
  struct Row {
    const char* name;
    std::string text;
    std::vector<int> statuses;
  };
  const Row rows[] = {
      {"a folded line", booking_with("X-A: 1\r\n 2\r\n"), {400}},
      {"length and chunked", booking_with("Transfer-Encoding: chunked\r\n"), {400}},
      {"two lengths", booking_with(kLength), {400}},
      {"a length with a plus", raw("POST /tools/book HTTP/1.1", "Content-Length: +41\r\n"), {400}},
      {"a length with a leading zero",
       raw("POST /tools/book HTTP/1.1", "Content-Length: 041\r\n"),
       {400}},
      {"a list of lengths", raw("POST /tools/book HTTP/1.1", "Content-Length: 41, 41\r\n"), {400}},
      {"an unknown coding",
       raw("POST /tools/book HTTP/1.1", "Transfer-Encoding: gzip\r\n"),
       {400, 501}},
      {"a coding before chunked",
       raw("POST /tools/book HTTP/1.1", "Transfer-Encoding: gzip, chunked\r\n"),
       {400, 501}},
      {"chunked in HTTP/1.0",
       raw("POST /tools/book HTTP/1.0", "Transfer-Encoding: chunked\r\n"),
       {400}},
      {"no host", "GET /tools/fare HTTP/1.1\r\n\r\n", {400}},
      {"no host in HTTP/1.0", "GET /tools/fare HTTP/1.0\r\n\r\n", {400}},
      {"a bad host", "GET /tools/fare HTTP/1.1\r\nHost: a b\r\n\r\n", {400}},
      {"a space before the colon", booking_with("X-A : 1\r\n"), {400}},
      {"a name with a space", booking_with("X A: 1\r\n"), {400}},
      {"a bare CR", booking_with("X-A: 1\rX-B: 2\r\n"), {400}},
      {"a bare LF", booking_with("X-A: 1\nX-B: 2\r\n"), {400}},
      {"a NUL", booking_with(std::string("X-A: 1\0\r\n", 9)), {400}},
      {"a line without a colon", booking_with("X-A\r\n"), {400}},
      {"two spaces in the request line", raw("POST  /tools/book HTTP/1.1"), {400}},
      {"HTTP/0.9", "GET /tools/fare\r\n\r\n", {400}},
      {"HTTP/2.0", raw("POST /tools/book HTTP/2.0"), {400, 505}},
      {"the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505}},
      {"CONNECT", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", {400, 405, 501}},
      {"TRACE", "TRACE /tools/fare HTTP/1.1\r\nHost: a\r\n\r\n", {400, 405, 501}},
      {"a target that is too long",
       "GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n",
       {414}},
      {"a line that is too long", booking_with("X-A: " + std::string(9'000, 'a') + "\r\n"), {431}},
  };
  Gateway gateway(before_a_wildcard());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    HttpClient client(gateway.semel.port());
    client.send(row.text);
    const Response refused = client.read();
    EXPECT_EQ(name(refused.end), "complete");
    EXPECT_TRUE(std::find(row.statuses.begin(), row.statuses.end(), refused.status) !=
                row.statuses.end())
        << refused.status;
    EXPECT_EQ(refused.header("Connection"), "close");
    EXPECT_TRUE(client.sees_end());
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << gateway.upstream.last_received().head;
}

TEST(Identity, ManyAndLongHeaderLinesAreBounded) {
  Gateway gateway;
  std::string many;
  for (int i = 0; i < 120; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(call_raw(gateway.semel.port(), booking_with(many)).status, 431);
  std::string large;
  for (int i = 0; i < 6; ++i)
    large += "X-" + std::to_string(i) + ": " + std::string(7'000, 'a') + "\r\n";
  EXPECT_EQ(call_raw(gateway.semel.port(), booking_with(large)).status, 431);
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Identity, ABodyOfBadChunksIsRefusedAndNeverForwarded) {
  constexpr const char* kBodies[] = {"5\nhello\r\n0\r\n\r\n",
                                     "-5\r\nhello\r\n0\r\n\r\n",
                                     "0x5\r\nhello\r\n0\r\n\r\n",
                                     "5\r\nhelloXX0\r\n\r\n",
                                     "5 ; a\nb\r\nhello\r\n0\r\n\r\n",
                                     "\r\n0\r\n\r\n",
                                     "FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n"};
  Gateway gateway;
  for (const char* body : kBodies) {
    SCOPED_TRACE(body);
    HttpClient client(gateway.semel.port());
    client.send(std::string("POST /tools/book HTTP/1.1\r\n") + kLines +
                "Transfer-Encoding: chunked\r\n\r\n" + body);
    EXPECT_EQ(client.read().status, 400);
    EXPECT_TRUE(client.sees_end());
  }
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Identity, APathThatCouldBeReadInTwoWaysIs400) {
  constexpr const char* kTargets[] = {"/tools//book",
                                      "//tools/book",
                                      "/tools/./book",
                                      "/tools/fare/../book",
                                      "/tools/%2e/book",
                                      "/tools/x/%2E%2e/book",
                                      "/tools%2fbook",
                                      "/tools%2Fbook",
                                      "/tools%5cbook",
                                      "/tools\\book",
                                      "/tools/book%00",
                                      "/tools/book%0a",
                                      "/tools/book%1f",
                                      "/tools/book;v=1",
                                      "/tools/book;",
                                      "/tools/%2562ook",
                                      "/tools/book%",
                                      "/tools/book%gg",
                                      "tools/book",
                                      "/tools/book#x",
                                      "/tools/bo\xC3\xB6k",
                                      "/tools/<book>",
                                      "http://other.test/tools/book"};
  Gateway gateway(before_a_wildcard());
  for (const char* target : kTargets) {
    SCOPED_TRACE(target);
    EXPECT_EQ(
        call_raw(gateway.semel.port(), raw("POST " + std::string(target) + " HTTP/1.1")).status,
        400);
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << gateway.upstream.last_received().head;
}

TEST(Identity, APathLikeAKeyedOneNeverFallsToAWeakerRoute) {
  Gateway weaker(before_a_wildcard());
  Gateway none;
  for (const char* path : {"/TOOLS/book", "/tools/BOOK", "/Tools/Book", "/tools/book/"}) {
    SCOPED_TRACE(path);
    expect_problem(weaker.call_tool(path), "path-ambiguous");
    expect_problem(none.call_tool(path), "no-route");
  }
  EXPECT_EQ(weaker.upstream.requests(), 0);
  EXPECT_EQ(none.upstream.requests(), 0);
}

TEST(Identity, ANeedlessEscapeReachesTheToolUnescapedAndIsTheSameCall) {
  Gateway gateway(before_a_wildcard());
  const Response first = gateway.call_tool("/tools/%62ook");
  EXPECT_EQ(first.header("Idempotency-Status"), "executed");
  EXPECT_EQ(gateway.upstream.last_received().target, "/tools/book");
  EXPECT_EQ(gateway.call_tool("/tools/book").header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.call_tool("/t%6Fols/%62%6f%6Fk").header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Identity, TheTenantIsReadFromTheHeadNeverFromATrailer) {
  Gateway gateway;
  HttpClient client(gateway.semel.port());
  client.send(
      "POST /tools/book HTTP/1.1\r\nHost: a\r\nX-Run-Id: 1\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\nTrailer: X-Tenant-Id\r\n\r\n29\r\n" +
      std::string(kBody) + "\r\n0\r\nX-Tenant-Id: acme\r\n\r\n");
  expect_problem(client.read(), "key-underivable");
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Identity, AChunkedBodyIsTheSameCallAsOneWithALengthAndGoesUpstreamWithALength) {
  Gateway gateway;
  HttpClient client(gateway.semel.port());
  client.send(std::string("POST /tools/book HTTP/1.1\r\n") + kLines +
              "Transfer-Encoding: Chunked\r\n\r\n9;a=b\r\n" + std::string(kBody).substr(0, 9) +
              "\r\n20\r\n" + std::string(kBody).substr(9) + "\r\n0\r\nX-T: 1\r\n\r\n");
  EXPECT_EQ(client.read().header("Idempotency-Status"), "executed");
  const ReceivedRequest received = gateway.upstream.last_received();
  EXPECT_FALSE(received.is_chunked);
  EXPECT_EQ(received.body, kBody);
  EXPECT_TRUE(received.all("X-T").empty());
  EXPECT_EQ(gateway.book(kBody).header("Idempotency-Status"), "replayed");
}

TEST(Identity, AnAbsoluteTargetIsTakenOnlyForAnAuthorityThatIsOurs) {
  GatewayOptions options = before_a_wildcard();
  options.listen_more = ", authorities: [gateway.test]";
  Gateway gateway(options);
  const auto status_of = [&](const std::string& target) {
    return call_raw(gateway.semel.port(), raw("POST " + target + " HTTP/1.1")).status;
  };
  EXPECT_EQ(status_of("http://gateway.test/tools/book"), 200);
  EXPECT_EQ(gateway.upstream.last_received().target, "/tools/book");
  EXPECT_EQ(status_of("http://other.test/tools/book"), 400);
  EXPECT_EQ(status_of("http://gateway.test@other.test/tools/book"), 400);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Identity, OneEmptyLineBeforeTheRequestLineIsIgnored) {
  Gateway gateway;
  EXPECT_EQ(call_raw(gateway.semel.port(), "\r\n" + booking_with("")).status, 200);
}

}  // namespace
}  // namespace semel::testing
