#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/route_terms.h"
#include "stores/record.h"

namespace semel {

/// The windows and policies of today's routes: a record is kept for the longer of its own window
/// and its route's.
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
  /// When housekeeping has something to do with it, if ever.
  [[nodiscard]] std::optional<StoreTime> due_at(const Record& record) const;
  /// Of the record's own policy and its route's.
  [[nodiscard]] Policy stricter_policy(const Record& record) const;

 private:
  struct Today {
    Window window;
    Policy policy = Policy::Idempotent;
  };
  [[nodiscard]] Window of(const Record& record) const;

  std::unordered_map<std::string, Today> today_;  ///< By the route's name.
};

}  // namespace semel
