#pragma once

#include <cstdlib>
#include <future>
#include <string>
#include <utility>

#include "tests/support/scripted_upstream.h"
#include "tests/support/scripts.h"
#include "tests/support/semel_process.h"

namespace semel::testing {

/// The program under test: of this build, or the one that SEMEL_BINARY names.
inline std::string semel_binary() {
  const char* chosen = std::getenv("SEMEL_BINARY");
  return chosen != nullptr ? chosen : SEMEL_BINARY_DIR "/semel";
}

/// The key of every tool route of these tests.
inline constexpr char kToolKey[] = R"(
    key:
      tenant: {header: X-Tenant-Id}
      run: {header: X-Run-Id}
      fields: [/flight, /seats, /name]
)";

/// The one EFFECTFUL route `book`, with what else it says: `\n    timeout: 2s` and the like.
inline std::string booking_route(const std::string& more) {
  return R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL)" +
         more + kToolKey;
}

/// One tool of each policy. `/tools/brief` is `/tools/book` with little patience.
inline std::string tool_routes() {
  const std::string key = kToolKey;
  return R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    timeout: 10s)" +
         key + R"(
  - name: brief
    match: {methods: [POST], path: /tools/brief}
    upstream: tool
    policy: EFFECTFUL
    timeout: 700ms
    stream_timeout: 700ms)" +
         key + R"(
  - name: seat
    match: {methods: [POST, PUT], path: /tools/seat}
    upstream: tool
    policy: IDEMPOTENT
    timeout: 2s
    retry: {attempts: 3, backoff: 10ms, budget: 100%})" +
         key + R"(
  - name: fare
    match: {methods: [GET, HEAD, POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    timeout: 2s
    retry: {attempts: 3, backoff: 10ms, budget: 100%}
  - name: plain
    match: {path: /files/*}
    upstream: tool
)";
}

inline std::string endpoint_of(std::uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// What a test wants to be different from a tool, its routes and the memory store.
struct GatewayOptions {
  std::string binary = semel_binary();
  StoreKind store = StoreKind::Memory;
  std::string memory_limits = {};  ///< `, max_records: 2`.
  std::string store_folder = {};
  std::string listen_more = {};  ///< `, authorities: [gateway.test]`.
  std::string routes = tool_routes();
  std::string more = {};               ///< Further top-level YAML, `limits: ...`.
  std::string upstream_more = {};      ///< Further lines of the upstream, indented by four.
  std::string upstream_endpoint = {};  ///< Empty: the scripted upstream's.
  std::string more_endpoints = {};     ///< Further ones of the same upstream: `, "http://..."`.
  std::vector<std::string> environment = {};
};

/// Two seats for Zoe, as every test books them.
inline constexpr char kBooking[] =
    R"({"request_id":"r-1","flight":"BA117","seats":2,"name":"Zoe"})";

/// Semel before one scripted tool.
class Gateway {
 public:
  explicit Gateway(const GatewayOptions& options = {}) : semel(process_options(options, upstream)) {
    semel.start();
  }

  ScriptedUpstream upstream;
  SemelProcess semel;

  /// Writes the configuration anew. What concerns the process and not the YAML stays.
  void rewrite(const GatewayOptions& options) {
    semel.rewrite(process_options(options, upstream).yaml, options.listen_more);
  }

  [[nodiscard]] Response call(const Request& request) const {
    return testing::call(semel.port(), request);
  }
  /// A call of acme's run 7 with a JSON body.
  [[nodiscard]] Response call_tool(const std::string& path, std::string body = kBooking,
                                   HeaderLines more = {}) const {
    return call(tool_request(path, std::move(body), std::move(more)));
  }
  [[nodiscard]] Response book(std::string body = kBooking, HeaderLines more = {}) const {
    return call_tool("/tools/book", std::move(body), std::move(more));
  }
  /// The same beside the test, which goes on.
  [[nodiscard]] std::future<Response> begin(const std::string& path,
                                            std::string body = kBooking) const {
    return begin(tool_request(path, std::move(body)));
  }
  [[nodiscard]] std::future<Response> begin(Request request) const {
    return std::async(std::launch::async,
                      [this, asked = std::move(request)] { return call(asked); });
  }

  [[nodiscard]] static Request tool_request(const std::string& path, std::string body = kBooking,
                                            HeaderLines more = {}) {
    HeaderLines lines = {{"Content-Type", "application/json"}};
    for (const auto& [name, value] : {HeaderLine{"X-Tenant-Id", "acme"}, {"X-Run-Id", "run-7"}}) {
      if (values_of(more, name).empty()) lines.emplace_back(name, value);
    }
    if (!values_of(more, "Content-Type").empty()) lines.erase(lines.begin());
    lines.insert(lines.end(), more.begin(), more.end());
    return {"POST", path, lines, std::move(body)};
  }

 private:
  static SemelOptions process_options(const GatewayOptions& options,
                                      const ScriptedUpstream& upstream) {
    SemelOptions process;
    process.binary = options.binary;
    process.store = options.store;
    process.memory_limits = options.memory_limits;
    process.store_folder = options.store_folder;
    process.listen_more = options.listen_more;
    process.environment = options.environment;
    const std::string endpoint = options.upstream_endpoint.empty() ? endpoint_of(upstream.port())
                                                                   : options.upstream_endpoint;
    process.yaml = "upstreams:\n  tool:\n    endpoints: [\"" + endpoint + "\"" +
                   options.more_endpoints + "]\n" + options.upstream_more + options.more +
                   options.routes;
    return process;
  }
};

}  // namespace semel::testing
