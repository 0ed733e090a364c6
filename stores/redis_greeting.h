#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stores/redis_facts.h"
#include "stores/redis_site.h"
#include "stores/redis_wire.h"

namespace semel {

/// What came of saying who we are and asking who they are.
struct RedisGreeting {
  RedisFacts facts;
  std::string refusal;            ///< Why the server is not to be used; empty: it is.
  std::vector<RedisSlots> slots;  ///< Of a cluster.
};

/// The first words on a connection: user, database, what the server is and promises, and the
/// scripts that it will be asked for. A server that evicts, that is no primary or that is not what
/// the options say is refused.
[[nodiscard]] Task<RedisGreeting> greet_redis(std::shared_ptr<RedisSite> site,
                                              std::shared_ptr<RedisWire> wire, Peer peer,
                                              RedisCall::Clock::time_point until);

/// The questions alone, on a connection that was greeted before.
[[nodiscard]] Task<RedisGreeting> ask_redis_facts(std::shared_ptr<RedisSite> site,
                                                  std::shared_ptr<RedisWire> wire, Peer peer,
                                                  RedisCall::Clock::time_point until);

/// `AUTH user password`, as the URL has them. Empty: the server knows us without.
[[nodiscard]] std::vector<std::string> redis_login(const RedisUrl& url);

}  // namespace semel
