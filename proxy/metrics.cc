// Sums the workers' shards at scrape time, a part of the page at a time. Called by the metrics
// listener; nothing on the data path is here but Histogram::observe.
#include "proxy/metrics.h"

#include <functional>

#include "proxy/metrics_page.h"

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
      return route.is_guarded();
    case Outcome::Bypassed:
      return route.is_guarded() && route.on_store_down == OnStoreDown::Forward;
    case Outcome::Passed:
    case Outcome::Failed:
      return !route.is_guarded();
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
  constexpr std::string_view kWords[kStoreOperationCount] = {"claim", "record",    "release",
                                                             "mark",  "supersede", "sweep"};
  return kWords[static_cast<std::size_t>(operation)];
}

Metrics::Metrics(const std::vector<Route>& routes, std::size_t workers) {
  for (const Route& route : routes) {
    RouteLabels labels{route.name, std::string(name(route.policy)), {}};
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      labels.expected[o] = is_expected(route, static_cast<Outcome>(o));
    }
    routes_.push_back(std::move(labels));
  }
  RouteLabels unmatched{"", "NONE", {}};
  unmatched.expected[static_cast<std::size_t>(Outcome::Refused)] = true;
  routes_.push_back(std::move(unmatched));
  for (std::size_t i = 0; i < workers; ++i) {
    shards_.push_back(std::make_unique<MetricsShard>(routes.size()));
  }
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
  add_upstreams(page);
  add_store(page, health);
  add_process(page, health);
  return page.text();
}

void Metrics::add_requests(MetricsPage& page) const {
  page.counter("semel_requests_total",
               "Requests, by route, policy and how they ended for the client.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    const RouteLabels& route = routes_[r];
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      const double total = sum([&](auto& s) -> auto& { return s.by_route[r].requests[o]; });
      if (total == 0 && !route.expected[o]) continue;
      page.value(total, {{"route", route.name},
                         {"policy", route.policy},
                         {"outcome", std::string(name(static_cast<Outcome>(o)))}});
    }
  }
  page.counter("semel_duplicates_suppressed_total",
               "Calls that were answered without asking the tool.");
  for (const Outcome kind :
       {Outcome::Replayed, Outcome::Collapsed, Outcome::InFlight, Outcome::Indeterminate}) {
    page.value(
        sum([kind](auto& s) -> auto& { return s.suppressed[static_cast<std::size_t>(kind)]; }),
        {{"kind", std::string(name(kind))}});
  }
  page.histogram("semel_request_duration_seconds", "From the request's last byte to the answer's.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    page.distribution(parts([r](auto& s) -> auto& { return s.by_route[r].request_duration; }),
                      {{"route", routes_[r].name}});
  }
  page.histogram("semel_wait_duration_seconds", "How long duplicates were held.");
  page.distribution(parts([](auto& s) -> auto& { return s.wait_duration; }));
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
  page.counter("semel_access_log_dropped_lines_total", "Log lines that nobody took in time.");
  page.value(sum([](auto& s) -> auto& { return s.access_log_dropped; }));
}

void Metrics::add_upstreams(MetricsPage& page) const {
  page.counter("semel_upstream_failures_total",
               "Upstream calls without a complete answer, by end.");
  for (std::size_t r = 0; r + 1 < routes_.size(); ++r) {
    for (const UpstreamEnd end : {UpstreamEnd::NeverSent, UpstreamEnd::Unanswered}) {
      page.value(sum([&](auto& s) -> auto& {
                   return s.by_route[r].upstream_ends[static_cast<std::size_t>(end)];
                 }),
                 {{"route", routes_[r].name}, {"end", std::string(name(end))}});
    }
  }
  page.counter("semel_upstream_retries_total", "Attempts beyond the first.");
  for (std::size_t r = 0; r + 1 < routes_.size(); ++r) {
    page.value(sum([r](auto& s) -> auto& { return s.by_route[r].upstream_retries; }),
               {{"route", routes_[r].name}});
  }
  page.histogram("semel_upstream_duration_seconds", "From the dispatch to the answer's last byte.");
  for (std::size_t r = 0; r + 1 < routes_.size(); ++r) {
    page.distribution(parts([r](auto& s) -> auto& { return s.by_route[r].upstream_duration; }),
                      {{"route", routes_[r].name}});
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
  page.gauge("semel_store_up", "1 while the store takes claims.");
  page.value(health.up ? 1 : 0);
  page.gauge("semel_store_suspect", "1 while the store may have lost records.");
  page.value(health.suspect ? 1 : 0);
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
  // A page is only served by a process that took its configuration.
  page.gauge("semel_config_last_reload_successful",
             "1 while the configuration that runs is the one last given.");
  page.value(1);
  page.gauge("semel_build_info", "The version that runs.");
  page.value(1, {{"version", SEMEL_VERSION}, {"store_durability", health.durability}});
}

}  // namespace semel::proxy
