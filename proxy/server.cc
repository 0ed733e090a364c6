// Puts the workers, the house's own listener, the sweep and the signals together. Called by main.
#include "proxy/server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "proxy/access_log.h"
#include "proxy/admin_listener.h"
#include "proxy/admin_token.h"
#include "proxy/audit_log.h"
#include "proxy/editions.h"
#include "proxy/house_pages.h"
#include "proxy/listen.h"
#include "proxy/site.h"
#include "proxy/store_watch.h"
#include "proxy/worker.h"

namespace semel::proxy {
namespace {

constexpr std::chrono::seconds kSweepPause{1};
/// Records of one batch, and how many times as long as one took the next one is waited for.
constexpr std::size_t kGentleBatch = 16;
constexpr int kGentleRests = 3;
/// A sweep that has not ended by then is behind what expires: from there on it goes on in batches
/// of many, without pauses.
constexpr std::chrono::minutes kGentleSweep{3};
constexpr std::size_t kHastyBatch = 256;
constexpr std::chrono::seconds kDrainMargin{5};
constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};

std::size_t worker_count(const config::Config& config) {
  return config.workers != 0 ? config.workers : std::max(1u, std::thread::hardware_concurrency());
}

/// Each client may need a descriptor for its own connection and one for the upstream's.
void raise_descriptor_limit(const config::Config& config, std::ostream& log) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = 2 * config.limits.connections + 64;
  if (limit.rlim_cur < wanted) {
    log << "semel: " << limit.rlim_cur << " descriptors are allowed, limits.connections may need "
        << wanted << "; raise the limit (ulimit -n) or lower limits.connections" << std::endl;
  }
}

/// From here on a signal waits for its turn, also when nobody is left to take it: who asks again
/// while the process ends does not end it by signal.
void hold_signals() {
  // Asio gives a signal back with the last set that has it, so one stays until there is no process.
  static auto& nobody = *new asio::io_context;
  static auto& held = *new asio::signal_set(nobody);
  for (const int signal : kSignals) held.add(signal);
}

/// The process while it serves.
class Server {
 public:
  Server(Beginning beginning, std::ostream& log)
      : workers_wanted_(worker_count(beginning.config)),
        access_log_fd_(open_access_log(beginning.config.access_log)),
        log_(log),
        site_(beginning.config, std::move(beginning.store), workers_wanted_ + 1, access_log_fd_),
        editions_(house_.get_executor(), std::move(beginning.config), std::move(beginning.load),
                  log),
        signals_(house_.get_executor()),
        sweep_timer_(house_.get_executor()),
        watch_timer_(house_.get_executor()),
        drain_timer_(house_.get_executor()),
        watch_(site_, editions_, site_.metrics.shard(workers_wanted_), log) {}

