#pragma once

#include <vector>

#include "stores/redis_script.h"

namespace semel {

/// The law of records as a Redis server carries it out: stores/ledger.cc again, in Lua. Each is
/// made of a file of its own in stores/redis and of the pieces that its first line needs.
///
/// Those that end a claim run on a server that is out of memory, too, as long as they bring no
/// payload: a claim can always be ended.
struct RedisScripts {
  RedisScript claim;
  RedisScript look;
  RedisScript record;
  RedisScript record_bare;
  RedisScript release;
  RedisScript mark;
  RedisScript resolve;
  RedisScript resolve_bare;
  RedisScript find;
  RedisScript locate;
  RedisScript list;
  RedisScript forget;
  RedisScript forget_events;
  RedisScript sweep;
  RedisScript trim;
  RedisScript adopt;
  RedisScript routes;
  RedisScript health;
  RedisScript meet;
  RedisScript doubt;
  RedisScript acknowledge;
  RedisScript init;
  RedisScript events;

  [[nodiscard]] std::vector<const RedisScript*> all() const;
};

[[nodiscard]] const RedisScripts& redis_scripts();

}  // namespace semel
