#include "proxy/outfit.h"

#include <utility>

namespace semel::proxy {

Outfit::Outfit(std::shared_ptr<const Edition> edition, Executor executor, Deadlines& deadlines,
               BufferPool& buffers, std::vector<RouteMetrics*> counters)
    : edition_(std::move(edition)), counters_(std::move(counters)) {
  for (const config::Upstream& upstream : edition_->config.upstreams) {
    upstreams_.push_back(std::make_unique<UpstreamSite>(executor, deadlines, buffers, upstream));
  }
  for (const Route& route : edition_->table.routes()) {
    retry_budgets_.emplace_back(route.retry.budget_percent);
  }
}

void Outfit::sweep(Deadlines::Clock::time_point now) {
  for (auto& upstream : upstreams_) upstream->pool.sweep(now);
}

void Outfit::retire() {
  for (auto& upstream : upstreams_) upstream->pool.retire();
}

}  // namespace semel::proxy
