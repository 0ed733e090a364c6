#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/route.h"

namespace semel {

/// A request target's path, ready to be matched, keyed and forwarded.
struct NormalPath {
  std::string text;                   ///< As it is forwarded: needless escapes decoded, the rest upper-case.
  std::vector<std::string> segments;  ///< Percent-decoded bytes, one a segment, without slashes.
  bool has_loose_escapes = false;     ///< Contains what only `allow_escapes` lets through.
  bool operator==(const NormalPath&) const = default;
};

/// Why a path is refused with 400 before any route is asked (spec 10).
struct PathRefusal {
  std::string_view reason;  ///< A short phrase for the problem's detail.
};

/// Splits and normalises the path part of an origin-form target (everything before `?`).
/// `//`, dot segments (also escaped), `%2f`, `%5c`, `%00`-`%1f`, `%7f`, double escapes, `;`, broken
/// escapes and characters outside RFC 3986 are refusals. Escapes of unreserved characters are decoded.
/// Of these `%2f`, `;` and `%25` set `has_loose_escapes` instead when `loose` is true.
[[nodiscard]] std::variant<NormalPath, PathRefusal> normalise_path(std::string_view path, bool loose);

/// What the table says of one request.
struct RouteMatch {
  const Route* route = nullptr;
  /// Values of {param} segments in the pattern's order, decoded bytes; views into the NormalPath.
  std::vector<std::pair<std::string_view, std::string_view>> params;
};
struct NoRoute {};
struct MethodNotAllowed {
  std::string allow;  ///< For the Allow header: the methods that keyed routes list for this path.
};
/// Differs from a keyed pattern only by ASCII case or one trailing slash and would fall to a weaker
/// route: 400. Where it would fall to none the answer is NoRoute.
struct PathAmbiguous {
  std::string keyed_route;
};
using RouteAnswer = std::variant<RouteMatch, NoRoute, MethodNotAllowed, PathAmbiguous>;

/// Routes in the configuration's order: the first match wins (spec 2).
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
  /// Every header name that some route's recipe reads (tenant, run, caller, fields, guards).
  [[nodiscard]] const std::vector<std::string>& headers_read() const { return headers_read_; }
  /// True if some route lets loose escapes through: the caller then normalises with `loose`.
  [[nodiscard]] bool any_loose() const { return any_loose_; }

 private:
  std::vector<Route> routes_;
  std::vector<std::string> headers_read_;
  bool any_loose_ = false;
};

/// Parses `/tools/{id}/book` or `/files/*`. @return the segments, or a sentence that says what is wrong.
[[nodiscard]] std::variant<std::vector<PatternSegment>, std::string> parse_pattern(
    std::string_view pattern);

/// True if every request that `later` matches is matched by `earlier` first (a config error).
[[nodiscard]] bool shadows(const Route& earlier, const Route& later);

}  // namespace semel