  /// However it ends: what the store has going in the house or with a worker ends before these do.
  ~Server() { site_.store->close(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Once at the start, before anything listens.
  /// @throws std::runtime_error with the sentences of what stands in the way.
  void adopt_first(const std::vector<std::string>& acknowledged) {
    hold_signals();
    for (const int signal : kSignals) signals_.add(signal);
    std::vector<std::string> refused;
    const std::exception_ptr failed = run_to_its_end(adopt_into(refused, acknowledged));
    const bool is_taken = !failed && refused.empty();
    note_words(acknowledged, is_taken ? "done" : "refused");
    if (is_taken) return wait_for_others();
    if (failed) std::rethrow_exception(failed);
    std::string text;
    for (const std::string& line : refused) text.append(text.empty() ? "" : "\n").append(line);
    throw std::runtime_error(text);
  }

  /// Before the house has its thread. What a store has going there goes on, and has no end.
  /// @return what it has thrown.
  [[nodiscard]] std::exception_ptr run_to_its_end(Task<> task) {
    std::exception_ptr failed;
    asio::co_spawn(house_, std::move(task), [this, &failed](std::exception_ptr failure) {
      failed = std::move(failure);
      house_.stop();
    });
    house_.run();
    house_.restart();
    return failed;
  }

  /// What was adopted holds no longer afterwards, so that it is looked at anew.
  Task<> wait_and_look() {
    watch_timer_.expires_after(StoreWatch::kAllHaveSeen);
    co_await watch_timer_.async_wait(kNoThrow);
    co_await watch_.look();
  }

  /// A call that has another key than before is looked up under its earlier keys, but a replica
  /// that has not seen the new ones yet looks under the earlier ones alone. So nobody is served
  /// under new keys before every other replica has seen them.
  void wait_for_others() {
    const config::Config& config = editions_.config();
    const bool is_raised = std::ranges::any_of(
        config.routes, [](const Route& route) { return !route.earlier.empty(); });
    if (!is_raised || sharing_of(config) == Agreement::Sharing::Alone) return;
    log_ << "semel: a route has an earlier key version: " << StoreWatch::kAllHaveSeen.count()
         << " s until every other replica has seen the new one" << std::endl;
    const std::exception_ptr failed = run_to_its_end(wait_and_look());
    if (failed) std::rethrow_exception(failed);
  }

  int run() {
    open_workers();
    open_house();
    open_admin();
    asio::co_spawn(house_, wait_for_signal(), asio::detached);
    asio::co_spawn(house_, sweep(), asio::detached);
    asio::co_spawn(house_, watch_store(), asio::detached);
    for (auto& worker : workers_) threads_.emplace_back([&worker] { worker->run(); });
    std::thread housekeeping([this] { house_.run(); });
    for (auto& thread : threads_) thread.join();
    asio::co_spawn(house_, end_house(), asio::detached);
    housekeeping.join();
    site_.store->close();
    log_ << "semel: drained, all is settled" << std::endl;
    return 0;
  }

 private:
  void open_workers() {
    const bool is_unix = !editions_.config().listen.address.unix_path.empty();
    int shared = -1;
    for (std::size_t i = 0; i < workers_wanted_; ++i) {
      workers_.push_back(std::make_unique<Worker>(site_, i, editions_.running()));
      const int fd = is_unix && i > 0 ? ::fcntl(shared, F_DUPFD_CLOEXEC, 0)
                                      : open_listener(editions_.config().listen.address);
      shared = fd;
      workers_.back()->listen(fd);
    }
  }

  void open_house() {
    if (!editions_.config().metrics) return;
    HouseSources sources;
    sources.metrics = [this]() -> Task<std::string> { return metrics_page(); };
    sources.not_ready = [this]() -> Task<std::string> { return not_ready(); };
    listener_.emplace(house_, *editions_.config().metrics, "metrics.address",
                      house_pages(std::move(sources)));
  }

  void open_admin() {
    if (!editions_.config().admin) return;
    config::Admin admin = *editions_.config().admin;
    admin.token = take_admin_token(editions_.config());
    Reload take = [this](std::vector<std::string> acknowledged) {
      return reload(std::move(acknowledged));
    };
    MetricsShard& shard = site_.metrics.shard(workers_wanted_);
    Admin pages(*site_.store, shard, AuditLog(access_log_fd_), std::move(take));
    admin_.emplace(house_, admin, std::move(pages));
  }

  /// Each word of the command line is a line of its own.
  void note_words(const std::vector<std::string>& acknowledged, std::string_view result) const {
    for (const std::string& route : acknowledged) {
      AuditEntry entry;
      entry.action = "start";
      entry.acknowledged = {route};
      entry.operator_name = user_at_the_keyboard();
      entry.result = result;
      AuditLog(access_log_fd_).write(entry);
    }
  }

  Task<> adopt_into(std::vector<std::string>& refused, std::vector<std::string> acknowledged) {
    refused = co_await editions_.begin(*site_.store, std::move(acknowledged));
  }

  Task<> hand_out(std::shared_ptr<const Edition> edition) {
    // Both are touched by this thread alone: the workers post their word.
    std::size_t left = workers_.size();
    Worker::Timer all_have_it(house_.get_executor(), Worker::Timer::time_point::max());
    for (auto& worker : workers_) {
      worker->adopt(edition, [this, &left, &all_have_it] {
        asio::post(house_, [&left, &all_have_it] {
          if (--left == 0) all_have_it.cancel();
        });
      });
    }
    while (left > 0) co_await all_have_it.async_wait(kNoThrow);
  }

  Task<ReloadReport> reload(std::vector<std::string> acknowledged) {
    Editions::HandOut give = [this](std::shared_ptr<const Edition> edition) {
      return hand_out(std::move(edition));
    };
    return editions_.renew(site_, std::move(give), std::move(acknowledged));
  }

  Task<> reload_by_signal() {
    const std::vector<std::string> nothing_acknowledged;
    static_cast<void>(co_await reload(nothing_acknowledged));
  }

  Task<std::string> metrics_page() {
    const StoreHealth health = co_await site_.store->health();
    co_return site_.metrics.render(health);
  }

  Task<std::string> not_ready() {
    if (site_.draining) co_return "draining";
    const StoreHealth health = co_await site_.store->health();
    if (!health.up) co_return "the store is down";
    if (health.suspect) co_return "the store is suspect";
    // What a guarded call asks next, when the store is there again.
    const bool agrees = editions_.running()->agreement.is_known(Agreement::Clock::now());
    if (!agrees) co_return "the routes of the other replicas are not known yet";
    co_return watch_.remembers_nothing() ? "the store remembers no route: reload" : "";
  }

  /// Once a second. What needs more than one batch has the store for a quarter of the time, for a
  /// while, so that the calls meanwhile find it as it was.
  Task<> sweep() {
    using Clock = std::chrono::steady_clock;
    auto& durations = site_.metrics.shard(workers_wanted_)
                          .store_duration[static_cast<std::size_t>(StoreOperation::Sweep)];
    Clock::duration pause = kSweepPause;
    Clock::time_point began = Clock::now();
    while (!site_.draining) {
      sweep_timer_.expires_after(pause);
      co_await sweep_timer_.async_wait(kNoThrow);
      if (site_.draining) break;
      const auto asked = Clock::now();
      const bool is_gentle = asked - began < kGentleSweep;
      const SweepReport swept = co_await sweep_batch(is_gentle ? kGentleBatch : kHastyBatch);
      const auto now = Clock::now();
      durations.observe(now - asked);
      const Clock::duration rest = is_gentle ? kGentleRests * (now - asked) : Clock::duration{};
      pause = swept.more ? std::min<Clock::duration>(rest, kSweepPause) : kSweepPause;
      if (!swept.more && !swept.turned_away) began = now;
    }
  }

  /// @return where it failed, that it is not known whether there are more.
  Task<SweepReport> sweep_batch(std::size_t records) {
    MetricsShard& shard = site_.metrics.shard(workers_wanted_);
    const auto swept = co_await site_.store->sweep(records);
    if (swept.has_error()) {
      shard.store_errors[static_cast<std::size_t>(StoreOperation::Sweep)].add();
      SweepReport failed;
      failed.turned_away = true;
      co_return failed;
    }
    shard.records_expired.add(swept->expired);
    shard.indeterminate[static_cast<std::size_t>(IndeterminateReason::OwnerLost)].add(
        swept->owner_lost);
    co_return *swept;
  }

  /// Until the end of the house: a drain may take long.
  Task<> watch_store() {
    co_await say_start();
    for (;;) {
      try {
        co_await watch_.look();
      } catch (const std::exception& failure) {
        log_ << "semel: cannot look after the store: " << failure.what() << std::endl;
      }
      watch_timer_.expires_after(StoreWatch::kPause);
      co_await watch_timer_.async_wait(kNoThrow);
    }
  }

  Task<> wait_for_signal() {
    for (;;) {
      auto [error, signal] = co_await signals_.async_wait(kNoThrow);
      if (error) co_return;
      if (signal != SIGHUP) break;
      // Beside this loop: a store may keep a reload waiting, and a SIGTERM must not wait for it.
      asio::co_spawn(house_, reload_by_signal(), [this](std::exception_ptr failure) {
        if (failure) log_ << "semel: a reload failed, what ran runs on" << std::endl;
      });
    }
    log_ << "semel: draining" << std::endl;
    site_.draining = true;
    sweep_timer_.cancel();
    for (auto& worker : workers_) worker->drain();
    drain_timer_.expires_after(drain_deadline());
    auto [cancelled] = co_await drain_timer_.async_wait(kNoThrow);
    if (cancelled) co_return;
    log_ << "semel: the drain deadline has passed, what still flies is marked" << std::endl;
    for (auto& worker : workers_) worker->expire_all();
  }

  [[nodiscard]] std::chrono::milliseconds drain_deadline() const {
    return editions_.longest_timeout() + kDrainMargin;
  }

  Task<> end_house() {
    if (admin_) co_await admin_->end_streams();
    signals_.cancel();
    drain_timer_.cancel();
    sweep_timer_.cancel();
    if (listener_) listener_->close();
    if (admin_) admin_->close();
    house_.stop();
  }

  Task<> say_start() {
    const StoreHealth health = co_await site_.store->health();
    log_ << "semel " << SEMEL_VERSION << ": listening on "
         << editions_.config().listen.address.text() << ", " << workers_.size()
         << (workers_.size() == 1 ? " worker" : " workers")
         << ", store durability: " << health.durability;
    if (editions_.config().metrics) log_ << ", metrics on " << editions_.config().metrics->text();
    if (admin_) log_ << ", admin on " << admin_->address().text();
    log_ << std::endl;
    watch_.tell(health);
    if (std::holds_alternative<config::MemoryStore>(editions_.config().store)) {
      log_ << "semel: the memory store is this process's alone, and a restart forgets every key"
           << std::endl;
    }
    for (const std::string& warning : editions_.config().warnings)
      log_ << "semel: " << warning << "\n";
    log_.flush();
  }

  std::size_t workers_wanted_;
  int access_log_fd_;
  std::ostream& log_;
  Site site_;
  asio::io_context house_{1};
  Editions editions_;
  asio::basic_signal_set<Executor> signals_;
  Worker::Timer sweep_timer_;
  Worker::Timer watch_timer_;
  Worker::Timer drain_timer_;
  StoreWatch watch_;
  std::optional<PageServer> listener_;
  std::optional<AdminListener> admin_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace

int serve(Beginning beginning, std::ostream& log) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // A file-size limit is a store that cannot write, not an end.
  raise_descriptor_limit(beginning.config, log);
  const std::vector<std::string> acknowledged = std::move(beginning.acknowledged);
  Server server(std::move(beginning), log);
  server.adopt_first(acknowledged);
  return server.run();
}

}  // namespace semel::proxy
