#pragma once

#include <string>
#include <vector>

#include "stores/redis_facts.h"

namespace semel {

/// What the servers' settings promise of an answer that was given, in words. Of several servers the
/// one that promises least speaks.
[[nodiscard]] std::string redis_grade(const std::vector<RedisFacts>& servers, int wait_replicas);
/// Why nothing that is written is ever told; empty: enough replicas are there.
/// @param wait_replicas  How many have to say that they have a write.
[[nodiscard]] std::string redis_shortage(const RedisFacts& server, int wait_replicas);

/// Why no store may live there, as a sentence with its cure; empty: it may.
[[nodiscard]] std::string redis_objection(const RedisFacts& server);

}  // namespace semel
