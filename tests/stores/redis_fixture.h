#pragma once

// Stores in Redis for tests: a real server beside each, on the test's own clock.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "stores/redis_store.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"
#include "tests/support/moved_wall.h"
#include "tests/support/redis_server.h"

namespace semel::testing {

/// A server whose clock stands where a MovedClock of that file stands.
struct StandingRedis {
  explicit StandingRedis(const std::string& clock_file, RedisSetup setup = quick_setup())
      : wall(clock_file), server(on(std::move(setup))) {}

  /// Nothing of it has to survive the test.
  static RedisSetup quick_setup() {
    RedisSetup setup;
    setup.append_only = RedisSetup::AppendOnly::Off;
    return setup;
  }
  RedisSetup on(RedisSetup setup) const {
    setup.wall = &wall;
    return setup;
  }

  MovedWall wall;
  RedisServer server;
};

/// The servers of the test that runs, by the folders of their stores.
class RedisServers : public ::testing::EmptyTestEventListener {
 public:
  static StandingRedis& beside(const std::string& folder) {
    auto& server = all()[folder];
    if (!server) server = std::make_unique<StandingRedis>(clock_file(folder));
    return *server;
  }

 private:
  void OnTestEnd(const ::testing::TestInfo&) override { all().clear(); }
  static std::map<std::string, std::unique_ptr<StandingRedis>>& all() {
    static auto* const servers = [] {
      ::testing::UnitTest::GetInstance()->listeners().Append(new RedisServers);
      return new std::map<std::string, std::unique_ptr<StandingRedis>>;
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
inline RedisOptions options_on(const RedisServer& server) {
  RedisOptions options;
  options.url = server.url();
  options.deadline = 30s;
  return options;
}

inline std::unique_ptr<Store> store_on(const RedisOptions& options, const StoreClock& clock) {
  static_cast<void>(RedisStore::create(options, Execution::CarryOut));
  return std::make_unique<RedisStore>(options, clock);
}

}  // namespace semel::testing
