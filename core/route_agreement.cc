// Compares what runs here with what another replica has let the store remember. Pure; called once a
// second where a store is shared.
#include "core/route_agreement.h"

#include <algorithm>
#include <string>

#include "core/route_pattern.h"
#include "core/route_table.h"

namespace semel {
namespace {

/// True if one of the first `count` routes takes all such requests.
bool is_taken(const std::vector<Route>& routes, std::size_t count, const std::string& method,
              const std::vector<PatternSegment>& paths) {
  return std::any_of(routes.begin(), routes.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const Route& first) {
                       return accepts(first, method) && pattern_covers(first.segments, paths);
                     });
}

/// As it nearly always is, and soon told.
bool is_all_the_same(const std::vector<RouteTerms>& remembered, const std::vector<Route>& ours) {
  return std::equal(remembered.begin(), remembered.end(), ours.begin(), ours.end(),
                    [](const RouteTerms& terms, const Route& route) {
                      return digest_of(terms) == digest_of(terms_of(route));
                    });
}

class Agreement {
 public:
  Agreement(const std::vector<RouteTerms>& remembered, const std::vector<Route>& ours)
      : ours_(ours) {
    for (const RouteTerms& terms : remembered) {
      theirs_.push_back(sketch_of(terms));
      digests_.push_back(digest_of(terms));
    }
  }

  [[nodiscard]] bool holds_for(std::size_t place) const {
    const Route& route = ours_[place];
    const auto same = std::ranges::find(theirs_, route.name, &Route::name);
    const bool is_known = same != theirs_.end();
    const auto index = static_cast<std::size_t>(same - theirs_.begin());
    const bool is_equal = is_known && digests_[index] == digest_of(terms_of(route));
    const bool is_promised = route.is_enforced() || (is_known && same->is_enforced());
    if (!is_equal && is_promised) return false;
    for (std::size_t other = 0; other < theirs_.size(); ++other) {
      if (other != index && takes_from(other, place)) return false;
    }
    return true;
  }

 private:
  /// True if a request is the promised route `other`'s there, and goes to the one at `place` here.
  [[nodiscard]] bool takes_from(std::size_t other, std::size_t place) const {
    const Route& theirs = theirs_[other];
    if (!theirs.is_enforced()) return false;
    const auto common = pattern_meet(theirs.segments, ours_[place].segments);
    return common && std::ranges::any_of(theirs.methods, [&](const std::string& method) {
             return accepts(ours_[place], method) && !is_taken(ours_, place, method, *common) &&
                    !is_taken(theirs_, other, method, *common);
           });
  }

  const std::vector<Route>& ours_;
  std::vector<Route> theirs_;
  std::vector<Sha256Bytes> digests_;
};

}  // namespace

std::vector<std::size_t> disagreeing(const std::vector<RouteTerms>& remembered,
                                     const std::vector<Route>& ours) {
  if (is_all_the_same(remembered, ours)) return {};
  const Agreement agreement(remembered, ours);
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < ours.size(); ++place) {
    if (!agreement.holds_for(place)) places.push_back(place);
  }
  return places;
}

}  // namespace semel
