#pragma once

#include <filesystem>

#include "tests/e2e/cases.h"
#include "tests/e2e/faulty_disk.h"
#include "tests/support/secrets.h"

namespace semel::testing {

/// Every kind of source that a caller fills.
inline constexpr char kRecipe[] = R"(
    key:
      tenant: {header: X-Tenant-Id}
      run: {header: X-Run-Id}
      caller: {header: X-Caller}
      fields: [/flight, /name, {query: token}]
      guards: [/amount]
)";

/// `/tools/NAME` with that recipe. `more`: further lines, indented by four.
inline std::string guarded(const char* name, const char* policy, const char* more) {
  return std::string("  - name: ") + name + "\n    match: {methods: [POST], path: /tools/" + name +
         "}\n    upstream: tool\n    policy: " + policy + "\n" + more + kRecipe;
}

/// A gateway on SQLite whose callers and whose configuration are full of secrets, and all that it
/// has written about them.
class Planting : public ::testing::Test {
 protected:
  Planting(const std::string& routes, const std::string& more) : gateway_(options(routes, more)) {}

  /// A call in which all that a caller may choose is a secret.
  Request laden(const std::string& path) {
    const auto text = [this] { return "\"" + secrets_.plant() + "\""; };
    Request request{"POST", path + "?token=" + percent_encoded(secrets_.plant()), {}, {}};
    request.target += "&more=" + percent_encoded(secrets_.plant());
    request.body = R"({"flight":)" + text() + R"(,"name":)" + text() + R"(,"amount":)" + text() +
                   R"(,"note":)" + text() + R"(,"card":{"number":[)" + text() + "]}}";
    request.headers = {{"Content-Type", "application/json"},
                       {"X-Tenant-Id", "acme"},
                       {"X-Run-Id", secrets_.plant()},
                       {"X-Caller", secrets_.plant()},
                       {"Authorization", "Bearer " + secrets_.plant()},
                       {"Cookie", "sid=" + secrets_.plant()},
                       {"Idempotency-Key", secrets_.plant()},
                       {"X-Api-Key", secrets_.plant()},
                       {"User-Agent", secrets_.plant()},
                       {"Referer", "https://a.test/?t=" + percent_encoded(secrets_.plant())}};
    return request;
  }
  Request without(Request request, std::string_view header) {
    std::erase_if(request.headers, [&](const HeaderLine& line) { return line.first == header; });
    return request;
  }
  Request with(Request request, const std::string& header, const std::string& value) {
    request = without(std::move(request), header);
    request.headers.emplace_back(header, value);
    return request;
  }

  /// Expects the refusal, and keeps what it says.
  void expect_refused(const Request& request, std::string_view slug) {
    expect_refused(gateway_.call(request), slug);
  }
  void expect_refused(const Response& response, std::string_view slug) {
    EXPECT_EQ(problem_slug(response), slug);
    written_ += response.body;
  }
  void expect_status(const Request& request, int status) {
    EXPECT_EQ(gateway_.call(request).status, status);
  }

  /// What the process has told so far; a restart begins its files anew.
  void keep_what_was_told() {
    written_ += fetch(gateway_.semel.metrics_port(), "/metrics").body;
    written_ += gateway_.semel.stdout_text() + gateway_.semel.stderr_text();
  }
  /// Every file that it has, but the configuration, which is the operator's.
  void keep_what_was_stored() {
    const std::filesystem::path config = gateway_.semel.config_file();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(config.parent_path())) {
      if (entry.is_regular_file() && entry.path() != config) written_ += read_file(entry.path());
    }
  }

  /// The admin listener's answer to the operator, or to somebody with another token.
  Response ask(const std::string& method, const std::string& target, const std::string& body = {},
               const std::string& token = {}) {
    const std::string bearer = "Bearer " + (token.empty() ? token_ : token);
    HeaderLines lines = {{"Host", "127.0.0.1:" + std::to_string(admin_port_)},
                         {"Authorization", bearer}};
    if (!body.empty()) lines.emplace_back("Content-Type", "application/json");
    return call(admin_port_, {method, target, lines, body});
  }

  Secrets secrets_;
  std::string token_ = secrets_.plant();
  std::uint16_t admin_port_ = free_port();
  FaultyDisk disk_;
  Gateway gateway_;
  std::string written_;

 private:
  GatewayOptions options(const std::string& routes, const std::string& more) {
    GatewayOptions options;
    options.store = StoreKind::Sqlite;
    options.environment = disk_.environment();
    options.environment.push_back("PLANTED_TOKEN=" + token_);
    options.routes = routes;
    options.more = "admin: {address: \"127.0.0.1:" + std::to_string(admin_port_) +
                   "\", token: \"${PLANTED_TOKEN:-" + secrets_.plant() + "}\"}\n" + more;
    return options;
  }
};

}  // namespace semel::testing
