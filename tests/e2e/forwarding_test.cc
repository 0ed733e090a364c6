#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

using Values = std::vector<std::string>;

/// Every kind of route, with a path that it takes.
constexpr const char* kPaths[] = {"/tools/book", "/tools/seat", "/tools/fare", "/files/a"};

TEST(Forwarding, HopByHopLinesStayBehindAndAllOthersArriveInOrder) {
  Gateway gateway;
  for (const char* path : kPaths) {
    SCOPED_TRACE(path);
    const Response response = gateway.call_tool(path, kBooking,
                                                {{"Connection", "X-Hop, keep-alive"},
                                                 {"X-Hop", "1"},
                                                 {"Keep-Alive", "timeout=5"},
                                                 {"Proxy-Connection", "keep-alive"},
                                                 {"Proxy-Authorization", "Basic eA=="},
                                                 {"TE", "trailers"},
                                                 {"X-A", "1"},
                                                 {"Accept", "text/html"},
                                                 {"X-A", "2"},
                                                 {"Authorization", "Bearer t"},
                                                 {"Cookie", "a=b"}});
    EXPECT_EQ(response.status, 200);
    const ReceivedRequest received = gateway.upstream.last_received();
    EXPECT_EQ(received.target, path);
    EXPECT_EQ(received.body, kBooking);
    for (const char* name :
         {"X-Hop", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE", "Upgrade"}) {
      EXPECT_TRUE(received.all(name).empty()) << name;
    }
    EXPECT_EQ(received.all("X-A"), (Values{"1", "2"}));
    EXPECT_EQ(received.all("Authorization"), (Values{"Bearer t"}));
    EXPECT_EQ(received.all("Cookie"), (Values{"a=b"}));
    EXPECT_EQ(received.all("Content-Type"), (Values{"application/json"}));
    EXPECT_EQ(received.all("Content-Length"), (Values{std::to_string(received.body.size())}));
  }
}

TEST(Forwarding, TheToolLearnsWhoAskedAndThroughWhom) {
  Gateway gateway;
  for (const char* path : kPaths) {
    SCOPED_TRACE(path);
    static_cast<void>(gateway.call_tool(path, kBooking, {{"X-Forwarded-For", "203.0.113.9"}}));
    const ReceivedRequest received = gateway.upstream.last_received();
    EXPECT_EQ(received.all("Host"),
              (Values{"127.0.0.1:" + std::to_string(gateway.upstream.port())}));
    EXPECT_EQ(received.all("X-Forwarded-Host"), (Values{"gateway.test"}));
    EXPECT_EQ(received.all("X-Forwarded-Proto"), (Values{"http"}));
    ASSERT_FALSE(received.all("X-Forwarded-For").empty());
    EXPECT_TRUE(received.all("X-Forwarded-For").back().ends_with("127.0.0.1"));
    ASSERT_EQ(received.all("Via").size(), 1U);
    EXPECT_TRUE(received.all("Via")[0].starts_with("1.1 "));
  }
}

TEST(Forwarding, TheToolSeesTheClientsHostWhereTheRouteKeepsIt) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: kept
    match: {path: /kept/*}
    upstream: tool
    host: keep
  - name: own
    match: {path: /own/*}
    upstream: tool
    host: upstream
)";
  Gateway gateway(options);
  const HeaderLines host = {{"Host", "shop.example:8443"}};
  EXPECT_EQ(gateway.call({"GET", "/kept/a", host, {}}).status, 200);
  EXPECT_EQ(gateway.upstream.last_received().all("Host"), (Values{"shop.example:8443"}));
  EXPECT_EQ(gateway.call({"GET", "/own/a", host, {}}).status, 200);
  EXPECT_EQ(gateway.upstream.last_received().all("Host"),
            (Values{"127.0.0.1:" + std::to_string(gateway.upstream.port())}));
  for (int request = 1; request <= 2; ++request) {
    EXPECT_EQ(gateway.upstream.received(request).all("X-Forwarded-Host"),
              (Values{"shop.example:8443"}));
  }
}

TEST(Forwarding, AToolOnAUnixSocketIsServedLikeAnyOther) {
  const TempFolder folder;
  const std::string socket = folder.file("tool.sock");
  GatewayOptions options;
  options.upstream_endpoint = "unix:" + socket;
  Gateway gateway(options);
  EXPECT_EQ(gateway.book().status, 502) << "nobody listens there yet";
  const ScriptedUpstream tool(socket);
  for (const char* path : kPaths) {
    SCOPED_TRACE(path);
    EXPECT_EQ(gateway.call_tool(path).status, 200);
    EXPECT_EQ(tool.last_received().target, path);
    EXPECT_EQ(tool.last_received().body, kBooking);
    EXPECT_EQ(tool.last_received().all("Host"), (Values{"localhost"}));
  }
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  EXPECT_EQ(tool.effects(), 4);
}

TEST(Forwarding, ATraceIsKeptOrStarted) {
  const std::string sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Gateway gateway;
  for (const char* path : kPaths) {
    SCOPED_TRACE(path);
    const HeaderLines run = {{"X-Run-Id", "traced"}, {"traceparent", sent}};
    static_cast<void>(gateway.call_tool(path, kBooking, run));
    Values kept = gateway.upstream.last_received().all("traceparent");
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].substr(0, 36), sent.substr(0, 36)) << "the same trace";
    static_cast<void>(gateway.call_tool(path, kBooking, {{"X-Run-Id", "untraced"}}));
    Values started = gateway.upstream.last_received().all("traceparent");
    ASSERT_EQ(started.size(), 1U);
    EXPECT_EQ(started[0].size(), sent.size());
    EXPECT_TRUE(started[0].starts_with("00-"));
    EXPECT_NE(started[0].substr(3, 32), std::string(32, '0'));
  }
}

TEST(Forwarding, TheDerivedKeyGoesUpstreamInPlaceOfTheClientsOwn) {
  Gateway gateway;
  static_cast<void>(gateway.book(kBooking, {{"Idempotency-Key", "mine"}}));
  const Values derived = gateway.upstream.last_received().all("Idempotency-Key");
  ASSERT_EQ(derived.size(), 1U);
  EXPECT_EQ(derived[0].size(), 64U);
  EXPECT_EQ(derived[0].find_first_not_of("0123456789abcdef"), std::string::npos);
  static_cast<void>(gateway.call_tool("/files/a", kBooking, {{"Idempotency-Key", "mine"}}));
  EXPECT_EQ(gateway.upstream.last_received().all("Idempotency-Key"), (Values{"mine"}))
      << "a route without policy passes the client's own through";
}

TEST(Forwarding, EqualCallsSendTheToolEqualKeys) {
  Gateway gateway;
  gateway.upstream.script(answers(422, "{}"));
  static_cast<void>(gateway.book());
  const Values first = gateway.upstream.last_received().all("Idempotency-Key");
  static_cast<void>(gateway.book(R"({"name":"Zoe","seats":2.0,"flight":"BA117"})"));
  EXPECT_EQ(gateway.upstream.last_received().all("Idempotency-Key"), first);
  static_cast<void>(gateway.book(kBooking, {{"X-Run-Id", "run-8"}}));
  EXPECT_NE(gateway.upstream.last_received().all("Idempotency-Key"), first);
  EXPECT_EQ(gateway.upstream.requests(), 3);
}

TEST(Forwarding, HowTheKeyIsForwardedIsTheRoutesChoice) {
  struct Row {
    const char* name;
    const char* yaml;
    const char* header;
    bool is_there;
    std::size_t size;
  };
  constexpr Row kRows[] = {
      {"another header", "{header: X-Request-Key}", "X-Request-Key", true, 64},
      {"quoted", "{header: Idempotency-Key, quoted: true}", "Idempotency-Key", true, 66},
      {"off", "off", "Idempotency-Key", false, 0},
      {"the client's own", "{header: Idempotency-Key, value: client}", "Idempotency-Key", true, 4},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    GatewayOptions options;
    options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    client_key: optional
    forward_key: )" + std::string(row.yaml) +
                     kToolKey;
    Gateway gateway(options);
    EXPECT_EQ(gateway.book(kBooking, {{"Idempotency-Key", "mine"}}).status, 200);
    const Values values = gateway.upstream.last_received().all(row.header);
    ASSERT_EQ(values.size(), row.is_there ? 1U : 0U);
    if (row.is_there) {
      EXPECT_EQ(values[0].size(), row.size) << values[0];
    }
  }
}

TEST(Forwarding, TheQueryGoesUpstreamAsItCame) {
  Gateway gateway;
  static_cast<void>(gateway.call_tool("/files/a%20b?x=%2F&y=?&z=a+b"));
  EXPECT_EQ(gateway.upstream.last_received().target, "/files/a%20b?x=%2F&y=?&z=a+b");
}

TEST(Forwarding, HopByHopLinesOfTheToolStayBehind) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers(
      200, "{}",
      {{"Connection", "X-Hop"}, {"X-Hop", "1"}, {"Keep-Alive", "timeout=9"}, {"X-Kept", "1"}}));
  for (const char* path : kPaths) {
    SCOPED_TRACE(path);
    const Response response = gateway.call_tool(path);
    EXPECT_EQ(response.header("X-Kept"), "1");
    EXPECT_EQ(response.header("X-Hop"), std::nullopt);
    EXPECT_NE(response.header("Keep-Alive"), "timeout=9");
  }
}

}  // namespace
}  // namespace semel::testing
