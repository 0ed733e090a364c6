// Sums the workers' shards at scrape time, a part of the page at a time. Called by the metrics
// listener; nothing on the data path is here but Histogram::observe.
#include "proxy/metrics.h"

#include <algorithm>
#include <functional>

#include "proxy/metrics_page.h"
#include "proxy/resolve_order.h"

namespace semel::proxy {
namespace {

/// True where the outcome may come about on a route of these rules: what is on the page from the
/// start, so that its first increase is seen.
bool is_expected(const Route& route, Outcome outcome) {
  switch (outcome) {
    case Outcome::Refused:
      return true;
    case Outcome::Executed:
    case Outcome::Replayed:
    case Outcome::Collapsed:
    case Outcome::InFlight:
    case Outcome::Indeterminate:
    case Outcome::Unrecorded:
      return route.is_enforced();
    case Outcome::Bypassed:
      return route.is_enforced() && route.on_store_down == OnStoreDown::Forward;
    case Outcome::Passed:
    case Outcome::Failed:
      return !route.is_enforced();
  }
  return true;
}

}  // namespace

void Histogram::observe(std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  std::size_t i = 0;
  while (i < kBounds.size() && seconds > kBounds[i]) ++i;
  buckets_[i].add();
  nanoseconds_.add(static_cast<std::uint64_t>(time.count()));
}

std::string_view name(StoreOperation operation) {
  constexpr std::string_view kWords[kStoreOperationCount] = {
      "claim",  "record", "release", "mark",    "supersede", "sweep",
      "routes", "find",   "list",    "resolve", "forget",    "events"};
  return kWords[static_cast<std::size_t>(operation)];
}

Metrics::Metrics(const std::vector<Route>& routes, std::size_t workers) {
  for (std::size_t i = 0; i < workers; ++i) shards_.push_back(std::make_unique<MetricsShard>());
  welcome(routes);
}

void Metrics::welcome(const std::vector<Route>& routes) {
  for (const Route& route : routes) {
    const std::size_t index = index_of(route);
    if (index == routes_.size()) {
      routes_.push_back({route.name, std::string(name(route.policy)), {}, false});
      for (auto& shard : shards_) shard->by_route.emplace_back();
    }
    if (route.is_guarded() && !route.is_enforced()) routes_[index].is_shadow = true;
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      if (is_expected(route, static_cast<Outcome>(o))) routes_[index].expected[o] = true;
    }
  }
}

std::size_t Metrics::index_of(const Route& route) const {
  const auto at = std::ranges::find_if(routes_, [&route](const RouteLabels& labels) {
    return labels.name == route.name && labels.policy == name(route.policy);
  });
  return static_cast<std::size_t>(at - routes_.begin());
}

std::vector<RouteMetrics*> Metrics::counters(std::size_t worker, const std::vector<Route>& routes) {
  std::vector<RouteMetrics*> found;
  for (const Route& route : routes) {
    found.push_back(&shards_[worker]->by_route.at(index_of(route)));
  }
  return found;
}

std::vector<std::string> Metrics::names() const {
  std::vector<std::string> names;
  for (const RouteLabels& route : routes_) {
    if (std::ranges::find(names, route.name) == names.end()) names.push_back(route.name);
  }
  return names;
}

template <class CounterOf>
double Metrics::sum(CounterOf counter_of) const {
  double total = 0;
  for (const auto& shard : shards_) {
    total += static_cast<double>(std::invoke(counter_of, *shard).read());
  }
  return total;
}

template <class CounterOf>
double Metrics::sum_of_routes(CounterOf counter_of) const {
  double total = 0;
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    total += sum([&](auto& shard) -> auto& { return counter_of(shard.by_route[r]); });
  }
  return total;
}

template <class CounterOf>
double Metrics::sum_of_name(std::string_view route, CounterOf counter_of) const {
  double total = 0;
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    if (routes_[r].name != route) continue;
    total += sum([&](auto& shard) -> auto& { return counter_of(shard.by_route[r]); });
  }
  return total;
}

template <class HistogramOf>
std::vector<const Histogram*> Metrics::parts_of_name(std::string_view route,
                                                     HistogramOf histogram_of) const {
  std::vector<const Histogram*> found;
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    if (routes_[r].name != route) continue;
    for (const auto& shard : shards_) found.push_back(&histogram_of(shard->by_route[r]));
  }
  return found;
}

template <class HistogramOf>
std::vector<const Histogram*> Metrics::parts(HistogramOf histogram_of) const {
  std::vector<const Histogram*> found;
  for (const auto& shard : shards_) found.push_back(&std::invoke(histogram_of, *shard));
  return found;
}

std::string Metrics::render(const StoreHealth& health) const {
  MetricsPage page;
  add_requests(page);
  add_keys(page, health);
  add_shadows(page);
  add_upstreams(page);
  add_store(page, health);
  add_process(page, health);
  return page.text();
}

