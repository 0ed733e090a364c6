#include "config/read_server.h"

#include <algorithm>
#include <limits>

#include "config/addresses.h"
#include "config/read_tls.h"

namespace semel::config {
namespace {

using std::chrono::milliseconds;

constexpr Range<milliseconds> kTimeout{milliseconds(1), kDurationAtMost};
constexpr Range<std::int64_t> kCount{1, 1'000'000'000};
constexpr Range<std::size_t> kBytes{1, std::size_t{1} << 40};

void read_duration(const Mapping& mapping, std::string_view key, milliseconds& duration) {
  if (const auto value = mapping.find(key)) duration = value->duration(kTimeout);
}

void read_count(const Mapping& mapping, std::string_view key, std::size_t& count) {
  if (const auto value = mapping.find(key))
    count = static_cast<std::size_t>(value->integer(kCount));
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Listener read_listener(const Mapping& mapping) {
  Listener listener;
  listener.address = read_address(mapping.require("address"));
  if (const auto value = mapping.find("tls")) {
    const Mapping tls = value->mapping(kListenTlsGrammar);
    listener.tls.emplace();
    listener.tls->certificate = tls.require("certificate").nonempty_text();
    listener.tls->key = tls.require("key").nonempty_text();
    if (const auto ca = tls.find("client_ca")) listener.tls->ca = ca->nonempty_text();
  }
  if (const auto value = mapping.find("authorities")) {
    for (const Value& item : value->items()) listener.authorities.push_back(item.nonempty_text());
    if (listener.authorities.empty()) {
      value->fail("is empty; list the Host values that are yours, or remove the key");
    }
  }
  if (const auto value = mapping.find("proxy_protocol")) {
    listener.proxy_protocol = value->boolean();
  }
  return listener;
}

Admin read_admin(const Mapping& mapping) {
  Admin admin;
  admin.address = read_address(mapping.require("address"));
  if (const auto value = mapping.find("token")) {
    admin.token = value->secret();
    if (!is_visible_ascii(admin.token)) {
      value->fail("has characters that no header carries; use visible ASCII without spaces");
    }
  }
  return admin;
}

Limits read_limits(const Mapping& mapping) {
  Limits limits;
  read_duration(mapping, "header_timeout", limits.header_timeout);
  read_duration(mapping, "body_timeout", limits.body_timeout);
  read_duration(mapping, "idle_timeout", limits.idle_timeout);
  if (const auto value = mapping.find("body_min_rate")) {
    limits.body_min_rate = static_cast<std::size_t>(value->integer({0, kCount.max}));
  }
  read_count(mapping, "connections", limits.connections);
  read_count(mapping, "connections_per_address", limits.connections_per_address);
  read_count(mapping, "followers_per_key", limits.followers_per_key);
  if (const auto value = mapping.find("buffered_bytes"))
    limits.buffered_bytes = value->size(kBytes);
  if (const auto value = mapping.find("new_keys_per_tenant"); value && !value->is_word("off")) {
    limits.new_keys_per_tenant = static_cast<std::size_t>(value->integer(kCount));
  }
  return limits;
}

MemoryStore read_memory(const Mapping& mapping) {
  MemoryStore store;
  if (const auto value = mapping.find("allow_volatile")) store.allow_volatile = value->boolean();
  read_count(mapping, "max_records", store.records_max);
  if (const auto value = mapping.find("max_bytes")) store.bytes_max = value->size(kBytes);
  return store;
}

/// Errors do not quote the URL: it may hold a password.
std::string read_url(const Value& value, std::initializer_list<std::string_view> schemes) {
  const std::string url = value.nonempty_text();
  for (const std::string_view scheme : schemes) {
    if (url.starts_with(scheme) && url.size() > scheme.size()) return url;
  }
  value.fail("is no URL of this store; begin with " +
             enumerate(std::vector<std::string_view>(schemes)));
}

RedisStore read_redis(const Mapping& mapping) {
  RedisStore store;
  store.url = read_url(mapping.require("url"), {"redis://", "rediss://"});
  if (const auto value = mapping.find("wait_replicas")) {
    store.wait_replicas = static_cast<int>(value->integer({0, 100}));
  }
  if (const auto value = mapping.find("cluster")) store.cluster = value->boolean();
  if (const auto value = mapping.find("sentinel")) {
    if (store.cluster) value->fail("a cluster has no Sentinel; remove one of the two");
    const Mapping sentinel = value->mapping(kSentinelGrammar);
    store.sentinel_master = sentinel.require("master").nonempty_text();
    for (const Value& item : sentinel.require("addresses").items()) {
      store.sentinels.push_back(read_address(item).text());
    }
    if (store.sentinels.empty()) {
      sentinel.require("addresses").fail("is empty; list host:port of each sentinel");
    }
  }
  if (const auto value = mapping.find("tls")) {
    store.tls = read_client_tls(value->mapping(kRedisTlsGrammar));
    if (!store.url.starts_with("rediss://")) {
      value->fail("the url is redis://, which speaks no TLS; write rediss:// or remove tls");
    }
  }
  return store;
}

}  // namespace

Address read_address(const Value& value) {
  const std::string text = value.nonempty_text();
  const auto address = parse_address(text);
  if (!address) value.fail("\"" + text + "\" is no address; write host:port or \"[v6]:port\"");
  return *address;
}

void check_name(const Value& value, std::string_view name) {
  constexpr std::size_t kNameMax = 64;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool is_valid = !name.empty() && name.size() <= kNameMax && is_plain(name[0]) &&
                        std::all_of(name.begin(), name.end(), [&](char c) {
                          return is_plain(c) || c == '_' || c == '-' || c == '.';
                        });
  if (!is_valid) {
    value.fail("\"" + std::string(name) +
               "\" is no name; write 1 to 64 letters, digits, \"_\", \"-\" or \".\", the first a "
               "letter or digit");
  }
}

StoreChoice read_store(const Value& value) {
  const Mapping mapping = value.mapping(kStoreGrammar);
  const std::vector<std::string_view> kinds = mapping.keys();
  if (kinds.empty()) {
    mapping.fail("store: names no store; write one, such as sqlite: {path: ./semel.db}");
  }
  if (kinds.size() > 1) {
    mapping.fail_at_key(kinds[1], "store: names both " + std::string(kinds[0]) + " and " +
                                      std::string(kinds[1]) + "; keep exactly one");
  }
  const Value chosen = mapping.require(kinds[0]);
  if (chosen.name() == "memory") return read_memory(chosen.mapping(kMemoryGrammar));
  if (chosen.name() == "redis") return read_redis(chosen.mapping(kRedisGrammar));
  if (chosen.name() == "postgres") {
    return PostgresStore{read_url(chosen.mapping(kPostgresGrammar).require("url"),
                                  {"postgres://", "postgresql://"})};
  }
  return SqliteStore{chosen.mapping(kSqliteGrammar).require("path").nonempty_text()};
}

std::optional<EventLog> read_events(const Value& value) {
  if (value.is_word("off")) return std::nullopt;
  const Mapping mapping = value.mapping(kEventsGrammar);
  EventLog log;
  if (const auto age = mapping.find("max_age")) {
    const milliseconds kept = age->duration({milliseconds(1'000), kDurationAtMost});
    if (kept % 1'000 != milliseconds(0)) age->fail("must be whole seconds; write 1s or more");
    log.max_age = std::chrono::duration_cast<std::chrono::seconds>(kept);
  }
  read_count(mapping, "max_events", log.max_events);
  return log;
}

/// Port 0 is another one each time.
void check_own_address(const Value& value, const Address& address, const Address& taken,
                       const std::string& by) {
  if (address.port == 0 || address.text() != taken.text()) return;
  value.fail(address.text() + " is the one of " + by +
             " already; give each listener a port of its own");
}

void read_listeners(const Mapping& top, Config& config) {
  config.listen = read_listener(top.require("listen").mapping(kListenGrammar));
  const Address& front = config.listen.address;
  if (const auto value = top.find("metrics"); value && !value->is_word("off")) {
    config.metrics = read_address(value->mapping(kMetricsGrammar).require("address"));
    check_own_address(*value, *config.metrics, front, "listen");
  }
  if (const auto value = top.find("admin"); value && !value->is_word("off")) {
    config.admin = read_admin(value->mapping(kAdminGrammar));
    check_own_address(*value, config.admin->address, front, "listen");
    if (config.metrics) {
      check_own_address(*value, config.admin->address, *config.metrics, "metrics");
    }
  }
}

void read_server(const Mapping& top, Config& config) {
  const Value version = top.require("version");
  if (version.integer({0, kCount.max}) != 1) version.fail("only version 1 is known; write 1");
  read_listeners(top, config);
  if (const auto value = top.find("state_dir")) config.state_dir = value->nonempty_text();
  if (const auto value = top.find("workers"); value && !value->is_word("auto")) {
    config.workers = static_cast<unsigned>(value->integer({1, 1024}));
  }
  if (const auto value = top.find("access_log")) {
    if (value->is_word("off")) {
      config.access_log.reset();
    } else {
      config.access_log = value->mapping(kAccessLogGrammar).require("path").nonempty_text();
    }
  }
  if (const auto value = top.find("limits")) {
    config.limits = read_limits(value->mapping(kLimitsGrammar));
  }
  config.store = read_store(top.require("store"));
  if (const auto value = top.find("events")) config.events = read_events(*value);
}

}  // namespace semel::config
