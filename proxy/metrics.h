#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "core/route.h"
#include "core/upstream_end.h"
#include "proxy/outcome.h"
#include "stores/store.h"

namespace semel::proxy {

/// One number that one worker writes and the scrape reads. No read-modify-write, no shared line.
class Counter {
 public:
  void add(std::uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void subtract(std::uint64_t by) {
    value_.store(value_.load(std::memory_order_relaxed) - by, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Seconds, in Prometheus' cumulative form at scrape time.
class Histogram {
 public:
  static constexpr std::array<double, 13> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,  0.5,    1,     2.5,  10,    30};
  void observe(std::chrono::nanoseconds time);
  [[nodiscard]] std::uint64_t bucket(std::size_t i) const { return buckets_[i].read(); }
  [[nodiscard]] double sum_seconds() const {
    return static_cast<double>(nanoseconds_.read()) / 1e9;
  }

 private:
  std::array<Counter, kBounds.size() + 1> buckets_;
  Counter nanoseconds_;
};

/// The store's operations as labels.
enum class StoreOperation : std::uint8_t {
  Claim,
  Record,
  Release,
  Mark,
  Supersede,
  Sweep,
  Routes,
  Find,
  List,
  Resolve,
  Forget,
  Events,
};
inline constexpr std::size_t kStoreOperationCount =
    static_cast<std::size_t>(StoreOperation::Events) + 1;
[[nodiscard]] std::string_view name(StoreOperation operation);

inline constexpr std::size_t kReasonCount =
    static_cast<std::size_t>(IndeterminateReason::Internal) + 1;

struct RouteMetrics {
  std::array<Counter, kOutcomeCount> requests;
  std::array<Counter, 3> upstream_ends;  ///< By UpstreamEnd.
  Counter upstream_retries;
  Counter upstream_waiting;            ///< Calls that wait for a connection now.
  std::array<Counter, 2> key_sources;  ///< By KeySource.
  /// By the Outcome that `enforce` would have had.
  std::array<Counter, kOutcomeCount> shadow_duplicates;
  Counter shadow_unkeyed;
  Histogram request_duration;
  Histogram upstream_duration;
};

/// Everything that one worker counts.
struct MetricsShard {
  /// In the order in which Metrics met the routes. A worker holds pointers into it: it grows while
  /// they count, and nothing of it moves or goes.
  std::deque<RouteMetrics> by_route;
  RouteMetrics unmatched;  ///< No route matched.
  Counter collisions;
  /// By Outcome: calls that ended so without the tool being asked on their behalf.
  std::array<Counter, kOutcomeCount> suppressed;
  std::array<Counter, kReasonCount> indeterminate;  ///< By IndeterminateReason.
  Counter expired_reruns;
  Counter records_expired;
  Counter stale_writers;
  Counter disowned;          ///< Claims that are to be given back now.
  Counter disowned_dropped;  ///< Left to their leases: there was no room.
  Counter late_answers;
  std::array<Counter, 2> resolutions;  ///< By Resolution::Decision.
  Counter access_log_dropped;
  std::array<Counter, kStoreOperationCount> store_errors;
  std::array<Histogram, kStoreOperationCount> store_duration;
  Histogram wait_duration;
  Counter connections;  ///< Open now.
};

class MetricsPage;

/// How the last reload ended.
enum class ReloadEnd : std::uint8_t { Taken, Refused };

/// The workers' shards, and the text that Prometheus reads.
class Metrics {
 public:
  Metrics(const std::vector<Route>& routes, std::size_t workers);
  [[nodiscard]] MetricsShard& shard(std::size_t worker) { return *shards_[worker]; }

  /// Makes room for the routes of another configuration. A route whose name and policy are known
  /// goes on counting where it stood; of one that is gone the numbers stay.
  /// @thread The one that renders.
  void welcome(const std::vector<Route>& routes);
  /// What one worker counts on each of the routes, in their order. All of them are welcome.
  /// @thread The one that renders. What is pointed to belongs to the worker.
  [[nodiscard]] std::vector<RouteMetrics*> counters(std::size_t worker,
                                                    const std::vector<Route>& routes);
  void note(ReloadEnd end) { last_reload_ = end; }
  /// The routes that another replica has changed. Never told where no other one shares the store.
  /// @thread The one that renders.
  void note_changed(std::vector<std::string> routes) { changed_ = std::move(routes); }

  /// Exposition format 0.0.4. Labels come from the configuration only, never from a request. What
  /// can be counted on a route is there from the start, as zero.
  /// @thread Any.
  [[nodiscard]] std::string render(const StoreHealth& health) const;

 private:
  struct RouteLabels {
    std::string name;
    std::string policy;
    std::array<bool, kOutcomeCount> expected{};
    bool is_shadow = false;
  };
  [[nodiscard]] std::size_t index_of(const Route& route) const;
  void add_requests_of(MetricsPage& page, const RouteLabels& labels, std::size_t index) const;
  void add_requests(MetricsPage& page) const;
  void add_keys(MetricsPage& page, const StoreHealth& health) const;
  void add_shadows(MetricsPage& page) const;
  void add_upstreams(MetricsPage& page) const;
  void add_store(MetricsPage& page, const StoreHealth& health) const;
  void add_process(MetricsPage& page, const StoreHealth& health) const;

  /// Over all workers.
  template <class CounterOf>
  [[nodiscard]] double sum(CounterOf counter_of) const;
  /// Over all workers and routes.
  template <class CounterOf>
  [[nodiscard]] double sum_of_routes(CounterOf counter_of) const;
  template <class HistogramOf>
  [[nodiscard]] std::vector<const Histogram*> parts(HistogramOf histogram_of) const;
  /// Over all workers and every policy that the route had.
  template <class CounterOf>
  [[nodiscard]] double sum_of_name(std::string_view route, CounterOf counter_of) const;
  template <class HistogramOf>
  [[nodiscard]] std::vector<const Histogram*> parts_of_name(std::string_view route,
                                                            HistogramOf histogram_of) const;
  [[nodiscard]] std::vector<std::string> names() const;

  std::vector<RouteLabels> routes_;  ///< As `by_route` of each shard.
  std::optional<std::vector<std::string>> changed_;
  ReloadEnd last_reload_ = ReloadEnd::Taken;
  std::vector<std::unique_ptr<MetricsShard>> shards_;
};

}  // namespace semel::proxy
