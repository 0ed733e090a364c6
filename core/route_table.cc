#include "core/route_table.h"

#include <algorithm>

#include "core/check.h"
#include "core/header_rules.h"

namespace semel {
namespace {

/// What a key's loss would cost: a request may never fall from more to less by its spelling.
Policy strength(const Route& route) {
  if (is_keyed(route.policy) && route.mode != Mode::Enforce) return Policy::None;
  return route.policy;
}

bool closes_its_paths(const Route& route) { return is_keyed(strength(route)); }

bool lists(const Route& route, std::string_view method) {
  return std::ranges::find(route.methods, method) != route.methods.end();
}

}  // namespace

bool accepts(const Route& route, std::string_view method) {
  if (method == "OPTIONS" || lists(route, method)) return true;
  if (method == "HEAD") {
    return !closes_its_paths(route) && (route.methods.empty() || lists(route, "GET"));
  }
  return route.methods.empty();
}

namespace {

/// True if `later` may answer a method that `keyed`, which has the same path, does not list.
bool may_follow(const Route& keyed, const Route& later, std::string_view method) {
  if (!lists(later, method)) return false;
  return later.segments.back().kind != PatternSegment::Kind::Rest ||
         pattern_covers(keyed.segments, later.segments);
}

std::uint8_t loose_escapes_of(const Route& route) {
  int escapes = 0;
  for (const std::string& word : route.allow_escapes) {
    if (same_name(word, "%2f")) escapes |= kEscapedSlash;
    if (word == ";" || same_name(word, "%3b")) escapes |= kSemicolon;
    if (word == "%25") escapes |= kDoubleEscape;
  }
  return static_cast<std::uint8_t>(escapes);
}

bool lets_through(const Route& route, const NormalPath& path) {
  return !path.has_loose_escapes || (path.loose_escapes & ~loose_escapes_of(route)) == 0;
}

RouteMatch matched(const Route& route, const NormalPath& path) {
  RouteMatch match{&route, {}};
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    if (route.segments[i].kind == PatternSegment::Kind::Param) {
      match.params.emplace_back(route.segments[i].text, path.segments[i]);
    }
  }
  return match;
}

/// What the table has for one method and path, before spelling is judged.
struct Taker {
  const Route* route = nullptr;       ///< The one that answers.
  const Route* closed_by = nullptr;   ///< The first keyed one that does not take the method.
  const Route* too_strict = nullptr;  ///< The first whose `allow_escapes` do not cover the path.
};

Taker find_taker(const std::vector<Route>& routes, std::string_view method,
                 const NormalPath& path) {
  Taker found;
  for (const Route& route : routes) {
    if (!pattern_matches(route.segments, path.segments)) continue;
    if (!lets_through(route, path)) {
      if (!found.too_strict) found.too_strict = &route;
      continue;
    }
    if (accepts(route, method)) {
      if (found.closed_by && !may_follow(*found.closed_by, route, method)) continue;
      found.route = &route;
      return found;
    }
    if (!found.closed_by && closes_its_paths(route)) found.closed_by = &route;
  }
  return found;
}

/// The methods that are answered on a path: those that its routes list, and the usual ones where
/// one takes any.
std::string allowed_methods(const std::vector<Route>& routes, const NormalPath& path) {
  static const std::vector<std::string> kUsual{"GET", "POST", "PUT", "PATCH", "DELETE"};
  std::string allow;
  for (const Route& route : routes) {
    if (!pattern_matches(route.segments, path.segments)) continue;
    for (const std::string& method : route.methods.empty() ? kUsual : route.methods) {
      if (list_names(allow, method) || !find_taker(routes, method, path).route) continue;
      if (!allow.empty()) allow += ", ";
      allow += method;
    }
  }
  return allow;
}

template <class Visit>
void visit_sources(const KeyRecipe& recipe, Visit visit) {
  if (recipe.tenant) visit(*recipe.tenant);
  if (recipe.run) visit(*recipe.run);
  if (recipe.caller) visit(*recipe.caller);
  for (const ValueSource& field : recipe.fields) visit(field);
  for (const ValueSource& guard : recipe.guards) visit(guard);
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {
  SEMEL_CHECK(!routes_.empty());
  for (const Route& route : routes_) {
    SEMEL_CHECK(!route.segments.empty());
    any_loose_ = any_loose_ || loose_escapes_of(route) != 0;
    if (!closes_its_paths(route)) continue;
    visit_sources(route.key, [this](const ValueSource& source) {
      const bool is_digest = source.from == ValueSource::From::AuthorizationDigest;
      if (!is_digest && source.from != ValueSource::From::Header) return;
      const std::string_view name = is_digest ? std::string_view("Authorization") : source.text;
      const bool known = std::ranges::any_of(
          headers_read_, [name](const std::string& read) { return same_name(read, name); });
      if (!known) headers_read_.emplace_back(name);
    });
  }
}

RouteAnswer RouteTable::match(std::string_view method, const NormalPath& path) const {
  const Taker found = find_taker(routes_, method, path);
  if (found.route) {
    const Route* keyed = ambiguous_with(method, path, *found.route);
    if (keyed) return PathAmbiguous{keyed->name};
    return matched(*found.route, path);
  }
  if (found.closed_by) return MethodNotAllowed{allowed_methods(routes_, path)};
  if (found.too_strict) return PathAmbiguous{found.too_strict->name};
  return NoRoute{};
}

const Route* RouteTable::ambiguous_with(std::string_view method, const NormalPath& path,
                                        const Route& chosen) const {
  if (method == "OPTIONS" || strength(chosen) == Policy::Effectful) return nullptr;
  for (const Route& keyed : routes_) {
    if (!closes_its_paths(keyed) || strength(keyed) <= strength(chosen)) continue;
    if (!pattern_nearly_matches(keyed.segments, path.segments)) continue;
    if (pattern_matches(keyed.segments, path.segments)) continue;  // told apart by method and order
    if (!accepts(keyed, method) && may_follow(keyed, chosen, method)) continue;
    return &keyed;
  }
  return nullptr;
}

bool shadows(const Route& earlier, const Route& later) {
  if (!pattern_covers(earlier.segments, later.segments)) return false;
  if ((loose_escapes_of(later) & ~loose_escapes_of(earlier)) != 0) return false;
  if (later.methods.empty()) return earlier.methods.empty() || closes_its_paths(earlier);
  return std::ranges::all_of(later.methods,
                             [&](const std::string& method) { return accepts(earlier, method); });
}

}  // namespace semel
