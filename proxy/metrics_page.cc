#include "proxy/metrics_page.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace semel::proxy {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void MetricsPage::begin(std::string name, std::string help, MetricType type) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  families_.push_back(std::move(family));
}

void MetricsPage::counter(std::string name, std::string help) {
  begin(std::move(name), std::move(help), MetricType::Counter);
}

void MetricsPage::gauge(std::string name, std::string help) {
  begin(std::move(name), std::move(help), MetricType::Gauge);
}

void MetricsPage::histogram(std::string name, std::string help) {
  begin(std::move(name), std::move(help), MetricType::Histogram);
}

void MetricsPage::value(double number, Labels labels) {
  MetricFamily& family = families_.back();
  ClientMetric series;
  series.label = std::move(labels);
  if (family.type == MetricType::Gauge) {
    series.gauge.value = number;
  } else {
    series.counter.value = number;
  }
  family.metric.push_back(std::move(series));
}

void MetricsPage::distribution(std::span<const Histogram* const> parts, Labels labels) {
  ClientMetric series;
  series.label = std::move(labels);
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i <= Histogram::kBounds.size(); ++i) {
    for (const Histogram* part : parts) cumulative += part->bucket(i);
    ClientMetric::Bucket bucket;
    bucket.cumulative_count = cumulative;
    bucket.upper_bound = i < Histogram::kBounds.size() ? Histogram::kBounds[i]
                                                       : std::numeric_limits<double>::infinity();
    series.histogram.bucket.push_back(bucket);
  }
  if (cumulative == 0) return;
  series.histogram.sample_count = cumulative;
  for (const Histogram* part : parts) series.histogram.sample_sum += part->sum_seconds();
  families_.back().metric.push_back(std::move(series));
}

std::string MetricsPage::text() const {
  std::vector<MetricFamily> told;
  std::copy_if(families_.begin(), families_.end(), std::back_inserter(told),
               [](const MetricFamily& family) { return !family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(told);
}

}  // namespace semel::proxy
