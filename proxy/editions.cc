// From one configuration to the next while the process serves. Called by proxy/server, on the
// housekeeping thread: the start, SIGHUP and the admin listener end here.
#include "proxy/editions.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <utility>

#include "core/check.h"
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
  compare("events", running.events, wanted.events);
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

namespace {

constexpr std::chrono::milliseconds kPauseBetweenQuestions{100};

/// What stands in the way where nobody can tell what was promised.
std::vector<std::string> objections_to_unreadable(const config::Config& config,
                                                  const std::vector<std::string>& acknowledged) {
  std::vector<std::string> lines;
  std::string words;
  std::string query;
  bool is_all = true;
  for (const Route& route : config.routes) {
    if (!is_keyed(route.policy)) continue;
    words += " --acknowledge " + route.name;
    query += (query.empty() ? "?acknowledge=" : "&acknowledge=") + route.name;
    is_all = is_all && std::ranges::find(acknowledged, route.name) != acknowledged.end();
  }
  const std::string unreadable =
      config.file +
      ": what the store remembers of the routes under which its keys were made cannot be read (" +
      std::string(name(Fault::RecordCorrupt)) + "), so that no route can be compared with it; ";
  if (words.empty()) {
    lines.push_back(unreadable + "give it a file with the keyed routes that it had");
  } else if (!is_all) {
    lines.push_back(unreadable + "acknowledge every keyed route (serve" + words +
                    ", or POST /-/reload" + query +
                    ") once it is sure that they are as they were, or that no earlier call is "
                    "repeated");
  }
  for (const std::string& named : acknowledged) {
    const auto route = std::ranges::find(config.routes, named, &Route::name);
    if (route != config.routes.end() && is_keyed(route->policy)) continue;
    lines.push_back("acknowledge " + named + ": there is no keyed route called " + named +
                    "; leave it out");
  }
  return lines;
}

/// Lets the store remember the terms, and finds out whether it does.
/// @faults StoreUnreachable, StoreFull: it does not. StoreTimeout, StoreBroken: it may.
Task<Result<void>> adopt_terms(Store& store, std::vector<RouteTerms> terms, AsksOn asks_on) {
  Result<void> adopted = co_await store.adopt_routes(terms);
  Worker::Timer pause(co_await asio::this_coro::executor);
  while (adopted.has_error() && adopted.error() == Fault::StoreTimeout && asks_on()) {
    // It answers in the order in which it was asked.
    const auto remembered = co_await store.routes();
    if (remembered && *remembered == terms) co_return Result<void>();
    if (remembered || remembered.error() == Fault::RecordCorrupt) {
      co_return Fault::StoreUnreachable;  // As before: it never came to that.
    }
    if (remembered.error() == Fault::StoreBroken) co_return Fault::StoreBroken;
    if (remembered.error() == Fault::StoreTimeout) continue;
    pause.expires_after(kPauseBetweenQuestions);  // Refused at once, and it may be so again.
    co_await pause.async_wait(kNoThrow);
  }
  co_return adopted;
}

std::string not_adopted(const config::Config& config, Fault why) {
  const std::string fault(name(why));
  if (why == Fault::StoreTimeout || why == Fault::StoreBroken) {
    return config.file + ": the store has not said whether it took the new routes (" + fault +
           "); the next start compares with what it remembers then";
  }
  return config.file + ": the store did not take the new routes (" + fault + "); try again";
}

}  // namespace

