#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/normal_path.h"
#include "core/route.h"
#include "core/route_pattern.h"

namespace semel {

/// What the table says of one request.
struct RouteMatch {
  const Route* route = nullptr;
  /// Values of {param} segments in the pattern's order, decoded bytes; views into the Route and the
  /// NormalPath.
  std::vector<std::pair<std::string_view, std::string_view>> params;
};
struct NoRoute {};
struct MethodNotAllowed {
  std::string allow;  ///< For the Allow header: the methods that routes list for this path.
};
/// Differs from a keyed pattern only by ASCII case or one trailing slash and would fall to a weaker
/// route: 400. Where it would fall to none the answer is NoRoute. Also a path that only a route
/// without the needed `allow_escapes` has.
struct PathAmbiguous {
  std::string keyed_route;
};
using RouteAnswer = std::variant<RouteMatch, NoRoute, MethodNotAllowed, PathAmbiguous>;

/// Routes in the configuration's order: the first match wins (spec 2).
///
/// A route matches by pattern and method: a listed one, any where none is listed, HEAD where a
/// route without key lists GET, and OPTIONS always, for it is never keyed.
///
/// A keyed route in `enforce` closes its paths for methods that it does not list (HEAD too, where
/// it lists none): they are 405, unless a later route lists the method by name and its pattern is
/// no wildcard wider than the keyed one. So POST /book EFFECTFUL and then GET /book, or POST /pay/*
/// and then GET /pay/*, are four routes that can be reached; GET /book never falls to a later /*.
/// Routes in `shadow` and `off` close nothing: they add no refusal.
class RouteTable {
 public:
  /// @param routes  At least one, complete. Kept for the table's life: matches point into it.
  explicit RouteTable(std::vector<Route> routes);
  RouteTable(const RouteTable&) = delete;
  RouteTable& operator=(const RouteTable&) = delete;

  /// OPTIONS matches any route of the path and is never keyed; HEAD on a keyed path only if listed.
  /// @thread Any: the table never changes.
  [[nodiscard]] RouteAnswer match(std::string_view method, const NormalPath& path) const;

  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }
  /// Every header name that some keyed route's recipe reads (tenant, run, caller, fields, guards),
  /// once each, in the case of its first mention.
  [[nodiscard]] const std::vector<std::string>& headers_read() const { return headers_read_; }
  /// True if some route lets loose escapes through: the caller then normalises with `loose`.
  [[nodiscard]] bool any_loose() const { return any_loose_; }

 private:
  [[nodiscard]] const Route* ambiguous_with(std::string_view method, const NormalPath& path,
                                            const Route& chosen) const;

  std::vector<Route> routes_;
  std::vector<std::string> headers_read_;
  bool any_loose_ = false;
};

/// True if `route` answers this method where nothing before it takes the request (see RouteTable).
[[nodiscard]] bool accepts(const Route& route, std::string_view method);

/// True if no request can reach `later` because of `earlier` (a config error). A later route that
/// lists a method which an earlier keyed route of the same paths does not list can be reached.
[[nodiscard]] bool shadows(const Route& earlier, const Route& later);

}  // namespace semel
