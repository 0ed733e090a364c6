#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/effect_tool.h"
#include "tests/e2e/gateway.h"
#include "tests/support/faulty_link.h"
#include "tests/support/shared_server.h"

namespace semel::testing {

/// One replica, with what a test wants to be different from the others.
struct ReplicaOptions {
  std::string binary = semel_binary();
  std::vector<std::string> environment = {};
};

struct ReplicasOptions {
  SharedKind kind = SharedKind::Redis;
  std::vector<ReplicaOptions> replicas = {{}, {}};
  std::string routes = tool_routes();
  std::string more = {};            ///< Further top-level YAML.
  std::string store_more = {};      ///< Further keys of the store: `, wait_replicas: 1`.
  std::string endpoint = {};        ///< Empty: that of the tool of `Replicas`.
  const MovedWall* wall = nullptr;  ///< The server's clock.
};

/// Several processes of Semel, each with a state_dir and ports of its own, on one Redis or one
/// PostgreSQL, before one tool that counts its effects by run. Each reaches the server by a link of
/// its own, which the test may break.
class Replicas {
 public:
  /// Starts the server, initialises the store by the first replica, and starts them all.
  explicit Replicas(const ReplicasOptions& options) : server(options.kind, options.wall) {
    upstream.script([this](Turn& turn) { tool.play(turn); });
    for (const ReplicaOptions& replica : options.replicas) {
      FaultyLink& link = links_.emplace_back(server.port());
      replicas_.emplace_back(process_options(options, replica, link.port()));
    }
    replicas_.front().init_store();
    for (SemelProcess& replica : replicas_) replica.start();
  }

  SharedServer server;
  EffectTool tool;
  ScriptedUpstream upstream;

  [[nodiscard]] SemelProcess& at(std::size_t which) { return replicas_.at(which); }
  [[nodiscard]] FaultyLink& link(std::size_t which) { return links_.at(which); }
  [[nodiscard]] std::size_t size() const { return replicas_.size(); }

  /// A call of that run at one of the replicas.
  [[nodiscard]] Response call(std::size_t which, const std::string& run,
                              const std::string& path = "/tools/book") {
    return testing::call(at(which).port(), request(run, path));
  }
  /// The same beside the test, which goes on.
  [[nodiscard]] std::future<Response> begin(std::size_t which, const std::string& run,
                                            const std::string& path = "/tools/book") {
    return std::async(std::launch::async,
                      [this, which, run, path] { return call(which, run, path); });
  }
  [[nodiscard]] static Request request(const std::string& run,
                                       const std::string& path = "/tools/book") {
    return Gateway::tool_request(path, kBooking, {{"X-Run-Id", run}});
  }
  /// Asks again, as a client does that is told to, until the answer is no 503.
  [[nodiscard]] Response call_until_served(std::size_t which, const std::string& run,
                                           const std::string& path = "/tools/book",
                                           milliseconds patience = milliseconds{30'000}) {
    Response answer;
    static_cast<void>(eventually(
        [&] {
          answer = call(which, run, path);
          return answer.status != 503 && answer.is_complete();
        },
        patience));
    return answer;
  }

  /// The sum of a metric over all replicas.
  [[nodiscard]] double metric(std::string_view name) const {
    double sum = 0;
    for (const SemelProcess& replica : replicas_) sum += replica.metric(name);
    return sum;
  }

 private:
  [[nodiscard]] SemelOptions process_options(const ReplicasOptions& options,
                                             const ReplicaOptions& replica,
                                             std::uint16_t store_port) const {
    SemelOptions process;
    process.binary = replica.binary;
    process.environment = replica.environment;
    process.store = StoreKind::Shared;
    process.shared_store = server.yaml(store_port, options.store_more);
    const std::string endpoint =
        options.endpoint.empty() ? endpoint_of(upstream.port()) : options.endpoint;
    process.yaml = "upstreams:\n  tool:\n    endpoints: [\"" + endpoint + "\"]\n" + options.more +
                   options.routes;
    return process;
  }

  std::deque<FaultyLink> links_;
  std::deque<SemelProcess> replicas_;
};

/// A law of replicas, on each kind of store.
class OnSharedStore : public ::testing::TestWithParam<SharedKind> {
 protected:
  void SetUp() override {
    if (!SharedServer::is_installed(GetParam())) {
      GTEST_SKIP() << name(GetParam()) << " is not installed";
    }
  }
  [[nodiscard]] static ReplicasOptions options() {
    ReplicasOptions options;
    options.kind = GetParam();
    return options;
  }
};

inline std::string name_of_kind(const ::testing::TestParamInfo<SharedKind>& row) {
  return std::string(name(row.param));
}

inline auto each_shared_store() { return ::testing::ValuesIn(kSharedKinds); }

}  // namespace semel::testing
