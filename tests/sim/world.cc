// Puts a world together, plans what will happen in it, and lets it happen.
#include "tests/sim/world.h"

#include <algorithm>

#include "config/load.h"
#include "tests/sim/client.h"
#include "tests/sim/operator.h"
#include "tests/sim/proxy.h"
#include "tests/sim/tool.h"
#include "tests/sim/tool_wire.h"

namespace semel::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// After the last errand: leases end, late answers come, clients get their last answers.
constexpr seconds kAftermath{5};
/// For what still flies when the proxies are stopped.
constexpr seconds kFarewell{8};

/// The same text is read once in a process: reading costs more than a world's beginning otherwise.
const config::Config& loaded(const std::string& yaml) {
  static std::map<std::string, config::Config> known;
  const auto found = known.find(yaml);
  if (found != known.end()) return found->second;
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  return known.emplace(yaml, config::load_text(yaml, "sim.yaml", nothing)).first->second;
}

std::vector<std::uint16_t> listed(const StatusSet& statuses) {
  std::vector<std::uint16_t> list;
  for (std::size_t status = 0; status < statuses.size(); ++status) {
    if (statuses[status]) list.push_back(static_cast<std::uint16_t>(status));
  }
  return list;
}

RouteTerms promised(const Route& route) {
  RouteTerms terms;
  terms.name = route.name;
  terms.policy = route.policy;
  terms.lease = route.lease();
  terms.retention = route.retention;
  if (route.indeterminate_retention) terms.indeterminate_retention = *route.indeterminate_retention;
  terms.dispatch_by = route.dispatch_by;
  terms.timeout = route.timeout;
  terms.stream_timeout = route.stream_timeout;
  terms.release_on = listed(route.record.release_on);
  terms.indeterminate_on = listed(route.record.indeterminate_on);
  terms.forwards_when_down = route.on_store_down == OnStoreDown::Forward;
  return terms;
}

std::string unhexed(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

StoreClock clock_of(const Timeline& timeline, Kernel& kernel) {
  // The store's own machine: its wall clock moves with ours, its boot time is its own.
  return {[&timeline] { return std::chrono::hours(1) + timeline.now(); },
          [&kernel] {
            return std::chrono::system_clock::time_point(
                std::chrono::duration_cast<std::chrono::system_clock::duration>(kernel.wall()));
          }};
}

}  // namespace

