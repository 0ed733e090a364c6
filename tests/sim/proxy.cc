// Starts the production's Worker in a process of the simulated machine, as proxy/server does on a
// real one.
#include "tests/sim/proxy.h"

#include <boost/asio/co_spawn.hpp>
#include <numeric>

#include "proxy/edition.h"
#include "proxy/editions.h"
#include "proxy/listen.h"
#include "proxy/worker.h"

namespace semel::sim {
namespace {

using std::chrono::milliseconds;

/// From a death to the next start.
constexpr milliseconds kRestartLeast{20};
constexpr milliseconds kRestartMost{1'500};
/// What the house adds to the longest timeout before it marks what still flies.
constexpr std::chrono::seconds kDrainMargin{5};

/// As at a start: the store remembers the routes. Not over the wire: what is to be seen here begins
/// when requests come.
void adopt(Store& store, config::Config& config) {
  asio::io_context house{1};
  std::vector<std::string> refused;
  asio::co_spawn(house, proxy::adopt_routes(store, config, {}, [] { return true; }),
                 [&](std::exception_ptr failure, std::vector<std::string> said) {
                   SEMEL_CHECK(!failure);
                   refused = std::move(said);
                 });
  house.run();
  SEMEL_CHECK(refused.empty());
}

}  // namespace

Proxy::Proxy(World& world, std::uint16_t id) : world_(world), id_(id) {}
Proxy::~Proxy() = default;

std::uint16_t Proxy::port() const {
  return static_cast<std::uint16_t>(World::kFirstProxyPort + id_ - 1);
}

void Proxy::start() {
  processes_.push_back(std::make_unique<Process>(
      world_.timeline, world_.plan.dice, id_, [this] { program(); }, [this] { died(); }));
  process_ = processes_.back().get();
  process_->on_fate = [this](const Fate& fate) { world_.note_fate(id_, fate); };
  process_->on_resumed = [this] {
    Happening resumed = world_.happening(Kind::Resumed);
    resumed.proxy = id_;
    world_.history.add(resumed);
    world_.look_at_routes();  // Its house was to look long ago.
  };
  Happening started = world_.happening(Kind::Started);
  started.proxy = id_;
  world_.history.add(started);
  process_->start();
}

void Proxy::program() {
  auto store = std::make_unique<WireStore>(world_.wires(), *process_);
  config::Config config = world_.config;
  config.listen.address.port = port();
  adopt(world_.store().store(), config);
  if (world_.hooks().route) {
    for (Route& route : config.routes) world_.hooks().route(route);
  }
  proxy::Site site(config, std::move(store), 1, -1);
  const int listening = proxy::open_listener(config.listen.address);
  edition_ = std::make_shared<const proxy::Edition>(std::move(config));
  proxy::Worker worker(site, 0, edition_);
  worker.listen(listening);
  site_ = &site;
  worker_ = &worker;
  worker.run();
  site_ = nullptr;
  worker_ = nullptr;
  edition_ = nullptr;
}

void Proxy::see_routes(bool are_changed) {
  if (edition_ == nullptr || process_->is_paused()) return;
  if (edition_->agreement.is_changed(0) != are_changed) {
    Happening seen = world_.happening(are_changed ? Kind::RoutesChanged : Kind::RoutesAgreed);
    seen.proxy = id_;
    world_.history.add(seen);
  }
  std::vector<std::size_t> changed(are_changed ? edition_->table.routes().size() : 0);
  std::iota(changed.begin(), changed.end(), 0);
  static_cast<void>(edition_->agreement.tell(changed, proxy::Agreement::Clock::now()));
}

void Proxy::drain() {
  if (worker_ == nullptr || process_->is_paused()) return;
  last_drain_ = world_.timeline.now();
  site_->draining = true;
  worker_->drain();
  milliseconds longest{0};
  for (const Route& route : world_.config.routes) longest = std::max(longest, route.timeout);
  world_.timeline.after(longest + kDrainMargin, [this, was = process_] {
    if (was == process_ && was->is_alive() && worker_ != nullptr) worker_->expire_all();
  });
}

void Proxy::died() {
  site_ = nullptr;
  worker_ = nullptr;
  edition_ = nullptr;
  world_.kernel.close_all_of(id_);
  if (retired_) return;
  world_.timeline.after(world_.plan.dice.between(kRestartLeast, kRestartMost), [this] {
    if (!retired_) start();
  });
}

}  // namespace semel::sim
