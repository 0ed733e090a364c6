#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/route.h"

namespace semel::config {

/// `host:port`, `[v6]:port` or `unix:/path`.
struct Address {
  std::string host;  ///< Without brackets. Empty for a unix socket.
  std::uint16_t port = 0;
  std::string unix_path;  ///< Empty for TCP.
  [[nodiscard]] std::string text() const;
  bool operator==(const Address&) const = default;
};

struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string ca;  ///< `client_ca` of a listener, `ca` of an upstream or of a store.
  std::string server_name;
  bool operator==(const TlsFiles&) const = default;
};

struct Endpoint {
  Address address;
  bool tls = false;
  std::string authority;  ///< As the Host header of a request to it.
};

struct Upstream {
  std::string name;
  std::vector<Endpoint> endpoints;
  std::optional<TlsFiles> tls;
  std::chrono::milliseconds connect_timeout{1'000};
  std::chrono::milliseconds keepalive_effectful{1'000};
  std::size_t connections_max = 1024;  ///< Of one worker.
};

struct MemoryStore {
  bool allow_volatile = false;
  std::size_t records_max = 1'000'000;
  std::size_t bytes_max = 512ull * 1024 * 1024;
  bool operator==(const MemoryStore&) const = default;
};
struct SqliteStore {
  std::string path;
  bool operator==(const SqliteStore&) const = default;
};
struct RedisStore {
  std::string url;
  int wait_replicas = 0;
  std::optional<std::string> sentinel_master;
  std::vector<std::string> sentinels;
  bool cluster = false;
  TlsFiles tls = {};  ///< For `rediss:`; empty: whom the system trusts, and nothing is shown.
  bool operator==(const RedisStore&) const = default;
};
struct PostgresStore {
  std::string url;
  bool operator==(const PostgresStore&) const = default;
};
using StoreChoice = std::variant<MemoryStore, SqliteStore, RedisStore, PostgresStore>;

/// How much is kept of what became of records.
struct EventLog {
  std::chrono::seconds max_age{7 * 86'400};
  std::size_t max_events = 1'000'000;
  bool operator==(const EventLog&) const = default;
};

struct Limits {
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::size_t body_min_rate = 256;  ///< Bytes a second, after the first second.
  std::chrono::milliseconds idle_timeout{60'000};
  std::size_t connections = 4096;
  std::size_t connections_per_address = 1024;
  std::size_t buffered_bytes = 256ull * 1024 * 1024;
  std::size_t followers_per_key = 1000;
  std::optional<std::size_t> new_keys_per_tenant;
};

struct Listener {
  Address address;
  std::optional<TlsFiles> tls;
  std::vector<std::string> authorities;  ///< Empty: any Host is ours, absolute-form is not taken.
  bool proxy_protocol = false;
};

struct Admin {
  Address address;
  std::string token;  ///< Empty: one is written to state_dir/admin.token.
  bool operator==(const Admin&) const = default;
};

/// What the operator said, complete: every default is filled in.
struct Config {
  std::string file;
  Listener listen;
  std::optional<Address> metrics;
  std::optional<Admin> admin;
  std::string state_dir = "./semel-state";
  unsigned workers = 0;  ///< 0: one per core.
  StoreChoice store;
  std::optional<EventLog> events;  ///< Absent: no transition log.
  std::vector<Upstream> upstreams;
  std::vector<Route> routes;
  Limits limits;
  std::optional<std::string> access_log = "-";  ///< Absent: off. `-`: standard output.
  std::vector<std::string> warnings;  ///< Sentences with file:line for `check` and for the start.
};

}  // namespace semel::config
