#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/tcp.h"

namespace semel {

/// Where a Redis is, and who we are there.
struct RedisUrl {
  enum class Wire : std::uint8_t { Plain, Tls };
  Wire wire = Wire::Plain;
  Peer peer;
  std::string user;      ///< Decoded; empty: the server's default user.
  std::string password;  ///< Decoded; empty: we do not say who we are.
  unsigned database = 0;
};

/// `redis[s]://[user[:password]@]host[:port][/database]`, user and password percent-encoded, an
/// IPv6 address in brackets. As is usual with Redis, `redis://:password@host` is the default user.
/// @throws StoreError whose sentence never shows the password.
[[nodiscard]] RedisUrl parse_redis_url(std::string_view text);

/// `host:port`, an IPv6 address in brackets. @throws StoreError
[[nodiscard]] Peer parse_redis_peer(std::string_view text, std::uint16_t default_port);
/// The same in writing: what a node is called.
[[nodiscard]] std::string name_of(const Peer& peer);

}  // namespace semel
