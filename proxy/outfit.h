#pragma once

#include <memory>
#include <vector>

#include "proxy/edition.h"
#include "proxy/metrics.h"
#include "proxy/retry_budget.h"
#include "proxy/upstream.h"

namespace semel::proxy {

/// What one worker works with under one edition: its connections to the upstreams, its retry
/// budgets, its counters. Whoever began a request with it holds it until the request has ended, so
/// that routes and pools stay; a reload gives the worker another one.
/// @thread One worker's, but for being made.
class Outfit : public std::enable_shared_from_this<Outfit> {
 public:
  /// @param counters  For each route of the edition, in its order, and then for no route.
  Outfit(std::shared_ptr<const Edition> edition, Executor executor, Deadlines& deadlines,
         BufferPool& buffers, std::vector<RouteMetrics*> counters);

  [[nodiscard]] const Edition& edition() const { return *edition_; }
  [[nodiscard]] const config::Limits& limits() const { return edition_->config.limits; }
  [[nodiscard]] UpstreamSite& upstream(const Route& route) { return *upstreams_[route.upstream]; }
  [[nodiscard]] RetryBudget& retry_budget(const Route& route) {
    return retry_budgets_[index_of(route)];
  }
  /// @param route  One of this edition's; null: no route matched.
  [[nodiscard]] RouteMetrics& counters(const Route* route) {
    return *(route == nullptr ? counters_.back() : counters_[index_of(*route)]);
  }

  /// True if another replica has changed the route, as far as this process has seen.
  [[nodiscard]] bool is_changed(const Route& route) const {
    return edition_->agreement.is_changed(index_of(route));
  }
  /// False: nobody has been able to look for too long.
  [[nodiscard]] bool knows_of_changes(Agreement::Clock::time_point now) const {
    return edition_->agreement.is_known(now);
  }

  /// Closes what has waited too long in the pools.
  void sweep(Deadlines::Clock::time_point now);
  /// No new request comes: connections that wait are closed, and none waits again.
  void retire();

 private:
  [[nodiscard]] std::size_t index_of(const Route& route) const {
    return static_cast<std::size_t>(&route - edition_->table.routes().data());
  }

  std::shared_ptr<const Edition> edition_;
  std::vector<std::unique_ptr<UpstreamSite>> upstreams_;
  std::vector<RetryBudget> retry_budgets_;
  std::vector<RouteMetrics*> counters_;
};

}  // namespace semel::proxy
