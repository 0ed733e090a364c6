#include "stores/route_windows.h"

namespace semel {

void RouteWindows::adopt(const std::vector<RouteTerms>& routes) {
  windows_.clear();
  for (const RouteTerms& route : routes) {
    if (!is_keyed(route.policy)) continue;
    const Window window{route.retention, route.indeterminate_retention};
    const auto [at, is_new] = windows_.emplace(route.name, window);
    if (!is_new) at->second = longer(at->second, window);
  }
}

Window RouteWindows::of(const Record& record) const {
  const Window own = record.window();
  if (windows_.empty()) return own;
  const auto today = windows_.find(record.terms->route);
  return today == windows_.end() ? own : longer(own, today->second);
}

std::optional<StoreTime> RouteWindows::end_of(const Record& record) const {
  if (!record.has_window()) return std::nullopt;
  return record.end_of(of(record));
}

std::optional<StoreTime> RouteWindows::end_of(const Record& record,
                                              const ClaimRequest& request) const {
  if (!record.has_window()) return std::nullopt;
  const Window asked{request.retention, request.indeterminate_retention};
  return record.end_of(longer(of(record), asked));
}

bool RouteWindows::is_over(const Record& record, const Now& now) const {
  const auto end = end_of(record);
  return end && now.time >= *end;
}

}  // namespace semel
