#include "proxy/store_choice.h"

#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

config::Config config_with(config::StoreChoice store) {
  config::Config config;
  config.file = "semel.yaml";
  config.state_dir = "./state";
  config.store = std::move(store);
  return config;
}

TEST(StoreChoice, MemoryGetsItsBounds) {
  config::MemoryStore store;
  store.records_max = 7;
  store.bytes_max = 8;
  const auto options = std::get<MemoryOptions>(store_options(config_with(store)));
  EXPECT_EQ(options.records_max, 7u);
  EXPECT_EQ(options.bytes_max, 8u);
}

TEST(StoreChoice, SqliteGetsItsFileAndTheFolderOfItsWitness) {
  const auto options =
      std::get<SqliteOptions>(store_options(config_with(config::SqliteStore{"./semel.db"})));
  EXPECT_EQ(options.path, "./semel.db");
  EXPECT_EQ(options.state_dir, "./state");
}

TEST(StoreChoice, RedisGetsItsServersAndTheFolderOfItsWitness) {
  config::RedisStore store;
  store.url = "rediss://h:1/2";
  store.wait_replicas = 2;
  store.sentinel_master = "semel";
  store.sentinels = {"a:1", "b:2"};
  store.tls = {"./client.pem", "./client.key", "./ca.pem", ""};
  const auto options = std::get<RedisOptions>(store_options(config_with(store)));
  EXPECT_EQ(options.url, "rediss://h:1/2");
  EXPECT_EQ(options.wait_replicas, 2);
  EXPECT_EQ(options.sentinel_master, "semel");
  EXPECT_EQ(options.sentinels, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(options.tls_ca, "./ca.pem");
  EXPECT_EQ(options.tls_certificate, "./client.pem");
  EXPECT_EQ(options.tls_key, "./client.key");
  EXPECT_FALSE(options.cluster);
  EXPECT_EQ(options.state_dir, "./state");
  store.sentinel_master.reset();
  store.cluster = true;
  EXPECT_TRUE(std::get<RedisOptions>(store_options(config_with(store))).cluster);
}

TEST(StoreChoice, PostgresGetsItsUrlAndTheFolderOfItsWitness) {
  config::PostgresStore store;
  store.url = "postgres://semel@h/semel";
  const auto options = std::get<PostgresOptions>(store_options(config_with(store)));
  EXPECT_EQ(options.url, "postgres://semel@h/semel");
  EXPECT_EQ(options.state_dir, "./state");
}

TEST(StoreChoice, OnlyRedisAndPostgresAreSharedWithOtherReplicas) {
  EXPECT_EQ(sharing_of(config_with(config::MemoryStore{})), Agreement::Sharing::Alone);
  EXPECT_EQ(sharing_of(config_with(config::SqliteStore{})), Agreement::Sharing::Alone);
  EXPECT_EQ(sharing_of(config_with(config::RedisStore{})), Agreement::Sharing::WithOthers);
  EXPECT_EQ(sharing_of(config_with(config::PostgresStore{})), Agreement::Sharing::WithOthers);
}

TEST(StoreChoice, EveryStoreGetsTheBoundsOfTheTransitionLog) {
  const config::StoreChoice kStores[] = {config::MemoryStore{}, config::SqliteStore{"./semel.db"},
                                         config::RedisStore{}, config::PostgresStore{}};
  for (const config::StoreChoice& store : kStores) {
    config::Config config = config_with(store);
    const auto events_of = [&config] {
      return std::visit([](const auto& options) { return options.events; }, store_options(config));
    };
    EXPECT_FALSE(events_of());
    config.events = config::EventLog{std::chrono::seconds(5), 6};
    ASSERT_TRUE(events_of());
    EXPECT_EQ(events_of()->age, std::chrono::seconds(5));
    EXPECT_EQ(events_of()->count, 6u);
  }
}

}  // namespace
}  // namespace semel::proxy
