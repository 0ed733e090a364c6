#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "proxy/edition.h"
#include "proxy/reload_report.h"
#include "proxy/site.h"
#include "proxy/worker.h"

namespace semel::proxy {

/// What only a restart changes and `wanted` says otherwise than what runs: a sentence each.
[[nodiscard]] std::vector<std::string> needing_restart(const config::Config& running,
                                                       const config::Config& wanted);

/// Compares the routes with what the store remembers, and lets the store remember these if nothing
/// stands in the way. Then they know the earlier versions of their keys.
/// @param config  Must outlive the task.
/// @return What stands in the way, a line each. Empty: adopted, durably.
/// @source spec 4, "Changing a route frees its keys"; core/route_change.h.
[[nodiscard]] Task<std::vector<std::string>> adopt_routes(Store& store, config::Config& config,
                                                          std::vector<std::string> acknowledged);

/// The edition that runs, and the way to the next one.
/// @thread The one that renders the metrics.
class Editions {
 public:
  /// Reads the same file again, as at the start. @throws std::exception with file:line.
  using Load = std::function<config::Config()>;
  /// Gives every worker the edition. Returns once all of them have taken it.
  using HandOut = std::function<Task<>(std::shared_ptr<const Edition> edition)>;

  /// @param home  Where renew() runs.
  Editions(Executor home, config::Config first, Load load, std::ostream& log);

  /// The first edition's routes, once they are adopted.
  /// @return What stands in the way, a line each.
  [[nodiscard]] Task<std::vector<std::string>> begin(Store& store,
                                                     std::vector<std::string> acknowledged);
  [[nodiscard]] const std::shared_ptr<const Edition>& running() const { return running_; }
  [[nodiscard]] const config::Config& config() const { return running_->config; }

  /// Takes the configuration as the file says it now. Whatever stands in the way, the one that runs
  /// runs on, and the report says why. One at a time: a second one waits for the first.
  /// @return The same lines as in the log.
  [[nodiscard]] Task<ReloadReport> renew(Site& site, HandOut hand_out,
                                         std::vector<std::string> acknowledged);

 private:
  struct Turn;
  [[nodiscard]] Task<std::vector<std::string>> try_renew(Site& site, HandOut hand_out,
                                                         std::vector<std::string> acknowledged);

  std::shared_ptr<const Edition> running_;
  Load load_;
  std::ostream& log_;
  Worker::Timer turn_;
  bool is_renewing_ = false;
};

}  // namespace semel::proxy
