// What a raised key version leaves behind: the recipe that made the keys before it. Pure; called
// when routes are adopted, and for each request on such a route.

#include "core/key_versions.h"

#include <algorithm>

#include "core/route_pattern.h"

namespace semel {
namespace {

RouteTerms successor(const RouteTerms& before, RouteTerms after) {
  const bool was_promised = is_keyed(before.policy) && before.mode == Mode::Enforce;
  if (!was_promised || !is_keyed(after.policy)) return after;
  if (is_raised(before.key_version, after.key_version)) {
    after.earlier.push_back({before.pattern, before.key, before.key_version});
  } else if (before.key_version != after.key_version) {
    return after;
  }
  for (const EarlierTerms& terms : before.earlier) {
    if (after.earlier.size() < kEarlierVersionsMax) after.earlier.push_back(terms);
  }
  return after;
}

std::shared_ptr<const Route> as_it_was(const EarlierTerms& earlier, const Route& now) {
  auto segments = parse_pattern(earlier.pattern);
  auto* parsed = std::get_if<std::vector<PatternSegment>>(&segments);
  if (parsed == nullptr) return nullptr;
  auto route = std::make_shared<Route>();
  route->name = now.name;
  route->policy = now.policy;
  route->pattern = earlier.pattern;
  route->segments = std::move(*parsed);
  route->key = earlier.key;
  route->key_version = earlier.key_version;
  return route;
}

}  // namespace

bool is_raised(const std::optional<int>& from, const std::optional<int>& to) {
  return to && (!from || *to > *from);
}

std::vector<RouteTerms> successors(const std::vector<RouteTerms>& before,
                                   const std::vector<Route>& after) {
  std::vector<RouteTerms> terms = terms_of(after);
  for (RouteTerms& each : terms) {
    const auto known = std::ranges::find(before, each.name, &RouteTerms::name);
    if (known != before.end()) each = successor(*known, std::move(each));
  }
  return terms;
}

void attach_earlier(const std::vector<RouteTerms>& terms, std::vector<Route>& routes) {
  for (Route& route : routes) {
    route.earlier.clear();
    const auto known = std::ranges::find(terms, route.name, &RouteTerms::name);
    if (known == terms.end()) continue;
    for (const EarlierTerms& earlier : known->earlier) {
      if (auto then = as_it_was(earlier, route)) route.earlier.push_back(std::move(then));
    }
  }
}

std::vector<DerivedKey> earlier_keys(const KeyInputs& inputs) {
  std::vector<DerivedKey> keys;
  for (const auto& then : inputs.match->route->earlier) {
    if (!pattern_matches(then->segments, inputs.path->segments)) continue;
    RouteMatch match{then.get(), {}};
    for (std::size_t i = 0; i < then->segments.size(); ++i) {
      if (then->segments[i].kind != PatternSegment::Kind::Param) continue;
      match.params.emplace_back(then->segments[i].text, inputs.path->segments[i]);
    }
    KeyInputs as_then = inputs;
    as_then.match = &match;
    auto derived = derive_key(as_then);
    if (auto* key = std::get_if<DerivedKey>(&derived)) keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace semel
