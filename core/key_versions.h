#pragma once

#include <optional>
#include <vector>

#include "core/key.h"
#include "core/route_terms.h"

namespace semel {

/// How many earlier versions of one route are looked up.
inline constexpr std::size_t kEarlierVersionsMax = 4;

/// True if the route's key version rose: its earlier keys are then looked up, and none is freed.
[[nodiscard]] bool is_raised(const std::optional<int>& from, const std::optional<int>& to);

/// The terms of the routes as they follow on those that a store remembers: where a key version was
/// raised, the one before is kept with them, and so are older ones, as many as may be.
[[nodiscard]] std::vector<RouteTerms> successors(const std::vector<RouteTerms>& before,
                                                 const std::vector<Route>& after);

/// Gives each route the earlier versions that its terms name.
void attach_earlier(const std::vector<RouteTerms>& terms, std::vector<Route>& routes);

/// The keys that this request had under the earlier versions of its route, youngest first. Where
/// it could not be keyed there is none: such a call was refused then.
[[nodiscard]] std::vector<DerivedKey> earlier_keys(const KeyInputs& inputs);

}  // namespace semel
