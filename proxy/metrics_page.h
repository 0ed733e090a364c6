#pragma once

#include <prometheus/metric_family.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proxy/metrics.h"

namespace semel::proxy {

/// Families of metrics in the making, spelled by prometheus-cpp in the end. A family without a
/// series is left out of the text.
class MetricsPage {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  /// Begins a family: what follows is one of its series.
  void counter(std::string name, std::string help);
  void gauge(std::string name, std::string help);
  void histogram(std::string name, std::string help);

  /// Adds a series to a family of counters or gauges.
  void value(double number, Labels labels = {});
  /// Adds a series to a family of histograms: the sum of `parts`. Nothing where none of them has
  /// observed anything: a quantile of nothing is no number, and empty buckets would be most of the
  /// page.
  void distribution(std::span<const Histogram* const> parts, Labels labels = {});

  /// Exposition format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  void begin(std::string name, std::string help, prometheus::MetricType type);
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace semel::proxy
