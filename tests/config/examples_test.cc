#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "config/load.h"

namespace semel::config {
namespace {

TEST(Examples, EachIsAConfigurationWithoutAWarning) {
  std::vector<std::string> stores;
  for (const auto& entry : std::filesystem::directory_iterator(SEMEL_SOURCE_DIR "/config")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".example.yaml")) continue;
    const Config config = load_file(path, [](const std::string&) { return std::nullopt; });
    EXPECT_THAT(config.warnings, testing::IsEmpty()) << path;
    stores.push_back(std::holds_alternative<SqliteStore>(config.store)     ? "sqlite"
                     : std::holds_alternative<RedisStore>(config.store)    ? "redis"
                     : std::holds_alternative<PostgresStore>(config.store) ? "postgres"
                                                                           : "memory");
  }
  EXPECT_THAT(stores, testing::IsSupersetOf({"sqlite", "redis", "postgres"}));
}

}  // namespace
}  // namespace semel::config
