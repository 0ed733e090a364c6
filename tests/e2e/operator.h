#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/gateway.h"

namespace semel::testing {

/// `/tools/quick`: an EFFECTFUL tool whose attempts are over within two seconds of their claim, so
/// that a test can wait for it. `more`: further lines of the route.
inline std::string quick_route(const std::string& more = {}) {
  return R"(  - name: quick
    match: {methods: [POST], path: /tools/quick}
    upstream: tool
    policy: EFFECTFUL
    dispatch_by: 800ms
    timeout: 300ms
    stream_timeout: 300ms
    settle: 300ms
    lease_margin: 100ms)" +
         more + kToolKey;
}

/// A gateway with an admin listener, and the operator who has its token.
class OperatedGateway {
 public:
  explicit OperatedGateway(GatewayOptions options = {}, const std::string& quick_more = {})
      : gateway(with_admin(std::move(options), quick_more, port_)) {}

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Writes the configuration anew, with the same admin listener.
  void rewrite(GatewayOptions options) {
    gateway.rewrite(with_admin(std::move(options), "", port_));
  }
  [[nodiscard]] std::string token_file() const {
    const std::filesystem::path config = gateway.semel.config_file();
    return (config.parent_path() / "state" / "admin.token").string();
  }
  [[nodiscard]] std::string token() const {
    const std::string text = read_file(token_file());
    return text.substr(0, text.find('\n'));
  }

  [[nodiscard]] Response ask(const std::string& method, const std::string& target,
                             const std::string& body = {}, HeaderLines more = {}) const {
    HeaderLines lines = std::move(more);
    const auto add = [&](const std::string& name, const std::string& value) {
      if (values_of(lines, name).empty()) lines.emplace_back(name, value);
    };
    add("Host", "127.0.0.1:" + std::to_string(port_));
    add("Authorization", "Bearer " + token());
    if (!body.empty()) add("Content-Type", "application/json");
    return call(port_, {method, target, lines, body});
  }
  [[nodiscard]] Response resolve(const std::string& reference, const std::string& order) const {
    return ask("POST", "/v1/records/" + reference + "/resolve", order);
  }
  /// Says that it did not happen, again and again until that may be said.
  [[nodiscard]] Response set_free(const std::string& reference) const {
    Response told;
    static_cast<void>(eventually([&] {
      told = resolve(reference, R"({"decision":"did_not_happen"})");
      return told.status != 409;
    }));
    return told;
  }

  /// A call whose tool takes effect and says nothing. @return its reference.
  [[nodiscard]] std::string make_unknown(const std::string& path, HeaderLines more = {}) {
    gateway.upstream.script(commits_and_hangs());
    const Response refused = gateway.call_tool(path, kBooking, std::move(more));
    return refused.header("Idempotency-Ref")
        .value_or("none, status " + std::to_string(refused.status));
  }

  /// `semel records WORDS --config CONFIG`.
  [[nodiscard]] Finished command(std::vector<std::string> words) const {
    words.insert(words.begin(), {semel_binary(), "records"});
    words.insert(words.end(), {"--config", gateway.semel.config_file()});
    return run(words);
  }

  /// The audit lines of the access log.
  [[nodiscard]] std::vector<Json> audit() const {
    std::vector<Json> lines;
    for (Json& line : gateway.semel.access_log()) {
      if (line["kind"].text() == "audit") lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  static GatewayOptions with_admin(GatewayOptions options, const std::string& quick_more,
                                   std::uint16_t port) {
    options.more += "admin: {address: \"127.0.0.1:" + std::to_string(port) + "\"}\n";
    options.routes += quick_route(quick_more);
    return options;
  }

  std::uint16_t port_ = free_port();

 public:
  Gateway gateway;
};

}  // namespace semel::testing
