#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "proxy/editions.h"
#include "proxy/site.h"

namespace semel::proxy {

/// What the process looks after at its store, once a second: what an operator should read of it,
/// and, where other replicas share it, whether they have changed the routes.
/// @thread The one that renders the metrics.
class StoreWatch {
 public:
  /// How often it looks.
  static constexpr std::chrono::seconds kPause{1};
  /// By when every other replica has seen what this one let the store remember, or takes no claim:
  /// what it saw before holds no longer, and a claim that it asked for then has been answered.
  static constexpr std::chrono::seconds kAllHaveSeen = Agreement::kHolds + std::chrono::seconds(2);

  StoreWatch(Site& site, const Editions& editions, MetricsShard& shard, std::ostream& log)
      : site_(site), editions_(editions), shard_(shard), log_(log) {}

  [[nodiscard]] Task<> look();
  /// Logs what has changed since it was last told of the store's health: an outage and its end, and
  /// what an operator should know.
  void tell(const StoreHealth& health);

  /// As a store that was made anew beside this process: it takes no guarded call before a reload.
  [[nodiscard]] bool remembers_nothing() const { return remembers_nothing_; }

 private:
  [[nodiscard]] Task<> look_at_routes();
  void tell_changed(std::vector<std::string> changed);

  Site& site_;
  const Editions& editions_;
  MetricsShard& shard_;
  std::ostream& log_;
  std::string remark_;
  bool was_up_ = true;
  bool remembers_nothing_ = false;
  bool was_suspect_ = false;
  std::vector<std::string> changed_;  ///< Names of routes, as they were told last.
};

}  // namespace semel::proxy
