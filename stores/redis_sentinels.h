#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stores/link_watch.h"
#include "stores/redis_site.h"

namespace semel {

/// Who takes writes, or why nobody knows.
struct RedisPrimary {
  std::optional<Peer> peer;
  std::string failure;
};

/// The server of the URL, or the one that the sentinels name: of all that answer, the one whose
/// word is the latest. The topology is told.
[[nodiscard]] Task<RedisPrimary> find_redis_primary(std::shared_ptr<RedisSite> site,
                                                    std::shared_ptr<LinkWatch> watch,
                                                    Deadlines::Clock::time_point until);

}  // namespace semel
