#include "proxy/forwarded_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "proxy/byte_gate.h"
#include "tests/support/http_message.h"

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using testing::HeaderLines;
using ::testing::IsEmpty;

const std::string kKey(64, 'c');
constexpr std::string_view kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What the upstream gets, taken apart by a reader that is not ours.
struct Seen {
  std::string start;
  HeaderLines lines;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
    return testing::values_of(lines, name);
  }
};

class ForwardedRequestTest : public ::testing::Test {
 protected:
  ForwardedRequestTest() {
    request.client_address = "192.0.2.7";
    request.trace_parent = kTrace;
  }
  /// Forwards a request with these lines, each with its CRLF, as the byte gate let it through.
  Seen forward(std::string_view lines, std::string_view start = "POST /tools/book?a=1 HTTP/1.1") {
    client_ = std::string(start) + "\r\nHost: semel.example\r\n" + std::string(lines) + "\r\n";
    const GateAnswer answer = read_request_head(client_, 0, {}, head_);
    EXPECT_TRUE(std::holds_alternative<Passed>(answer)) << client_;
    request.head = &head_;
    request.route = &route;
    request.path = normalised.empty() ? head_.path : normalised;
    std::string text;
    request.render(text, "tool:9000");
    Seen seen;
    EXPECT_EQ(testing::split_head(text, seen.start, seen.lines), "") << text;
    return seen;
  }

  Route route;
  ForwardedRequest request;
  std::string_view normalised;  ///< Empty: as it came.

 private:
  std::string client_;
  RequestHead head_;
};

TEST_F(ForwardedRequestTest, SendsTheNormalisedPathAndTheQueryAsItCame) {
  normalised = "/tools/book";
  EXPECT_EQ(forward("", "POST /tools/%62ook?x=%62&y HTTP/1.1").start,
            "POST /tools/book?x=%62&y HTTP/1.1");
  normalised = {};
  EXPECT_EQ(forward("", "POST /tools/book? HTTP/1.1").start, "POST /tools/book? HTTP/1.1");
  EXPECT_EQ(forward("", "POST /tools/book HTTP/1.0").start, "POST /tools/book HTTP/1.1");
}

TEST_F(ForwardedRequestTest, PassesTheClientsOwnLinesOnInOrderWithRepeatsKept) {
  const Seen seen = forward("Accept: a/b\r\nX-Tag: 1\r\nCookie: c=d\r\nX-Tag: 2\r\n");
  EXPECT_THAT(seen.all("Accept"), ElementsAre("a/b"));
  EXPECT_THAT(seen.all("Cookie"), ElementsAre("c=d"));
  EXPECT_THAT(seen.all("X-Tag"), ElementsAre("1", "2"));
}

TEST_F(ForwardedRequestTest, TheHostIsTheUpstreamsOrKeptByOption) {
  EXPECT_THAT(forward("").all("Host"), ElementsAre("tool:9000"));
  EXPECT_THAT(forward("").all("X-Forwarded-Host"), ElementsAre("semel.example"));
  route.keep_host = true;
  EXPECT_THAT(forward("").all("Host"), ElementsAre("semel.example"));
}

TEST_F(ForwardedRequestTest, AnUnderscoreTwinOfAFieldThatWeSetEndsHere) {
  request.key_hex = kKey;
  route.forward_key.header = "X-Once-Key";
  const Seen seen =
      forward("Semel_Fence: 9\r\nX_Once_Key: mine\r\nX_Forwarded_For: 10.0.0.1\r\nX_Tag: 1\r\n");
  for (const char* name : {"Semel_Fence", "X_Once_Key", "X_Forwarded_For"}) {
    EXPECT_THAT(seen.all(name), IsEmpty()) << name;
  }
  EXPECT_THAT(seen.all("X-Once-Key"), ElementsAre(kKey));
  EXPECT_THAT(seen.all("X-Forwarded-For"), ElementsAre("192.0.2.7"));
  EXPECT_THAT(seen.all("X_Tag"), ElementsAre("1"));
}

TEST_F(ForwardedRequestTest, FieldsOfOneHopEndHere) {
  const Seen seen = forward(
      "TE: trailers\r\nTrailer: X-Sum\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
      "Proxy-Authorization: Basic abc\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
      "Expect: 100-continue\r\nConnection: keep-alive\r\n");
  for (const char* name : {"TE", "Trailer", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
                           "Upgrade", "HTTP2-Settings", "Expect", "Connection"}) {
    EXPECT_THAT(seen.all(name), IsEmpty()) << name;
  }
}