void Metrics::add_requests(MetricsPage& page) const {
  page.counter("semel_requests_total",
               "Requests, by route, policy and how they ended for the client.");
  for (std::size_t r = 0; r < routes_.size(); ++r) add_requests_of(page, routes_[r], r);
  RouteLabels unmatched{"", "NONE", {}};
  unmatched.expected[static_cast<std::size_t>(Outcome::Refused)] = true;
  add_requests_of(page, unmatched, routes_.size());
  page.counter("semel_duplicates_suppressed_total",
               "Calls that were answered without asking the tool.");
  for (const Outcome kind :
       {Outcome::Replayed, Outcome::Collapsed, Outcome::InFlight, Outcome::Indeterminate}) {
    page.value(
        sum([kind](auto& s) -> auto& { return s.suppressed[static_cast<std::size_t>(kind)]; }),
        {{"kind", std::string(name(kind))}});
  }
  page.histogram("semel_request_duration_seconds", "From the request's last byte to the answer's.");
  for (const std::string& route : names()) {
    page.distribution(parts_of_name(route, [](auto& r) -> auto& { return r.request_duration; }),
                      {{"route", route}});
  }
  page.histogram("semel_wait_duration_seconds", "How long duplicates were held.");
  page.distribution(parts([](auto& s) -> auto& { return s.wait_duration; }));
}

/// @param index  Of the route; one more than the last: no route matched.
void Metrics::add_requests_of(MetricsPage& page, const RouteLabels& labels,
                              std::size_t index) const {
  for (std::size_t o = 0; o < kOutcomeCount; ++o) {
    const double total = sum([&](auto& s) -> auto& {
      return (index < routes_.size() ? s.by_route[index] : s.unmatched).requests[o];
    });
    if (total == 0 && !labels.expected[o]) continue;
    page.value(total, {{"route", labels.name},
                       {"policy", labels.policy},
                       {"outcome", std::string(name(static_cast<Outcome>(o)))}});
  }
}

void Metrics::add_keys(MetricsPage& page, const StoreHealth& health) const {
  page.counter("semel_key_source_total", "Keys, by where they came from.");
  for (const KeySource source : {KeySource::Derived, KeySource::Client}) {
    page.value(sum_of_routes([source](auto& route) -> auto& {
                 return route.key_sources[static_cast<std::size_t>(source)];
               }),
               {{"source", std::string(name(source))}});
  }
  page.counter("semel_in_flight_collisions_total",
               "Calls that met another one of their key in flight.");
  page.value(sum([](auto& s) -> auto& { return s.collisions; }));
  page.counter("semel_indeterminate_total", "Effects whose outcome became unknown, by reason.");
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    page.value(sum([i](auto& s) -> auto& { return s.indeterminate[i]; }),
               {{"reason", std::string(name(static_cast<IndeterminateReason>(i)))}});
  }
  page.counter("semel_resolutions_total",
               "Unknown outcomes that an operator resolved, by decision.");
  for (const auto decision : {Resolution::Decision::Happened, Resolution::Decision::DidNotHappen}) {
    page.value(sum([decision](auto& s) -> auto& {
                 return s.resolutions[static_cast<std::size_t>(decision)];
               }),
               {{"decision", std::string(name(decision))}});
  }
  page.counter("semel_resolution_contradicted_total",
               "Late answers of calls that were resolved as not having happened.");
  page.value(static_cast<double>(health.resolutions_contradicted));
  page.counter("semel_records_expired_total", "Records erased after their window.");
  page.value(sum([](auto& s) -> auto& { return s.records_expired; }));
  page.counter("semel_expired_reruns_total",
               "Calls that ran again over an expired record that was not erased yet.");
  page.value(sum([](auto& s) -> auto& { return s.expired_reruns; }));
  page.counter("semel_late_answers_total",
               "Answers that came after the client was told that the outcome is unknown.");
  page.value(sum([](auto& s) -> auto& { return s.late_answers; }));
  page.counter("semel_stale_writer_total",
               "Writes refused because another attempt owns the record.");
  page.value(sum([](auto& s) -> auto& { return s.stale_writers; }));
  page.gauge("semel_disowned_claims",
             "Claims that may stand in the store and are to be given back: nobody uses them.");
  page.value(sum([](auto& s) -> auto& { return s.disowned; }));
  page.counter("semel_disowned_claims_dropped_total",
               "Claims that there was no room to give back: they are left to their leases.");
  page.value(sum([](auto& s) -> auto& { return s.disowned_dropped; }));
  page.counter("semel_access_log_dropped_lines_total", "Log lines that nobody took in time.");
  page.value(sum([](auto& s) -> auto& { return s.access_log_dropped; }));
}

