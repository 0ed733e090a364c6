// Sums the workers' shards at scrape time and lets prometheus-cpp spell them. Called by the metrics
// listener; nothing on the data path is here.
#include "proxy/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <functional>
#include <sstream>

namespace semel::proxy {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

ClientMetric labelled(Labels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  return metric;
}

/// Families in the making.
class Page {
 public:
  void family(std::string name, std::string help, MetricType type) {
    MetricFamily next;
    next.name = std::move(name);
    next.help = std::move(help);
    next.type = type;
    families_.push_back(std::move(next));
  }
  void value(Labels labels, double number) {
    ClientMetric metric = labelled(std::move(labels));
    if (families_.back().type == MetricType::Gauge) {
      metric.gauge.value = number;
    } else {
      metric.counter.value = number;
    }
    families_.back().metric.push_back(std::move(metric));
  }
  void histogram(Labels labels, const std::vector<const Histogram*>& parts) {
    ClientMetric metric = labelled(std::move(labels));
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i <= Histogram::kBounds.size(); ++i) {
      for (const Histogram* part : parts) cumulative += part->bucket(i);
      ClientMetric::Bucket bucket;
      bucket.cumulative_count = cumulative;
      bucket.upper_bound = i < Histogram::kBounds.size() ? Histogram::kBounds[i]
                                                         : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back(bucket);
    }
    metric.histogram.sample_count = cumulative;
    for (const Histogram* part : parts) metric.histogram.sample_sum += part->sum_seconds();
    families_.back().metric.push_back(std::move(metric));
  }
  [[nodiscard]] std::string text() const {
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<MetricFamily> families_;
};

constexpr std::size_t index(Outcome outcome) { return static_cast<std::size_t>(outcome); }

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
    labels_.push_back({route.name, std::string(name(route.policy))});
  }
  labels_.push_back({"", "NONE"});
  for (std::size_t i = 0; i < workers; ++i) {
    shards_.push_back(std::make_unique<MetricsShard>(routes.size()));
  }
}