TEST_F(ForwardedRequestTest, WhatAnyConnectionLineNamesEndsHere) {
  const Seen seen = forward(
      "X-One: 1\r\nConnection: X-One, close\r\nX-Two: 2\r\nX-Three: 3\r\n"
      "Connection: x-two\r\nConnection: keep-alive\r\n");
  EXPECT_THAT(seen.all("X-One"), IsEmpty());
  EXPECT_THAT(seen.all("X-Two"), IsEmpty());
  EXPECT_THAT(seen.all("X-Three"), ElementsAre("3"));
}

TEST_F(ForwardedRequestTest, TheClientsAddressIsAppendedToAllThatWasForwardedBefore) {
  EXPECT_THAT(forward("").all("X-Forwarded-For"), ElementsAre("192.0.2.7"));
  EXPECT_THAT(forward("X-Forwarded-For: 198.51.100.1\r\n").all("X-Forwarded-For"),
              ElementsAre("198.51.100.1, 192.0.2.7"));
  EXPECT_THAT(forward("X-Forwarded-For: 198.51.100.1, 198.51.100.2\r\nAccept: */*\r\n"
                      "x-forwarded-for: 198.51.100.3\r\n")
                  .all("X-Forwarded-For"),
              ElementsAre("198.51.100.1, 198.51.100.2, 198.51.100.3, 192.0.2.7"));
}

TEST_F(ForwardedRequestTest, AClientWithoutAnAddressLeavesTheListAsItIs) {
  request.client_address = {};
  EXPECT_THAT(forward("").all("X-Forwarded-For"), IsEmpty());
  EXPECT_THAT(forward("X-Forwarded-For: 198.51.100.1\r\n").all("X-Forwarded-For"),
              ElementsAre("198.51.100.1"));
}

TEST_F(ForwardedRequestTest, NamingTheForwardedAddressesInConnectionDoesNotHideThem) {
  EXPECT_THAT(forward("X-Forwarded-For: 198.51.100.1\r\nConnection: x-forwarded-for\r\n")
                  .all("X-Forwarded-For"),
              ElementsAre("198.51.100.1, 192.0.2.7"));
}

TEST_F(ForwardedRequestTest, TheClientDoesNotSayWhichSchemeOrHostItUsed) {
  const Seen seen = forward("X-Forwarded-Proto: https\r\nX-Forwarded-Host: bank.example\r\n");
  EXPECT_THAT(seen.all("X-Forwarded-Proto"), ElementsAre("http"));
  EXPECT_THAT(seen.all("X-Forwarded-Host"), ElementsAre("semel.example"));
}

TEST_F(ForwardedRequestTest, ViaIsAppendedWithTheVersionThatWasReceived) {
  EXPECT_THAT(forward("").all("Via"), ElementsAre("1.1 semel"));
  EXPECT_THAT(forward("Via: 1.0 fred\r\nVia: 1.1 p.example\r\n").all("Via"),
              ElementsAre("1.0 fred, 1.1 p.example, 1.1 semel"));
  EXPECT_THAT(forward("", "POST / HTTP/1.0").all("Via"), ElementsAre("1.0 semel"));
}

TEST_F(ForwardedRequestTest, ThereIsOneTraceparent) {
  EXPECT_THAT(forward("Traceparent: nonsense\r\nTracestate: a=b\r\n").all("traceparent"),
              ElementsAre(kTrace));
  EXPECT_THAT(forward("Tracestate: a=b\r\n").all("tracestate"), ElementsAre("a=b"));
}

TEST_F(ForwardedRequestTest, ABufferedBodyAlwaysHasItsLength) {
  request.has_body = true;
  request.body_length = 300;
  const Seen seen = forward("Transfer-Encoding: chunked\r\n");
  EXPECT_THAT(seen.all("Content-Length"), ElementsAre("300"));
  EXPECT_THAT(seen.all("Transfer-Encoding"), IsEmpty());
  request.body_length = 0;
  EXPECT_THAT(forward("Content-Length: 0\r\n").all("Content-Length"), ElementsAre("0"));
}

TEST_F(ForwardedRequestTest, AStreamWithoutALengthIsChunked) {
  request.has_body = true;
  request.body_length.reset();
  const Seen seen = forward("Transfer-Encoding: chunked\r\n");
  EXPECT_THAT(seen.all("Content-Length"), IsEmpty());
  EXPECT_THAT(seen.all("Transfer-Encoding"), ElementsAre("chunked"));
}

