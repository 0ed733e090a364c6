#include "proxy/editions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

config::Config some_config() {
  config::Config config;
  config.file = "semel.yaml";
  config.listen.address.host = "127.0.0.1";
  config.listen.address.port = 8080;
  config.metrics = config.listen.address;
  config.admin = config::Admin{config.listen.address, ""};
  config.store = config::SqliteStore{"./semel.db"};
  return config;
}

TEST(NeedingRestart, IsNothingThatAReloadTakes) {
  config::Config wanted = some_config();
  wanted.listen.authorities = {"gateway.test"};
  wanted.limits.connections = 1;
  wanted.limits.idle_timeout *= 2;
  wanted.upstreams.emplace_back().name = "more";
  wanted.routes.emplace_back().name = "more";
  EXPECT_THAT(needing_restart(some_config(), wanted), IsEmpty());
}

struct Change {
  const char* key;
  void (*change)(config::Config&);
};

TEST(NeedingRestart, IsSaidOfEachKeyByItsName) {
  const Change kChanges[] = {
      {"listen.address", [](config::Config& c) { c.listen.address.port = 8081; }},
      {"listen.tls", [](config::Config& c) { c.listen.tls.emplace(); }},
      {"metrics", [](config::Config& c) { c.metrics.reset(); }},
      {"admin", [](config::Config& c) { c.admin->address.host = "::1"; }},
      {"admin", [](config::Config& c) { c.admin->token = "another"; }},
      {"store", [](config::Config& c) { c.store = config::SqliteStore{"./other.db"}; }},
      {"store", [](config::Config& c) { c.store = config::MemoryStore{}; }},
      {"workers", [](config::Config& c) { c.workers = 3; }},
      {"state_dir", [](config::Config& c) { c.state_dir = "./elsewhere"; }},
      {"access_log", [](config::Config& c) { c.access_log.reset(); }},
  };
  for (const Change& row : kChanges) {
    config::Config wanted = some_config();
    row.change(wanted);
    EXPECT_THAT(needing_restart(some_config(), wanted),
                ElementsAre(StartsWith(std::string("semel.yaml: ") + row.key + ": a reload")));
  }
}

}  // namespace
}  // namespace semel::proxy