std::string Metrics::render(const StoreHealth& health) const {
  Page page;
  const auto sum = [this](auto&& of) {
    double total = 0;
    for (const auto& shard : shards_) total += static_cast<double>(std::invoke(of, *shard).read());
    return total;
  };
  const auto all = [this](auto&& of) {
    std::vector<const Histogram*> parts;
    for (const auto& shard : shards_) parts.push_back(&std::invoke(of, *shard));
    return parts;
  };
  const auto counter = [&](const char* metric, const char* help) {
    page.family(metric, help, MetricType::Counter);
  };

  counter("semel_requests_total", "Requests, by route, policy and how they ended for the client.");
  for (std::size_t r = 0; r < labels_.size(); ++r) {
    for (std::size_t o = 0; o < kOutcomeCount; ++o) {
      const double total = sum([&](auto& s) -> auto& { return s.by_route[r].requests[o]; });
      if (total == 0) continue;
      page.value({{"route", labels_[r].route},
                  {"policy", labels_[r].policy},
                  {"outcome", std::string(name(static_cast<Outcome>(o)))}},
                 total);
    }
  }
  counter("semel_duplicates_suppressed_total", "Calls that were answered without asking the tool.");
  for (const Outcome kind :
       {Outcome::Replayed, Outcome::Collapsed, Outcome::InFlight, Outcome::Indeterminate}) {
    double total = 0;
    for (std::size_t r = 0; r < labels_.size(); ++r) {
      total += sum([&](auto& s) -> auto& { return s.by_route[r].requests[index(kind)]; });
    }
    page.value({{"kind", std::string(name(kind))}}, total);
  }
  counter("semel_in_flight_collisions_total", "Calls that met another one of their key in flight.");
  page.value({}, sum([](auto& s) -> auto& { return s.collisions; }));
  counter("semel_indeterminate_total", "Effects whose outcome became unknown, by reason.");
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    page.value({{"reason", std::string(name(static_cast<IndeterminateReason>(i)))}},
               sum([&](auto& s) -> auto& { return s.indeterminate[i]; }));
  }
  counter("semel_records_expired_total", "Records erased after their window.");
  page.value({}, sum([](auto& s) -> auto& { return s.records_expired; }));
  counter("semel_expired_reruns_total", "Calls that ran again because their record had expired.");
  page.value({}, sum([](auto& s) -> auto& { return s.expired_reruns; }));
  counter("semel_stale_writer_total", "Writes refused because another attempt owns the record.");
  page.value({}, sum([](auto& s) -> auto& { return s.stale_writers; }));
  counter("semel_key_source_total", "Keys, by where they came from.");
  for (const KeySource source : {KeySource::Derived, KeySource::Client}) {
    double total = 0;
    for (std::size_t r = 0; r < labels_.size(); ++r) {
      total += sum([&](auto& s) -> auto& {
        return s.by_route[r].key_sources[static_cast<std::size_t>(source)];
      });
    }
    page.value({{"source", std::string(name(source))}}, total);
  }
  counter("semel_upstream_failures_total", "Upstream calls without a complete answer, by end.");
  for (std::size_t r = 0; r + 1 < labels_.size(); ++r) {
    for (const UpstreamEnd end : {UpstreamEnd::NeverSent, UpstreamEnd::Unanswered}) {
      page.value({{"route", labels_[r].route}, {"end", std::string(name(end))}},
                 sum([&](auto& s) -> auto& {
                   return s.by_route[r].upstream_ends[static_cast<std::size_t>(end)];
                 }));
    }
  }
  counter("semel_upstream_retries_total", "Attempts beyond the first.");
  for (std::size_t r = 0; r + 1 < labels_.size(); ++r) {
    page.value({{"route", labels_[r].route}},
               sum([&](auto& s) -> auto& { return s.by_route[r].upstream_retries; }));
  }
  counter("semel_store_errors_total", "Store operations that failed, by operation.");
  for (std::size_t i = 0; i < kStoreOperationCount; ++i) {
    page.value({{"operation", std::string(name(static_cast<StoreOperation>(i)))}},
               sum([&](auto& s) -> auto& { return s.store_errors[i]; }));
  }

  const auto histogram = [&](const char* metric, const char* help) {
    page.family(metric, help, MetricType::Histogram);
  };
  histogram("semel_request_duration_seconds", "From the request's last byte to the answer's.");
  for (std::size_t r = 0; r < labels_.size(); ++r) {
    page.histogram({{"route", labels_[r].route}},
                   all([&](auto& s) -> auto& { return s.by_route[r].request_duration; }));
  }
  histogram("semel_upstream_duration_seconds", "From the dispatch to the answer's last byte.");
  for (std::size_t r = 0; r + 1 < labels_.size(); ++r) {
    page.histogram({{"route", labels_[r].route}},
                   all([&](auto& s) -> auto& { return s.by_route[r].upstream_duration; }));
  }
  histogram("semel_wait_duration_seconds", "How long duplicates were held.");
  page.histogram({}, all([](auto& s) -> auto& { return s.wait_duration; }));
  histogram("semel_store_operation_duration_seconds", "The store's answers, by operation.");
  for (std::size_t i = 0; i < kStoreOperationCount; ++i) {
    page.histogram({{"operation", std::string(name(static_cast<StoreOperation>(i)))}},
                   all([&](auto& s) -> auto& { return s.store_duration[i]; }));
  }

  const auto gauge = [&](const char* metric, const char* help, double value) {
    page.family(metric, help, MetricType::Gauge);
    page.value({}, value);
  };
  gauge("semel_indeterminate_records", "Records whose outcome is unknown now.",
        static_cast<double>(health.indeterminate));
  if (health.oldest_indeterminate) {
    gauge("semel_indeterminate_oldest_timestamp_seconds", "When the oldest of them became unknown.",
          std::chrono::duration<double>(health.oldest_indeterminate->time_since_epoch()).count());
  }
  gauge("semel_store_up", "1 while the store takes claims.", health.up ? 1 : 0);
  gauge("semel_store_suspect", "1 while the store may have lost records.", health.suspect ? 1 : 0);
  gauge("semel_connections", "Client connections that are open.",
        sum([](auto& s) -> auto& { return s.connections; }));
  page.family("semel_build_info", "The version that runs.", MetricType::Gauge);
  page.value({{"version", SEMEL_VERSION}, {"store_durability", health.durability}}, 1);
  return page.text();
}

}  // namespace semel::proxy