TEST_F(ForwardedRequestTest, WithoutABodyThereIsNoFraming) {
  request.has_body = false;
  request.body_length = 0;
  const Seen seen = forward("", "GET / HTTP/1.1");
  EXPECT_THAT(seen.all("Content-Length"), IsEmpty());
  EXPECT_THAT(seen.all("Transfer-Encoding"), IsEmpty());
}

TEST_F(ForwardedRequestTest, WithoutAKeyTheClientsOwnIsPassedOn) {
  const Seen seen = forward("Idempotency-Key: mine\r\nSemel-Fence: 7\r\n");
  EXPECT_THAT(seen.all("Idempotency-Key"), ElementsAre("mine"));
  EXPECT_THAT(seen.all("Semel-Fence"), ElementsAre("7"));
}

TEST_F(ForwardedRequestTest, OnAGuardedRouteTheToolGetsTheDerivedKeyAndNoOther) {
  request.key_hex = kKey;
  request.client_key = "mine";
  EXPECT_THAT(forward("idempotency-key: mine\r\n").all("Idempotency-Key"), ElementsAre(kKey));
}

TEST_F(ForwardedRequestTest, OnAGuardedRouteThatSaysClientTheToolGetsTheClients) {
  request.key_hex = kKey;
  request.client_key = "mine";
  route.forward_key.value = ForwardKey::Value::Client;
  EXPECT_THAT(forward("Idempotency-Key: \"mine\"\r\n").all("Idempotency-Key"), ElementsAre("mine"));
  request.client_key = {};
  EXPECT_THAT(forward("").all("Idempotency-Key"), IsEmpty());
}

TEST_F(ForwardedRequestTest, OnAGuardedRouteThatSaysOffTheToolGetsNone) {
  request.key_hex = kKey;
  request.client_key = "mine";
  route.forward_key.value = ForwardKey::Value::Off;
  EXPECT_THAT(forward("Idempotency-Key: mine\r\n").all("Idempotency-Key"), IsEmpty());
}

TEST_F(ForwardedRequestTest, AQuotedKeyIsAStringOfRfc8941) {
  request.key_hex = kKey;
  route.forward_key.quoted = true;
  EXPECT_THAT(forward("").all("Idempotency-Key"), ElementsAre("\"" + kKey + "\""));
}

TEST_F(ForwardedRequestTest, UnderAnotherNameTheClientCanForgeNeitherOfTheTwo) {
  request.key_hex = kKey;
  route.forward_key.header = "X-Request-Key";
  const Seen seen = forward("X-Request-Key: forged\r\nIdempotency-Key: mine\r\n");
  EXPECT_THAT(seen.all("X-Request-Key"), ElementsAre(kKey));
  EXPECT_THAT(seen.all("Idempotency-Key"), IsEmpty());
}

TEST_F(ForwardedRequestTest, TheFenceIsOursOrAbsent) {
  request.key_hex = kKey;
  request.fence = Fence{42};
  EXPECT_THAT(forward("Semel-Fence: 999\r\n").all("Semel-Fence"), IsEmpty());
  route.forward_key.fence = true;
  EXPECT_THAT(forward("Semel-Fence: 999\r\n").all("Semel-Fence"), ElementsAre("42"));
}

TEST_F(ForwardedRequestTest, AnotherAttemptDiffersInItsHostOnly) {
  const Seen first = forward("Accept: a/b\r\n");
  std::string text;
  request.render(text, "other:1");
  Seen second;
  ASSERT_EQ(testing::split_head(text, second.start, second.lines), "");
  EXPECT_EQ(second.start, first.start);
  ASSERT_EQ(second.lines.size(), first.lines.size());
  for (std::size_t i = 0; i < first.lines.size(); ++i) {
    if (first.lines[i].first != "Host") {
      EXPECT_EQ(second.lines[i], first.lines[i]);
    }
  }
  EXPECT_THAT(second.all("Host"), ElementsAre("other:1"));
}

TEST(TraceParent, W3cTraceContext3_2) {
  struct Row {
    const char* name;
    const char* value;
    bool good;
  };
  const Row rows[] = {
      {"the specification's example", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       true},
      {"not sampled", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true},
      {"version ff", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
      {"upper case", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false},
      {"no trace", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false},
      {"no parent", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false},
      {"short", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false},
      {"long", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011", false},
      {"another separator", "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01", false},
      {"no hexadecimal", "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", false},
      {"empty", "", false},
  };
  for (const Row& row : rows) EXPECT_EQ(is_trace_parent(row.value), row.good) << row.name;
}

}  // namespace
}  // namespace semel::proxy
