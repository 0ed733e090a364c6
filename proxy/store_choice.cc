// From what the operator said to what a store is opened with: config and stores do not know each
// other.
#include "proxy/store_choice.h"

namespace semel::proxy {
namespace {

std::optional<EventRetention> retention_of(const std::optional<config::EventLog>& events) {
  if (!events) return std::nullopt;
  return EventRetention{events->max_age, events->max_events};
}

}  // namespace

StoreOptions store_options(const config::Config& config) {
  if (const auto* memory = std::get_if<config::MemoryStore>(&config.store)) {
    MemoryOptions options;
    options.records_max = memory->records_max;
    options.bytes_max = memory->bytes_max;
    options.events = retention_of(config.events);
    return options;
  }
  if (const auto* sqlite = std::get_if<config::SqliteStore>(&config.store)) {
    SqliteOptions options;
    options.path = sqlite->path;
    options.state_dir = config.state_dir;
    options.events = retention_of(config.events);
    return options;
  }
  if (const auto* redis = std::get_if<config::RedisStore>(&config.store)) {
    RedisOptions options;
    options.url = redis->url;
    options.wait_replicas = redis->wait_replicas;
    options.sentinel_master = redis->sentinel_master;
    options.sentinels = redis->sentinels;
    options.cluster = redis->cluster;
    options.tls_ca = redis->tls.ca;
    options.tls_certificate = redis->tls.certificate;
    options.tls_key = redis->tls.key;
    options.state_dir = config.state_dir;
    options.events = retention_of(config.events);
    return options;
  }
  PostgresOptions options;
  options.url = std::get<config::PostgresStore>(config.store).url;
  options.state_dir = config.state_dir;
  options.events = retention_of(config.events);
  return options;
}

Agreement::Sharing sharing_of(const config::Config& config) {
  const bool is_shared = std::holds_alternative<config::RedisStore>(config.store) ||
                         std::holds_alternative<config::PostgresStore>(config.store);
  return is_shared ? Agreement::Sharing::WithOthers : Agreement::Sharing::Alone;
}

}  // namespace semel::proxy