Task<std::vector<std::string>> adopt_routes(Store& store, config::Config& config,
                                            std::vector<std::string> acknowledged, AsksOn asks_on) {
  const auto remembered = co_await store.routes();
  const bool is_unreadable = remembered.has_error() && remembered.error() == Fault::RecordCorrupt;
  std::vector<std::string> lines;
  if (remembered.has_error() && !is_unreadable) {
    lines.push_back(config.file + ": the store cannot say under which routes its keys were made (" +
                    std::string(name(remembered.error())) +
                    "); no route can be compared with what it promised, and nothing was "
                    "changed: reload, or start, again once the store answers");
    co_return lines;
  }
  std::vector<RouteTerms> before;
  if (is_unreadable) {
    lines = objections_to_unreadable(config, acknowledged);
  } else {
    before = *remembered;
    lines = objections(weakened(before, config.routes), acknowledged);
  }
  if (!lines.empty()) co_return lines;
  std::vector<RouteTerms> terms = successors(before, config.routes);
  attach_earlier(terms, config.routes);
  if (!is_unreadable && before == terms) co_return lines;
  const auto adopted = co_await adopt_terms(store, std::move(terms), std::move(asks_on));
  if (adopted.has_error()) lines.push_back(not_adopted(config, adopted.error()));
  co_return lines;
}

Editions::Editions(Executor home, config::Config first, Load load, std::ostream& log)
    : running_(std::make_shared<const Edition>(std::move(first))),
      load_(std::move(load)),
      log_(log),
      turns_(new Turns{Worker::Timer(home, Worker::Timer::time_point::max())}) {}

Task<std::vector<std::string>> Editions::begin(Store& store,
                                               std::vector<std::string> acknowledged) {
  config::Config adopted = config();
  // Nothing runs yet: another start may ask.
  AsksOn never = [] { return false; };
  std::vector<std::string> refused =
      co_await adopt_routes(store, adopted, std::move(acknowledged), std::move(never));
  if (refused.empty()) running_ = std::make_shared<const Edition>(std::move(adopted));
  co_return refused;
}

std::chrono::milliseconds Editions::longest_timeout() const {
  std::chrono::milliseconds longest{0};
  for (const auto& edition : in_use()) {
    for (const Route& route : edition->table.routes()) longest = std::max(longest, route.timeout);
  }
  return longest;
}

std::vector<std::shared_ptr<const Edition>> Editions::in_use() const {
  std::vector<std::shared_ptr<const Edition>> editions{running_};
  for (const auto& earlier : earlier_) {
    if (auto held = earlier.lock()) editions.push_back(std::move(held));
  }
  return editions;
}

void Editions::run_next(Site& site, config::Config adopted) noexcept {
  const auto next = std::make_shared<const Edition>(std::move(adopted));
  site.metrics.welcome(next->table.routes());
  site.allow(next->config.limits);
  std::erase_if(earlier_, [](const auto& earlier) { return earlier.expired(); });
  earlier_.push_back(running_);
  running_ = next;
}

AsksOn Editions::until_draining(const Site& site) {
  return [this, &site, told = false]() mutable {
    if (!std::exchange(told, true)) {
      log_ << "semel: the store has not said whether it took the new routes; it is asked until it "
              "does"
           << std::endl;
    }
    return !site.draining;
  };
}

/// One reload's turn; whoever waits for it looks again when it ends, however it ends.
class Editions::Turn {
 public:
  explicit Turn(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {
    turns_->is_taken = true;
  }
  ~Turn() {
    turns_->is_taken = false;
    turns_->ended.cancel();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::shared_ptr<Turns> turns_;
};

Task<ReloadReport> Editions::renew(Site& site, HandOut hand_out,
                                   std::vector<std::string> acknowledged) {
  while (turns_->is_taken) co_await turns_->ended.async_wait(kNoThrow);
  const Turn mine(turns_);
  std::vector<std::string> refused;
  try {
    refused = co_await try_renew(site, std::move(hand_out), std::move(acknowledged));
  } catch (const std::exception& failure) {
    refused.emplace_back(failure.what());
  }

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
  AsksOn asks_on = until_draining(site);
  refused = co_await adopt_routes(*site.store, wanted, std::move(acknowledged), std::move(asks_on));
  if (!refused.empty()) co_return refused;
  run_next(site, std::move(wanted));
  try {
    co_await hand_out(running_);
  } catch (const std::exception&) {
    SEMEL_CHECK(false && "no worker goes on under routes that the store no longer remembers");
  }
  co_return refused;
}

}  // namespace semel::proxy