void Metrics::add_shadows(MetricsPage& page) const {
  page.counter("semel_shadow_duplicates_total",
               "Calls that were forwarded in shadow, by what enforce would have made of them.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    if (!routes_[r].is_shadow) continue;
    for (const Outcome outcome :
         {Outcome::Replayed, Outcome::InFlight, Outcome::Indeterminate, Outcome::Refused}) {
      const auto index = static_cast<std::size_t>(outcome);
      page.value(sum([&](auto& s) -> auto& { return s.by_route[r].shadow_duplicates[index]; }),
                 {{"route", routes_[r].name},
                  {"policy", routes_[r].policy},
                  {"outcome", std::string(name(outcome))}});
    }
  }
  page.counter("semel_shadow_unkeyed_total",
               "Calls that passed in shadow without a key: enforce would refuse them.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    if (!routes_[r].is_shadow) continue;
    page.value(sum([&](auto& s) -> auto& { return s.by_route[r].shadow_unkeyed; }),
               {{"route", routes_[r].name}, {"policy", routes_[r].policy}});
  }
}

void Metrics::add_upstreams(MetricsPage& page) const {
  page.counter("semel_upstream_failures_total",
               "Upstream calls without a complete answer, by end.");
  for (const std::string& route : names()) {
    for (const UpstreamEnd end : {UpstreamEnd::NeverSent, UpstreamEnd::Unanswered}) {
      page.value(sum_of_name(route,
                             [end](auto& r) -> auto& {
                               return r.upstream_ends[static_cast<std::size_t>(end)];
                             }),
                 {{"route", route}, {"end", std::string(name(end))}});
    }
  }
  page.counter("semel_upstream_retries_total", "Attempts beyond the first.");
  for (const std::string& route : names()) {
    page.value(sum_of_name(route, [](auto& r) -> auto& { return r.upstream_retries; }),
               {{"route", route}});
  }
  page.gauge("semel_upstream_waiting", "Calls that wait for a connection to the tool now.");
  for (const std::string& route : names()) {
    page.value(sum_of_name(route, [](auto& r) -> auto& { return r.upstream_waiting; }),
               {{"route", route}});
  }
  page.histogram("semel_upstream_duration_seconds", "From the dispatch to the answer's last byte.");
  for (const std::string& route : names()) {
    page.distribution(parts_of_name(route, [](auto& r) -> auto& { return r.upstream_duration; }),
                      {{"route", route}});
  }
}

void Metrics::add_store(MetricsPage& page, const StoreHealth& health) const {
  page.counter("semel_store_errors_total", "Store operations that failed, by operation.");
  for (std::size_t i = 0; i < kStoreOperationCount; ++i) {
    page.value(sum([i](auto& s) -> auto& { return s.store_errors[i]; }),
               {{"operation", std::string(name(static_cast<StoreOperation>(i)))}});
  }
  page.histogram("semel_store_operation_duration_seconds", "The store's answers, by operation.");
  for (std::size_t i = 0; i < kStoreOperationCount; ++i) {
    page.distribution(parts([i](auto& s) -> auto& { return s.store_duration[i]; }),
                      {{"operation", std::string(name(static_cast<StoreOperation>(i)))}});
  }
  page.gauge("semel_store_up", "1 unless the store is broken; a full one refuses new calls.");
  page.value(health.up ? 1 : 0);
  page.gauge("semel_store_durability_info", "What the store promises of what it has said.");
  page.value(1, {{"grade", health.durability}});
  page.gauge("semel_store_suspect", "1 while the store may have lost records.");
  page.value(health.suspect ? 1 : 0);
  if (changed_) {
    page.gauge("semel_route_digest_mismatch",
               "1 while another replica has changed the route, so that it answers 503 here.");
    for (const std::string& route : names()) {
      const bool is_changed = std::ranges::find(*changed_, route) != changed_->end();
      page.value(is_changed ? 1 : 0, {{"route", route}});
    }
  }
  page.gauge("semel_indeterminate_records", "Records whose outcome is unknown now.");
  page.value(static_cast<double>(health.indeterminate));
  if (!health.oldest_indeterminate) return;
  page.gauge("semel_indeterminate_oldest_timestamp_seconds",
             "When the oldest of them became unknown.");
  page.value(
      std::chrono::duration<double>(health.oldest_indeterminate->time_since_epoch()).count());
}

void Metrics::add_process(MetricsPage& page, const StoreHealth& health) const {
  page.gauge("semel_connections", "Client connections that are open.");
  page.value(sum([](auto& s) -> auto& { return s.connections; }));
  page.gauge("semel_config_last_reload_successful",
             "1 while the configuration that runs is the one last given.");
  page.value(last_reload_ == ReloadEnd::Taken ? 1 : 0);
  page.gauge("semel_build_info", "The version that runs.");
  page.value(1, {{"version", SEMEL_VERSION}, {"store_durability", health.durability}});
}

}  // namespace semel::proxy
