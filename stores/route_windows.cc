#include "stores/route_windows.h"

#include <algorithm>

namespace semel {

void RouteWindows::adopt(const std::vector<RouteTerms>& routes) {
  today_.clear();
  for (const RouteTerms& route : routes) {
    if (!is_keyed(route.policy)) continue;
    const Window window{route.retention, route.indeterminate_retention};
    const auto [at, is_new] = today_.emplace(route.name, Today{window, route.policy});
    if (is_new) continue;
    at->second = {longer(at->second.window, window), std::max(at->second.policy, route.policy)};
  }
}

Window RouteWindows::of(const Record& record) const {
  const Window own = record.window();
  if (today_.empty()) return own;
  const auto today = today_.find(record.terms->route);
  return today == today_.end() ? own : longer(own, today->second.window);
}

Policy RouteWindows::stricter_policy(const Record& record) const {
  const auto today = today_.find(record.terms->route);
  return today == today_.end() ? record.policy() : std::max(record.policy(), today->second.policy);
}

std::optional<StoreTime> RouteWindows::due_at(const Record& record) const {
  return record.due_at(of(record));
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
