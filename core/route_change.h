#pragma once

#include <string>
#include <vector>

#include "core/route.h"
#include "core/route_terms.h"

namespace semel {

/// One way in which a route promises less than it did.
struct RouteChange {
  std::string route;     ///< As it was called: the name that an acknowledgement gives.
  std::string place;     ///< `file:line` of the route as it is now; of the file where it is gone.
  std::string sentence;  ///< What changed, what that frees and what to do, without the place.
};

/// Every change that frees keys: after it a call that was made on a keyed, enforced route and is
/// repeated within its window could run again. Requests that were not keyed cannot lose anything,
/// and what promises more is silent, as are other guards and another caller: calls that were made
/// before it are then refused and never run.
///
/// A route that no longer takes all that it took counts even where nothing else takes it yet: who
/// would take it later is compared with this one, not with the one before.
/// @param before  In the order of their configuration, unkeyed routes too.
/// @param after   At least one, complete, in their order.
[[nodiscard]] std::vector<RouteChange> weakened(const std::vector<RouteTerms>& before,
                                                const std::vector<Route>& after);

/// What stands in the way, a line each: changes of routes that nobody acknowledged, and
/// acknowledgements of routes of which no change frees keys. Empty: go on.
[[nodiscard]] std::vector<std::string> objections(const std::vector<RouteChange>& changes,
                                                  const std::vector<std::string>& acknowledged);

}  // namespace semel
