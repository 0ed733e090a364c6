#pragma once

#include <cstddef>
#include <vector>

#include "core/route.h"
#include "core/route_terms.h"

namespace semel {

/// The routes of ours that may take no calls while the store remembers other ones, because another
/// replica has changed them: the same call would get two keys, or be held back there and not here.
///
/// That is so of a route whose digest is another one, or which the store does not know, if either
/// side promises anything; and of a route that takes a request which a promised one of the store's
/// takes there. Two routes that promise nothing may differ as they like.
/// @param remembered  In their order, unkeyed routes too: Store::routes().
/// @param ours        In their order.
/// @return Places in `ours`, rising.
/// @source spec 4, "Changing a route frees its keys".
[[nodiscard]] std::vector<std::size_t> disagreeing(const std::vector<RouteTerms>& remembered,
                                                   const std::vector<Route>& ours);

}  // namespace semel