World::World(std::uint64_t seed, const Hooks& hooks, Coverage& coverage)
    : plan(seed),
      kernel(timeline, plan.dice.fork(), plan.weather),
      config(loaded(plan.yaml)),
      hooks_(hooks),
      coverage_(coverage),
      store_(plan.store_options, clock_of(timeline, kernel), hooks_, timeline, history,
             plan.dice.fork()),
      wires_{timeline, plan.dice.fork(), plan.store_weather, store_, history, {}},
      tool_(std::make_unique<Tool>(*this)),
      tool_wire_(std::make_unique<ToolWire>(*this)),
      operator_(std::make_unique<Operator>(*this, *tool_wire_)),
      bailiff_([this](const Ruling& ruling) { rule(ruling); }) {
  over_ = plan.errands_end + kAftermath;
  kernel.short_writes = plan.short_writes;
  history.reserve(2'000);
  for (const Route& route : config.routes) history.routes.push_back(promised(route));
  for (unsigned i = 0; i < plan.proxies; ++i) {
    proxies_.push_back(std::make_unique<Proxy>(*this, static_cast<std::uint16_t>(i + 1)));
  }
  install_law(&hooks_, &bailiff_);
}

World::~World() {
  install_law(nullptr, nullptr);
  timeline.clear();
}

Happening World::happening(Kind kind) const {
  Happening noted;
  noted.at = timeline.now().count();
  noted.kind = kind;
  return noted;
}

std::uint32_t World::number(const Call& call) {
  calls_.push_back(call);
  coverage_.calls += 1;
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

std::uint32_t World::record_of_hex(std::string_view hex) {
  return hex.size() == 64 ? history.record_of(unhexed(hex)) : Happening::kNone;
}

std::uint32_t World::attempt_of_hex(std::string_view hex) const {
  return hex.size() == 32 ? history.attempt_by_reference(unhexed(hex)) : Happening::kNone;
}

Time World::last_drain(std::uint16_t proxy) const { return proxies_[proxy - 1]->last_drain(); }

void World::note_fate(std::uint16_t proxy, const Fate& fate) {
  const bool is_kill = fate.what == Fate::What::Kill;
  Happening noted = happening(is_kill ? Kind::Killed : Kind::Paused);
  noted.proxy = proxy;
  history.add(noted);
  if (is_kill) last_kill_ = timeline.now();
}

void World::rule(const Ruling& ruling) {
  coverage_.saw(ruling);
  const unsigned nth = ++performed_[static_cast<std::size_t>(ruling.step.act)];
  Process* process = Process::current();
  if (process == nullptr || is_over()) return;
  for (const Accident& accident : plan.accidents) {
    if (accident.act != ruling.step.act || accident.nth != nth) continue;
    coverage_.stopped(ruling, accident.fate.what);
    process->suffer(accident.fate);
  }
}

Fate World::due(std::vector<CallAccident>& planned, unsigned& counted) {
  ++counted;
  const auto found = std::ranges::find(planned, counted, &CallAccident::nth);
  if (found == planned.end() || is_over()) return {};
  (found->fate.what == Fate::What::Kill ? coverage_.kills_elsewhere : coverage_.pauses_elsewhere) +=
      1;
  return found->fate;
}

void World::watch_wires() {
  kernel.on_sent = [this](const EndPtr& end, std::string_view bytes) {
    if (end->port == kToolPort) tool_wire_->sent(end, bytes);
  };
  kernel.network().on_arrival = [this](const EndPtr& end, std::string_view) {
    if (end->port == kToolPort && end->process != 0) tool_->arrived(end);
  };
  kernel.on_call = [this](Process&) { return due(plan.kernel_accidents, kernel_calls_); };
  wires_.on_call = [this](Process&) { return due(plan.store_accidents, store_calls_); };
}

void World::plan_stops() {
  for (const TimedAccident& accident : plan.timed_accidents) {
    timeline.at(accident.at,
                [this, accident] { proxies_[accident.proxy - 1]->doom(accident.fate); });
  }
  for (const Time at : plan.drains) {
    timeline.at(at, [this] { proxy(plan.dice.number()).drain(); });
  }
}

void World::plan_troubles() {
  for (const Plan::Outage& outage : plan.store_outages) {
    timeline.at(outage.from, [this] { store_.set_up(false); });
    timeline.at(outage.to, [this] { store_.set_up(true); });
  }
  for (const Plan::Outage& outage : plan.full_disks) {
    const auto permille = static_cast<unsigned>(plan.dice.between(Time(200), Time(1'000)).count());
    timeline.at(outage.from, [this, permille] { store_.fill(permille); });
    timeline.at(outage.to, [this] { store_.fill(0); });
  }
  for (const Plan::Outage& outage : plan.tool_outages) {
    timeline.at(outage.from, [this] { tool_->shut(); });
    timeline.at(outage.to, [this] { tool_->open(); });
  }
  for (const Plan::Disagreement& disagreement : plan.disagreements) {
    timeline.at(disagreement.from, [this] { look_at_routes(); });
    timeline.at(disagreement.to, [this] { look_at_routes(); });
  }
  for (const Plan::Jump& jump : plan.wall_jumps) {
    timeline.at(jump.at, [this, jump] {
      kernel.move_wall(jump.by);
      history.add(happening(Kind::ClockMoved));
    });
  }
  for (const Time at : plan.forgotten) {
    timeline.at(at, [this] {
      if (store_.is_up()) static_cast<void>(store_.forget("tenant-0"));
    });
  }
  timeline.at(over_, [this] {
    store_.set_up(true);
    store_.fill(0);
    wires_.weather = StoreWeather{0, 0, 0, 0};
    kernel.network().clear_up();
    for (const auto& proxy : proxies_) {
      proxy->retire();
      proxy->drain();
    }
  });
}

/// What the proxies' house does on a real machine, in turn.
void World::housekeep() {
  timeline.after(seconds(1), [this] {
    if (store_.is_up()) static_cast<void>(store_.sweep(256));
    look_at_routes();
    if (!is_over()) housekeep();
  });
}

void World::look_at_routes() {
  if (plan.disagreements.empty()) return;  // A store that nobody else shares: nobody looks.
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    const bool are_changed =
        std::ranges::any_of(plan.disagreements, [&](const Plan::Disagreement& disagreement) {
          return disagreement.proxy == i + 1 && disagreement.from <= timeline.now() &&
                 timeline.now() < disagreement.to;
        });
    proxies_[i]->see_routes(are_changed);
  }
}

Errand World::errand() {
  Dice& dice = plan.dice;
  Errand wanted;
  wanted.call.route = static_cast<std::uint16_t>(dice.below(config.routes.size()));
  const Route& route = config.routes[wanted.call.route];
  // Calls of two routes are two calls, whatever they carry.
  wanted.call.key =
      static_cast<std::uint32_t>(wanted.call.route * kKeysOfARoute + dice.below(plan.keys));
  if (!route.key.guards.empty()) wanted.call.payload = dice.chance(60) ? 2 : 1;
  if (route.key.caller) wanted.call.caller = dice.chance(60) ? 2 : 1;
  wanted.is_malformed = dice.chance(20);
  return wanted;
}

void World::plan_errands() {
  for (unsigned i = 0; i < plan.errands; ++i) {
    const Errand wanted = errand();
    const Time when = plan.dice.between(Time(milliseconds(20)), plan.errands_end);
    // Some errands are everybody's at once.
    const unsigned askers = plan.dice.chance(150) ? 3 : 1;
    for (unsigned asker = 0; asker < askers; ++asker) {
      clients_.push_back(std::make_unique<Client>(*this, plan.dice.fork(), wanted));
      Client* client = clients_.back().get();
      timeline.at(when + plan.dice.between(milliseconds(0), milliseconds(asker * 20)),
                  [client] { client->begin(); });
    }
  }
}

const History& World::run() {
  watch_wires();
  tool_->open();
  for (const auto& proxy : proxies_) proxy->start();
  plan_troubles();
  plan_stops();
  plan_errands();
  housekeep();
  if (plan.operator_works) operator_->begin();
  const auto all_gone = [this] {
    return std::ranges::none_of(proxies_, [](const auto& proxy) { return proxy->is_alive(); });
  };
  while (!(is_over() && all_gone() && waiting_ == 0) && timeline.step(over_ + kFarewell)) {
  }
  return history;
}

}  // namespace semel::sim
