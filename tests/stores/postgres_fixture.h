#pragma once

// Stores in PostgreSQL for tests: a real server beside each, on the test's own clock.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/open.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"
#include "tests/support/deadline.h"
#include "tests/support/moved_wall.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {

/// A server whose clock stands where a MovedClock of that file stands.
struct StandingPostgres {
  explicit StandingPostgres(const std::string& clock_file) : wall(clock_file), server(setup()) {}

  /// Nothing of it has to survive the test. With a clock that stands nothing of it happens by time.
  PostgresSetup setup() const {
    PostgresSetup setup;
    setup.settings = {"fsync = off", "max_connections = 200"};
    setup.wall = &wall;
    return setup;
  }

  MovedWall wall;
  PostgresServer server;
};

/// The servers of the test that runs, by the folders of their stores.
class PostgresServers : public ::testing::EmptyTestEventListener {
 public:
  static StandingPostgres& beside(const std::string& folder) {
    auto& server = all()[folder];
    if (!server) server = std::make_unique<StandingPostgres>(clock_file(folder));
    return *server;
  }

 private:
  void OnTestEnd(const ::testing::TestInfo&) override { all().clear(); }
  static std::map<std::string, std::unique_ptr<StandingPostgres>>& all() {
    static auto* const servers = [] {
      ::testing::UnitTest::GetInstance()->listeners().Append(new PostgresServers);
      return new std::map<std::string, std::unique_ptr<StandingPostgres>>;
    }();
    return *servers;
  }
  /// A store may have a folder in the test's, where the clock is.
  static std::string clock_file(const std::filesystem::path& folder) {
    const auto inside = folder / "clock";
    return std::filesystem::exists(inside) ? inside : folder.parent_path() / "clock";
  }
};

/// Options for a store on that server, with patience for a loaded machine.
inline PostgresOptions options_on(const PostgresServer& server) {
  PostgresOptions options;
  options.url = server.url();
  options.deadline = 30s;
  return options;
}

inline std::unique_ptr<Store> store_on(const PostgresOptions& options, const StoreClock& clock) {
  static_cast<void>(init_store(options));
  return open_store(options, clock);
}

/// Several processes that share one server: each store is one of them.
class PostgresReplicas : public ::testing::Test {
 protected:
  explicit PostgresReplicas(PostgresSetup setup = {}) : server_(std::move(setup)) {
    static_cast<void>(init_store(options("")));
  }
  ~PostgresReplicas() override {
    for (const auto& store : stores_) store->close();
  }

  /// @param replica  Its name, and that of its state_dir; empty: it has none.
  PostgresOptions options(const std::string& replica) {
    PostgresOptions options = options_on(server_);
    if (!replica.empty()) options.state_dir = folder_.path() + "/" + replica;
    return options;
  }
  /// A process begins. Its store is closed at the end of the test, if not before.
  Store& start(const std::string& replica = {}) { return start(options(replica)); }
  Store& start(const PostgresOptions& options) {
    stores_.push_back(open_store(options, StoreClock::real()));
    return *stores_.back();
  }
  /// It ends in an orderly way.
  void end(Store& store) {
    store.close();
    std::erase_if(stores_, [&](const auto& one) { return one.get() == &store; });
  }

  /// Asks until the server is there again and has an answer.
  template <class Ask>
  auto asked_until_answered(Ask ask) {
    auto answer = run(ask());
    static_cast<void>(eventually([&] {
      if (answer || answer.error() == Fault::StoreSuspect) return true;
      answer = run(ask());
      return answer.has_value();
    }));
    return answer;
  }
  /// What `request` is told, once it is told something.
  Result<ClaimReply> claim(Store& store, const ClaimRequest& request) {
    return asked_until_answered([&] { return store.claim(request); });
  }
  template <class Reply>
  static bool is(const Result<ClaimReply>& reply) {
    return reply && std::holds_alternative<Reply>(*reply);
  }
  Attempt granted(Store& store, const ClaimRequest& request) {
    const auto reply = claim(store, request);
    EXPECT_TRUE(is<Granted>(reply)) << "not granted";
    return {request.key, request.token,
            is<Granted>(reply) ? std::get<Granted>(*reply).fence : Fence{}};
  }

  PostgresServer server_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Store>> stores_;
};

}  // namespace semel::testing
