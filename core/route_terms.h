#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.h"
#include "core/result.h"
#include "core/route.h"

namespace semel {

/// How a route made keys before its key version was raised. Kept for good: whether a record still
/// stands under one of them only the store can say, and asking is cheap.
struct EarlierTerms {
  std::string pattern;
  KeyRecipe key;
  std::optional<int> key_version;
  bool operator==(const EarlierTerms&) const = default;
};

/// What a store remembers of one route, so that a change that frees its keys is noticed (spec 4).
///
/// Spelled in one way: sets are sorted, header names are in lower case, the operator's `stable` is
/// left out. Two terms are equal exactly if the routes key and keep calls alike.
struct RouteTerms {
  std::string name;
  Policy policy = Policy::None;
  Mode mode = Mode::Enforce;
  std::vector<std::string> methods;  ///< Sorted; empty: any method.
  std::string pattern;               ///< As written.
  KeyRecipe key;  ///< Guards and caller too: they free no key, but replicas must agree on them.
  std::optional<int> key_version;
  std::chrono::seconds retention{0};
  std::optional<std::chrono::seconds> indeterminate_retention;  ///< Absent: never.
  std::vector<EarlierTerms> earlier;  ///< Youngest first. Not of the route: of the store's keys.
  bool operator==(const RouteTerms&) const = default;
};

[[nodiscard]] RouteTerms terms_of(const Route& route);
/// Of all routes, in their order: it decides which of two takes a request.
[[nodiscard]] std::vector<RouteTerms> terms_of(const std::vector<Route>& routes);

/// The route that the terms speak of, as far as they do: to be compared, never to be served.
[[nodiscard]] Route sketch_of(const RouteTerms& terms);

/// SHA-256 over policy, mode, recipe, pattern, methods, name and key version: equal for two routes
/// exactly if the same requests get the same keys under the same rules. The windows are not in it.
[[nodiscard]] Sha256Bytes digest_of(const RouteTerms& terms);

/// The bytes that a store keeps; it looks at none of them.
/// @source docs/record-format.md, "terms".
[[nodiscard]] std::string encode_terms(const std::vector<RouteTerms>& routes);

/// @faults RecordCorrupt: another version, a length that does not fit, a word that is not listed,
///         bytes left over, a digest that differs. What was promised is then unknown, and that is
///         not "nothing". No bytes at all are no terms either.
[[nodiscard]] Result<std::vector<RouteTerms>> decode_terms(std::string_view bytes);

}  // namespace semel
