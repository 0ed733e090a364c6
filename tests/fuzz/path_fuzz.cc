// Any path on any small route table. What normalises means what it meant before, and stays as it
// is when it is normalised again; and no spelling under which another server could see the path of
// a keyed route reaches a weaker one.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/route_table.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/lenient_path.h"

namespace {

using namespace semel;
using fuzz::Segments;

constexpr std::array<std::string_view, 6> kMethods{"POST", "GET", "PUT", "HEAD", "OPTIONS", "post"};

std::vector<std::string> some_methods(fuzz::Dice& dice) {
  std::vector<std::string> methods;
  const std::size_t chosen = dice.roll(16);  // 0: any
  for (std::size_t i = 0; i < 4; ++i) {
    if ((chosen >> i & 1U) != 0) methods.emplace_back(kMethods[i]);
  }
  return methods;
}

std::string some_pattern(fuzz::Dice& dice) {
  constexpr std::array<std::string_view, 8> kSegments{"tools",  "book",  "Book",   "{",
                                                      "%62ook", "a%20b", "%C3%A9", "x.y"};
  std::string pattern;
  const std::size_t count = 1 + dice.roll(3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view segment = kSegments[dice.roll(kSegments.size())];
    pattern.append("/").append(segment);
    if (segment == "{") pattern.append("id" + std::to_string(i) + "}");
  }
  constexpr std::array<std::string_view, 4> kEnds{"", "", "/*", "/"};
  return pattern.append(kEnds[dice.roll(kEnds.size())]);
}

/// As the configuration would hand them over: none that an earlier one makes unreachable.
std::vector<Route> some_routes(fuzz::Dice& dice) {
  std::vector<Route> routes;
  const std::size_t count = 1 + dice.roll(5);
  for (std::size_t i = 0; i < count; ++i) {
    Route route;
    route.name = "route" + std::to_string(i);
    route.methods = some_methods(dice);
    route.pattern = some_pattern(dice);
    route.segments = std::get<std::vector<PatternSegment>>(parse_pattern(route.pattern));
    route.policy = static_cast<Policy>(dice.roll(4));
    if (is_keyed(route.policy) && dice.happens(8)) route.mode = Mode::Shadow;
    if (route.policy == Policy::None && dice.happens(4)) route.allow_escapes = {"%2f", ";", "%25"};
    const bool unreachable =
        std::ranges::any_of(routes, [&](const Route& earlier) { return shadows(earlier, route); });
    if (!unreachable) routes.push_back(std::move(route));
  }
  return routes;
}

/// The route that answers, absent where none does.
const Route* chosen(const RouteTable& table, std::string_view method, std::string_view path) {
  const auto normal = normalise_path(path, table.any_loose());
  if (!std::holds_alternative<NormalPath>(normal)) return nullptr;
  const RouteAnswer answer = table.match(method, std::get<NormalPath>(normal));
  const auto* match = std::get_if<RouteMatch>(&answer);
  return match ? match->route : nullptr;
}

void check_normal(std::string_view path, const NormalPath& normal) {
  SEMEL_CHECK(normal.text.starts_with('/'));
  SEMEL_CHECK(fuzz::is_plain_path(normal.text));
  // Read by somebody who only splits and decodes, both spellings are the same segments.
  SEMEL_CHECK(fuzz::decoded_segments(path) == normal.segments);
  SEMEL_CHECK(fuzz::decoded_segments(normal.text) == normal.segments);
  const auto twice = normalise_path(normal.text, /*loose=*/true);
  SEMEL_CHECK(std::holds_alternative<NormalPath>(twice) && std::get<NormalPath>(twice) == normal);
}

/// Spec 2 and 10: a path that differs from a keyed route's in its spelling only never gets less.
void check_strength(const RouteTable& table, std::string_view method, std::string_view path) {
  const Route* got = chosen(table, method, path);
  if (!got || method == "OPTIONS") return;
  const Segments asked = fuzz::decoded_segments(path);
  for (const Segments& reading : fuzz::lenient_readings(path)) {
    for (const Route& keyed : table.routes()) {
      if (!keyed.is_enforced()) continue;
      // A path that the pattern has as it stands is told apart by method and order alone.
      if (fuzz::spelled_as(keyed.segments, asked, fuzz::Case::Counts)) continue;
      const std::optional<Segments> meant =
          fuzz::spelled_as(keyed.segments, reading, fuzz::Case::IsIgnored);
      if (!meant || chosen(table, method, fuzz::escaped(*meant)) != &keyed) continue;
      SEMEL_CHECK(got->is_enforced() && got->policy >= keyed.policy);
    }
  }
}

void check_answer(const RouteTable& table, std::string_view method, const NormalPath& normal) {
  const RouteAnswer answer = table.match(method, normal);
  if (const auto* match = std::get_if<RouteMatch>(&answer)) {
    SEMEL_CHECK(fuzz::spelled_as(match->route->segments, normal.segments, fuzz::Case::Counts));
    for (const auto& [name, value] : match->params) SEMEL_CHECK(!name.empty() && !value.empty());
  }
  const auto* refused = std::get_if<MethodNotAllowed>(&answer);
  if (!refused) return;
  SEMEL_CHECK(!refused->allow.empty());
  // What Allow names is not refused for its method.
  std::string_view allow = refused->allow;
  while (!allow.empty()) {
    const std::size_t comma = std::min(allow.find(", "), allow.size());
    const RouteAnswer named = table.match(allow.substr(0, comma), normal);
    SEMEL_CHECK(!std::holds_alternative<MethodNotAllowed>(named));
    allow.remove_prefix(std::min(comma + 2, allow.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Dice dice({reinterpret_cast<const char*>(bytes), size});
  const RouteTable table(some_routes(dice));
  const std::string_view method = kMethods[dice.roll(kMethods.size())];
  const std::string_view path = dice.rest();
  const auto loose = normalise_path(path, /*loose=*/true);
  const auto strict = normalise_path(path, /*loose=*/false);
  if (const auto* normal = std::get_if<NormalPath>(&strict)) {
    // What is taken strictly is taken loosely too, and is the same.
    SEMEL_CHECK(std::get<NormalPath>(loose) == *normal && !normal->has_loose_escapes);
    check_strength(table, method, path);
  }
  if (const auto* normal = std::get_if<NormalPath>(&loose)) {
    check_normal(path, *normal);
    check_answer(table, method, *normal);
  }
  return 0;
}
