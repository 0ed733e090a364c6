#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

/// What one server says about itself, read at each connect and now and then.
struct RedisFacts {
  enum class Role : std::uint8_t { Primary, Replica, Sentinel, Unknown };
  std::string node;            ///< `host:port` as it was dialled.
  std::string version;         ///< "7.0.15"
  std::string run_id;          ///< Another one: it was restarted, or it is another server.
  std::string replication_id;  ///< Another one: a replica was promoted, or it began anew.
  Role role = Role::Unknown;
  std::size_t replicas = 0;  ///< Connected and in step.
  bool is_cluster = false;
  bool has_aof = false;
  std::string fsync;                   ///< `always`, `everysec`, `no`; empty: it does not say.
  std::string eviction;                ///< `noeviction`, ...; empty: it does not say.
  std::uint64_t memory_bytes_max = 0;  ///< 0: no limit.
  std::uint64_t evicted = 0;           ///< Keys that this run of it has dropped to make room.
};

/// Out of what INFO answers. What it does not say stays as it is in a fresh one.
[[nodiscard]] RedisFacts read_redis_facts(std::string_view text);

}  // namespace semel
