#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/fault.h"
#include "io/tcp.h"
#include "stores/redis_reply.h"

namespace semel {

/// Why a server did not carry a command out at all. Nothing was changed by any of these.
enum class RedisRefusal : std::uint8_t {
  None,         ///< It answered, or failed in a way that is not known here.
  UnknownText,  ///< NOSCRIPT: it wants the script's text.
  Moved,        ///< The slot is another node's.
  Asked,        ///< This key's slot is on its way: ask over there, this once.
  TryAgain,     ///< Some keys of the slot are here and some over there already.
  Demoted,      ///< It is a replica.
  Full,         ///< Out of memory.
  Unable,       ///< It is loading, busy, lacks replicas or cannot save: not now.
  Forbidden,    ///< We are not who may do this.
};

/// By the first word of an error. What a script says in the middle of its work begins with none of
/// these words, or comes before its first write; but for what an access list forbids it, which is
/// no refusal for that.
/// @source redis.io "Redis error codes"; src/server.c of 7.0, createSharedObjects().
[[nodiscard]] RedisRefusal refusal_of(const RedisReply& reply);

/// What the caller of a store may assume.
[[nodiscard]] Fault fault_of(RedisRefusal refusal);

/// What may be told of an error that answered AUTH, or anything else with a password in it: its
/// code, where that is one of Redis. Who does not know the command quotes its arguments.
[[nodiscard]] std::string login_refusal(const RedisReply& reply);

/// Where `MOVED 3999 host:port` and `ASK 3999 host:port` point.
/// @param asked  The node that said so: an empty host is its own.
/// @return Absent: it names nothing.
[[nodiscard]] std::optional<Peer> redirect_of(const RedisReply& reply, const Peer& asked);

}  // namespace semel
