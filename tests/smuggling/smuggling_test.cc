// What Semel forwards is read again by the parsers of four real servers: each request is one
// request to them, and the one that Semel keyed. The proof is the key that Semel sends along:
// computed once more from what the server saw, it has to come out the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/e2e/gateway.h"
#include "tests/fuzz/key_reference.h"
#include "tests/smuggling/cases.h"
#include "tests/smuggling/real_server.h"

namespace semel::testing {
namespace {

/// Everything is keyed by the whole request, but for what is passed on as a stream.
GatewayOptions before(const RealServer& server) {
  GatewayOptions options;
  options.upstream_endpoint = endpoint_of(server.port());
  options.routes = R"(
routes:
  - name: plain
    match: {methods: [POST], path: /plain/*}
    upstream: tool
  - name: book
    match: {methods: [GET, POST, PUT, PATCH, DELETE], path: /*}
    upstream: tool
    policy: EFFECTFUL
    key: {tenant: {header: X-Tenant-Id}, run: none}
    client_key: ignore
)";
  return options;
}

/// All answers on one connection, until the proxy ends it.
std::vector<Response> answers_to(std::uint16_t port, const std::string& raw) {
  HttpClient client(port, milliseconds{10'000});
  client.send(raw);
  client.half_close();
  std::vector<Response> answers;
  while (true) {
    Response answer = client.read(raw.starts_with("HEAD ") ? "HEAD" : "POST");
    if (!answer.is_complete()) {
      EXPECT_EQ(name(answer.end), "cut") << answer.reason;
      return answers;
    }
    answers.push_back(std::move(answer));
  }
}

/// The answer is the server's, to a request of this client.
bool is_fresh(const Response& answer) {
  const auto status = answer.header("Idempotency-Status");
  return answer.header("X-Seen").has_value() && status.value_or("executed") == "executed";
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t end = path.find('/', 1);
    std::string decoded;
    for (std::size_t i = 1; i < std::min(end, path.size()); ++i) {
      if (path[i] != '%') {
        decoded += path[i];
        continue;
      }
      decoded += static_cast<char>(std::stoi(std::string(path.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    }
    segments.push_back(decoded);
    path.remove_prefix(std::min(end, path.size()));
  }
  return segments;
}

/// The key that docs/key-format.md gives to what the server saw.
std::string key_of(const SeenRequest& seen, fuzz::KeyedCall::BodyType type) {
  fuzz::KeyedCall call;
  call.tenant = seen.tenant;
  call.run.reset();
  call.method = seen.method;
  const std::size_t mark = seen.target.find('?');
  call.segments = segments_of(seen.target.substr(0, mark));
  if (mark != seen.target.npos) call.query = seen.target.substr(mark + 1);
  call.body = seen.body;
  call.body_type = type;
  return fuzz::reference_key(call);
}

int number_from_environment(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

/// OPTIONS is never keyed, whatever its route (guarantee 2.4).
bool is_keyed(std::string_view method, bool on_keyed_route) {
  return on_keyed_route && method != "OPTIONS";
}
bool is_keyed(const SeenRequest& seen) {
  return is_keyed(seen.method, !seen.target.starts_with("/plain/"));
}

/// One server, and Semel before it.
class Smuggling : public ::testing::TestWithParam<ServerKind> {
 protected:
  void SetUp() override {
    if (!RealServer::program(GetParam())) GTEST_SKIP() << name(GetParam()) << " is not installed";
    server_ = std::make_unique<RealServer>(GetParam());
    gateway_ = std::make_unique<Gateway>(before(*server_));
  }

  void send(const std::vector<SmugglingCase>& cases) {
    for (const SmugglingCase& sent : cases) {
      SCOPED_TRACE(sent.name);
      for (const Response& answer : answers_to(gateway_->semel.port(), sent.raw)) {
        if (!is_fresh(answer)) continue;
        ++fresh_[answer.header("Idempotency-Status") ? Route::Keyed : Route::Plain];
      }
      ASSERT_TRUE(gateway_->semel.is_running());
    }
    cases_.insert(cases_.end(), cases.begin(), cases.end());
  }

  /// Ends both, and judges what the server saw.
  void judge() {
    gateway_->semel.sigterm();
    ASSERT_TRUE(gateway_->semel.wait());
    EXPECT_TRUE(eventually([this] { return count_whole(Route::Any) >= count_fresh(Route::Any); }));
    server_->stop();
    judge_counts();
    std::map<std::string, int> seen_of;
    for (const SeenRequest& seen : server_->seen()) {
      if (seen.status != 200) continue;
      ++seen_of[seen.tenant];
      judge_whole(seen);
    }
    for (const SmugglingCase& sent : cases_) {
      if (!sent.meaning) continue;
      EXPECT_EQ(seen_of[sent.tenant], 1) << sent.name << " is legal";
    }
  }

 private:
  enum class Route : std::uint8_t { Any, Keyed, Plain };

  [[nodiscard]] int count_fresh(Route route) const {
    const auto count = [this](Route one) { return fresh_.contains(one) ? fresh_.at(one) : 0; };
    return route == Route::Any ? count(Route::Keyed) + count(Route::Plain) : count(route);
  }

  /// What the server took for a whole request.
  [[nodiscard]] int count_whole(Route route) const {
    int count = 0;
    for (const SeenRequest& seen : server_->seen()) {
      const Route one = is_keyed(seen) ? Route::Keyed : Route::Plain;
      count += seen.status == 200 && (route == Route::Any || route == one);
    }
    return count;
  }

  /// Exchanges of which a byte may have gone to the server.
  [[nodiscard]] int count_dispatched(Route route) const {
    int count = 0;
    for (const Json& line : gateway_->semel.access_log()) {
      const std::string& end = line["upstream_end"].text();
      const Route one = is_keyed(line["method"].text(), line["route"].text() == "book")
                            ? Route::Keyed
                            : Route::Plain;
      count += (end == "answered" || end == "unanswered") && (route == Route::Any || route == one);
    }
    return count;
  }

  void judge_counts() const {
    const auto all = static_cast<int>(server_->seen().size());
    EXPECT_EQ(count_whole(Route::Keyed), count_fresh(Route::Keyed)) << "one each, and none besides";
    // What is streamed may break off on its way, and a server may still take it for a whole.
    EXPECT_GE(count_whole(Route::Plain), count_fresh(Route::Plain));
    EXPECT_LE(count_whole(Route::Plain), count_dispatched(Route::Plain));
    // What the server refused by itself was one request of ours all the same.
    EXPECT_LE(all, count_dispatched(Route::Any));
    std::printf("%s: %zu sent, %d forwarded, %d answered, %d refused by the server\n",
                std::string(name(GetParam())).c_str(), cases_.size(), count_dispatched(Route::Any),
                count_fresh(Route::Any), all - count_whole(Route::Any));
  }

  void judge_whole(const SeenRequest& seen) {
    SCOPED_TRACE(seen.method + " " + seen.target + ", tenant " + seen.tenant);
    if (is_keyed(seen)) {
      using enum fuzz::KeyedCall::BodyType;
      EXPECT_THAT((std::vector{key_of(seen, Bytes), key_of(seen, Json)}),
                  ::testing::Contains(seen.key));
    }
    const auto sent = std::ranges::find(cases_, seen.tenant, &SmugglingCase::tenant);
    if (sent == cases_.end() || !sent->meaning) return;
    EXPECT_EQ(seen.method, sent->meaning->method);
    EXPECT_EQ(seen.target, sent->meaning->target);
    EXPECT_EQ(seen.body, sent->meaning->body);
  }

  std::unique_ptr<RealServer> server_;
  std::unique_ptr<Gateway> gateway_;
  std::vector<SmugglingCase> cases_;
  std::map<Route, int> fresh_;  ///< The server's answers that clients got.
};

TEST_P(Smuggling, EveryLegalFramingIsTheOneRequestThatWasKeyed) {
  send(framed_cases());
  judge();
}

TEST_P(Smuggling, WhatParsersTakeDifferentlyIsOneRequestOrNone) {
  send(odd_cases());
  judge();
}

TEST_P(Smuggling, TheCorpusIsOneRequestEachOrNone) {
  send(corpus_cases());
  judge();
}

TEST_P(Smuggling, TheSamplesOfLlhttpAreOneRequestEachOrNone) {
  const std::vector<SmugglingCase> cases = llhttp_cases();
  if (cases.empty()) GTEST_SKIP() << "the llhttp corpus is not here";
  send(cases);
  judge();
}

/// SEMEL_SMUGGLING_SEED and SEMEL_SMUGGLING_ROUNDS make it another run, or a longer one.
TEST_P(Smuggling, WhatIsThrownIsOneRequestOrNone) {
  std::vector<SmugglingCase> from = framed_cases();
  for (auto& more : {odd_cases(), corpus_cases()})
    from.insert(from.end(), more.begin(), more.end());
  const int seed = number_from_environment("SEMEL_SMUGGLING_SEED", 1);
  send(mutated_cases(from, static_cast<std::uint32_t>(seed),
                     number_from_environment("SEMEL_SMUGGLING_ROUNDS", 600)));
  judge();
}

INSTANTIATE_TEST_SUITE_P(RealServers, Smuggling,
                         ::testing::Values(ServerKind::Nginx, ServerKind::Haproxy,
                                           ServerKind::Apache, ServerKind::Node),
                         [](const auto& row) { return std::string(name(row.param)); });

}  // namespace
}  // namespace semel::testing
