#include "stores/redis_facts.h"

#include <charconv>

namespace semel {
namespace {

template <class Number>
Number number_of(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

RedisFacts::Role role_of(std::string_view word) {
  if (word == "master") return RedisFacts::Role::Primary;
  if (word == "slave") return RedisFacts::Role::Replica;
  return RedisFacts::Role::Unknown;
}

bool is_replica_line(std::string_view name) {
  return name.starts_with("slave") && name.size() > 5 && name[5] >= '0' && name[5] <= '9';
}

void read_line(std::string_view name, std::string_view value, RedisFacts& facts) {
  if (name == "redis_version") facts.version = value;
  if (name == "run_id") facts.run_id = value;
  if (name == "redis_mode" && value == "sentinel") facts.role = RedisFacts::Role::Sentinel;
  if (name == "role") facts.role = role_of(value);
  if (name == "master_replid") facts.replication_id = value;
  if (name == "aof_enabled") facts.has_aof = value == "1";
  if (name == "maxmemory_policy") facts.eviction = value;
  if (name == "maxmemory") facts.memory_bytes_max = number_of<std::uint64_t>(value);
  if (name == "evicted_keys") facts.evicted = number_of<std::uint64_t>(value);
  if (name == "cluster_enabled") facts.is_cluster = value == "1";
  if (is_replica_line(name) && value.find("state=online") != std::string_view::npos) {
    ++facts.replicas;
  }
}

}  // namespace

RedisFacts read_redis_facts(std::string_view text) {
  RedisFacts facts;
  while (!text.empty()) {
    const auto end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    read_line(line.substr(0, colon), line.substr(colon + 1), facts);
  }
  return facts;
}

}  // namespace semel
