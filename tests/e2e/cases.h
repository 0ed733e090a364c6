#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {

/// The one route of a reported case: EFFECTFUL, with a key that the client brings, for one tenant.
struct CaseRoute {
  std::string match = "{methods: [POST], path: /calls}";
  std::string policy = "EFFECTFUL";
  std::string key = "{tenant: {constant: acme}}";
  std::string client_key = "required";
  std::string more = {};  ///< Further lines of the route, indented by four.
};

inline std::string route_text(const std::string& name, const CaseRoute& route) {
  return "  - name: " + name + "\n    match: " + route.match +
         "\n    upstream: tool\n    policy: " + route.policy + "\n    key: " + route.key +
         "\n    client_key: " + route.client_key + "\n" + route.more;
}

inline GatewayOptions one_route(const CaseRoute& route) {
  GatewayOptions options;
  options.routes = "routes:\n" + route_text("case", route);
  return options;
}

/// A route whose key is made of these parts of the request, and of nothing the client adds.
inline CaseRoute derived(const std::string& path, const std::string& fields,
                         const std::string& more = {}) {
  CaseRoute route;
  route.match = "{methods: [POST], path: \"" + path + "\"}";
  route.key = "{tenant: {constant: acme}, run: none" + fields + "}";
  route.client_key = "ignore";
  route.more = more;
  return route;
}

/// A JSON call.
inline Request json_call(std::string path, std::string body, HeaderLines more = {}) {
  HeaderLines lines = {{"Content-Type", "application/json"}};
  lines.insert(lines.end(), more.begin(), more.end());
  return {"POST", std::move(path), std::move(lines), std::move(body)};
}
/// The same with a key of the client's.
inline Request keyed_call(const std::string& key, std::string body = R"({"amount":100})",
                          std::string path = "/calls") {
  return json_call(std::move(path), std::move(body), {{"Idempotency-Key", key}});
}

/// Asks, and goes away rudely as soon as the tool has taken the call.
inline void call_and_leave(Gateway& gateway, const Request& request) {
  const int before = gateway.upstream.requests();
  HttpClient client(gateway.semel.port());
  client.send(request);
  ASSERT_TRUE(gateway.upstream.sees_requests(before + 1));
  client.reset();
}

/// Waits until so many duplicates have met a call in flight.
[[nodiscard]] inline bool sees_duplicates(const Gateway& gateway, int count) {
  return eventually(
      [&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= count; });
}

/// Commits, and answers once the test lets go.
inline Script commits_and_answers_when_let_go(int status, std::string body,
                                              HeaderLines headers = {
                                                  {"Content-Type", "application/json"}}) {
  return [text = response_text(status, body, headers)](Turn& turn) {
    turn.commit();
    turn.wait_until_let_go();
    turn.send(text);
  };
}

/// The tool ran for this call.
inline void expect_executed(const Response& response, int status) {
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.status, status) << response.body;
  EXPECT_EQ(response.header("Idempotency-Status"), "executed");
  EXPECT_EQ(response.header("Idempotent-Replayed"), std::nullopt);
}

/// The answer of the first call once more: recorded, or shared while it was in flight.
inline void expect_same_answer(const Response& response, const Response& first) {
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.header("Idempotent-Replayed"), "true");
  const std::string status = response.header("Idempotency-Status").value_or("none");
  EXPECT_TRUE(status == "replayed" || status == "collapsed") << status;
  EXPECT_EQ(response.status, first.status);
  EXPECT_EQ(response.body, first.body);
  EXPECT_EQ(response.header("Content-Type"), first.header("Content-Type"));
}

/// The answer of a first call that nobody was left to read.
inline void expect_replay(const Response& response, int status, const std::string& body) {
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(response.status, status);
  EXPECT_EQ(response.body, body);
}

/// One call at the tool, with one effect.
inline void expect_one_effect(const Gateway& gateway) {
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

}  // namespace semel::testing
