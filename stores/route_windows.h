#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/route_terms.h"
#include "stores/record.h"

namespace semel {

/// The windows of today's routes: a record is kept for the longer of its own and its route's.
/// @thread One at a time.
/// @source spec 4, "The stricter of the record's own policy and retention and today's governs".
class RouteWindows {
 public:
  /// Only these count from now on. Routes without a key have no window.
  void adopt(const std::vector<RouteTerms>& routes);

  /// When the record's window ends, if it ever does.
  [[nodiscard]] std::optional<StoreTime> end_of(const Record& record) const;
  /// The same as a new request sees it, whose own window may be longer still.
  [[nodiscard]] std::optional<StoreTime> end_of(const Record& record,
                                                const ClaimRequest& request) const;
  [[nodiscard]] bool is_over(const Record& record, const Now& now) const;

 private:
  [[nodiscard]] Window of(const Record& record) const;

  std::unordered_map<std::string, Window> windows_;  ///< By the route's name.
};

}  // namespace semel
