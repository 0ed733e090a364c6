// From one configuration to the next while the process serves. Called by proxy/server, on the
// housekeeping thread: the start, SIGHUP and the admin listener end here.
#include "proxy/editions.h"

#include <algorithm>
#include <exception>

#include "core/key_versions.h"
#include "core/route_change.h"

namespace semel::proxy {

std::vector<std::string> needing_restart(const config::Config& running,
                                         const config::Config& wanted) {
  std::vector<std::string> sentences;
  const auto compare = [&](const char* key, const auto& runs, const auto& wants) {
    if (runs == wants) return;
    sentences.push_back(wanted.file + ": " + key +
                        ": a reload does not change it; restart, or restore what it was");
  };
  compare("listen.address", running.listen.address, wanted.listen.address);
  compare("listen.tls", running.listen.tls, wanted.listen.tls);
  compare("metrics", running.metrics, wanted.metrics);
  compare("admin", running.admin, wanted.admin);
  compare("store", running.store, wanted.store);
  compare("workers", running.workers, wanted.workers);
  compare("state_dir", running.state_dir, wanted.state_dir);
  compare("access_log", running.access_log, wanted.access_log);
  for (const Route& route : wanted.routes) {
    // A request of before, which knows nothing of the new version, may still take its old key.
    const auto runs = std::ranges::find(running.routes, route.name, &Route::name);
    if (runs == running.routes.end() || runs->key_version == route.key_version) continue;
    sentences.push_back(route.file + ":" + std::to_string(route.line) + ": route " + route.name +
                        ": key: version: a reload does not change it; restart, or restore what it "
                        "was");
  }
  return sentences;
}

Task<std::vector<std::string>> adopt_routes(Store& store, config::Config& config,
                                            std::vector<std::string> acknowledged) {
  const auto remembered = co_await store.routes();
  if (remembered.has_error()) {
    std::vector<std::string> unknown;
    unknown.push_back(config.file +
                      ": the store cannot say under which routes its keys were made (" +
                      std::string(name(remembered.error())) +
                      "); no route can be compared with what it promised");
    co_return unknown;
  }
  std::vector<std::string> lines = objections(weakened(*remembered, config.routes), acknowledged);
  if (!lines.empty()) co_return lines;
  std::vector<RouteTerms> terms = successors(*remembered, config.routes);
  attach_earlier(terms, config.routes);
  if (*remembered == terms) co_return lines;
  const auto adopted = co_await store.adopt_routes(std::move(terms));
  if (adopted.has_error()) {
    lines.push_back(config.file + ": the store did not take the new routes (" +
                    std::string(name(adopted.error())) + "); try again");
  }
  co_return lines;
}

Editions::Editions(Executor home, config::Config first, Load load, std::ostream& log)
    : running_(std::make_shared<const Edition>(std::move(first))),
      load_(std::move(load)),
      log_(log),
      turn_(home, Worker::Timer::time_point::max()) {}

Task<std::vector<std::string>> Editions::begin(Store& store,
                                               std::vector<std::string> acknowledged) {
  config::Config adopted = config();
  std::vector<std::string> refused = co_await adopt_routes(store, adopted, std::move(acknowledged));
  if (refused.empty()) running_ = std::make_shared<const Edition>(std::move(adopted));
  co_return refused;
}

/// One reload's turn; whoever waits for it looks again when it ends, however it ends.
struct Editions::Turn {
  explicit Turn(Editions& of) : editions(of) { editions.is_renewing_ = true; }
  ~Turn() {
    editions.is_renewing_ = false;
    editions.turn_.cancel();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  Editions& editions;
};

Task<ReloadReport> Editions::renew(Site& site, HandOut hand_out,
                                   std::vector<std::string> acknowledged) {
  while (is_renewing_) co_await turn_.async_wait(kNoThrow);
  const Turn mine(*this);
  const std::vector<std::string> refused =
      co_await try_renew(site, std::move(hand_out), std::move(acknowledged));

  ReloadReport report;
  report.done = refused.empty();
  site.metrics.note(report.done ? ReloadEnd::Taken : ReloadEnd::Refused);
  std::vector<std::string> lines = refused;
  if (report.done) {
    lines = config().warnings;
    lines.insert(lines.begin(), "reloaded " + config().file);
  } else {
    lines.insert(lines.begin(), "not reloaded, the configuration that ran runs on:");
  }
  for (const std::string& line : lines) {
    log_ << "semel: " << line << "\n";
    report.text.append(report.text.empty() ? "" : "\n").append(line);
  }
  log_.flush();
  co_return report;
}

/// @return Why not; empty: every worker has the new edition.
Task<std::vector<std::string>> Editions::try_renew(Site& site, HandOut hand_out,
                                                   std::vector<std::string> acknowledged) {
  std::vector<std::string> refused;
  if (site.draining) {
    refused.emplace_back("the process is draining");
    co_return refused;
  }
  config::Config wanted;
  try {
    wanted = load_();
  } catch (const std::exception& failure) {
    refused.emplace_back(failure.what());
    co_return refused;
  }
  refused = needing_restart(config(), wanted);
  if (!refused.empty()) co_return refused;
  refused = co_await adopt_routes(*site.store, wanted, std::move(acknowledged));
  if (!refused.empty()) co_return refused;
  const auto next = std::make_shared<const Edition>(std::move(wanted));
  site.metrics.welcome(next->table.routes());
  site.allow(next->config.limits);
  running_ = next;
  co_await hand_out(next);
  co_return refused;
}

}  // namespace semel::proxy
