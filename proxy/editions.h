#pragma once

#include <chrono>
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

/// Whether to go on asking a store that has not said whether it took the new routes.
using AsksOn = std::function<bool()>;

/// Compares the routes with what the store remembers, and lets the store remember these if nothing
/// stands in the way. Then they know the earlier versions of their keys. Where the store cannot
/// read what it remembers, the acknowledgement of every keyed route is what lets them pass.
/// @param config   Must outlive the task.
/// @param asks_on  Asked before each further question.
/// @return What stands in the way, a line each. Empty: adopted, durably.
/// @source spec 4, "Changing a route frees its keys"; core/route_change.h.
[[nodiscard]] Task<std::vector<std::string>> adopt_routes(Store& store, config::Config& config,
                                                          std::vector<std::string> acknowledged,
                                                          AsksOn asks_on);

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
  /// Those under which a call may be under way, the running one first.
  [[nodiscard]] std::vector<std::shared_ptr<const Edition>> in_use() const;
  [[nodiscard]] const config::Config& config() const { return running_->config; }
  /// Of all routes under which a call may be under way: those of earlier editions count for as long
  /// as somebody holds them.
  [[nodiscard]] std::chrono::milliseconds longest_timeout() const;

  /// Takes the configuration as the file says it now. Whatever stands in the way, the one that runs
  /// runs on, and the report says why. One at a time: a second one waits for the first. A store
  /// that may have taken the new routes is asked until it says so, or until the process drains.
  /// @return The same lines as in the log.
  [[nodiscard]] Task<ReloadReport> renew(Site& site, HandOut hand_out,
                                         std::vector<std::string> acknowledged);

 private:
  /// Whose turn it is. It outlives the Editions where a reload does, which the end of the process
  /// left suspended.
  struct Turns {
    Worker::Timer ended;
    bool is_taken = false;
  };
  class Turn;
  [[nodiscard]] Task<std::vector<std::string>> try_renew(Site& site, HandOut hand_out,
                                                         std::vector<std::string> acknowledged);
  [[nodiscard]] AsksOn until_draining(const Site& site);
  /// The store remembers its routes: there is no way back, and what fails here ends the process.
  void run_next(Site& site, config::Config adopted) noexcept;

  std::shared_ptr<const Edition> running_;
  std::vector<std::weak_ptr<const Edition>> earlier_;
  Load load_;
  std::ostream& log_;
  std::shared_ptr<Turns> turns_;
};

}  // namespace semel::proxy
