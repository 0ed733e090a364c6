// The tool: what it hears, and whose effects it has. How it answers stands in tool_answer.cc.
#include "tests/sim/tool.h"

#include <algorithm>

#include "tests/sim/tool_caller.h"

namespace semel::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

}  // namespace

Tool::Tool(World& world)
    : world_(world), dice_(world.plan.dice.fork()), minds_fences_(dice_.chance(500)) {}

void Tool::open() {
  world_.kernel.serve(World::kToolPort, [this](const EndPtr& end) { accept(end); });
}

void Tool::shut() {
  world_.kernel.stop_serving(World::kToolPort);
  const auto present = std::exchange(callers_, {});
  for (const auto& caller : present) {
    world_.kernel.network().reset(caller->end);
    leave(caller);
  }
}

void Tool::expect(std::uint32_t line, std::uint32_t call) {
  open_[world_.call(call).key].insert(line);
}

bool Tool::may_yet(std::uint32_t key) const {
  const auto lines = open_.find(key);
  return lines != open_.end() && !lines->second.empty();
}

unsigned Tool::effects(std::uint32_t key) const {
  const auto found = effects_.find(key);
  return found == effects_.end() ? 0 : found->second;
}

Happening Tool::happening(Kind kind, const Caller& caller) const {
  Happening noted = world_.happening(kind);
  noted.call = caller.call;
  noted.key = caller.key;
  noted.fence = caller.fence;
  noted.record = caller.record;
  if (caller.call < world_.calls()) {
    const World::Call& meant = world_.call(caller.call);
    noted.route = meant.route;
    noted.payload = meant.payload;
    noted.caller = meant.caller;
  }
  return noted;
}

void Tool::accept(const EndPtr& end) {
  auto caller = std::make_shared<Caller>();
  caller->end = end;
  end->on_news = [this, caller] { on_news(caller); };
  callers_.push_back(caller);
}

/// The request of this connection has had what effect it will have.
void Tool::settled(const Caller& caller) {
  for (auto& [key, lines] : open_) lines.erase(caller.end->line);
}

void Tool::leave(const std::shared_ptr<Caller>& caller) {
  if (!caller->is_decided) settled(*caller);
  world_.kernel.network().close(caller->end);
  std::erase(callers_, caller);
}

void Tool::on_news(const std::shared_ptr<Caller>& caller) {
  if (caller->end->broken) {
    leave(caller);
    return;
  }
  flush(caller);
  if (!caller->is_decided) hear(caller);
}

void Tool::hear(const std::shared_ptr<Caller>& caller) {
  const auto state = caller->request.feed(world_.kernel.network().take(caller->end));
  if (state == MessageReader::State::Whole) {
    decide(caller);
  } else if (caller->end->peer_ended || state == MessageReader::State::Broken) {
    leave(caller);
  }
}

std::uint32_t Tool::meant_by(const MessageReader& request) const {
  const std::string& line = request.first_line();
  const std::size_t path = line.find('/') + 1;
  const std::string_view route = std::string_view(line).substr(path, line.find(' ', path) - path);
  const auto& routes = world_.config.routes;
  const auto taken = std::ranges::find(routes, route, &Route::name) - routes.begin();
  constexpr std::string_view kTenant = "tenant-";
  const std::uint32_t tenant = number_in(request.field("x-tenant-id").substr(kTenant.size()));
  const std::uint32_t item = number_in(json_member(request.body(), "item").substr(1));
  return static_cast<std::uint32_t>(taken) * World::kKeysOfARoute + item * 2 + tenant;
}

void Tool::decide(const std::shared_ptr<Caller>& caller) {
  const MessageReader& request = caller->request;
  caller->is_decided = true;
  caller->call = number_in(request.field("x-call"));
  caller->key = meant_by(request);
  caller->fence = number_in(request.field("semel-fence"));
  caller->record = world_.record_of_hex(request.field("idempotency-key"));
  world_.history.add(happening(Kind::ToolReceived, *caller));

  std::uint64_t& highest = fences_[caller->key];
  if (minds_fences_ && caller->fence != 0 && caller->fence < highest) {
    settled(*caller);
    Answer stale;
    stale.status = 412;
    answer(caller, stale);
    return;
  }
  highest = std::max(highest, caller->fence);
  act(caller, mood());
}

Mood Tool::mood() {
  const auto& weights = world_.plan.moods;
  unsigned all = 0;
  for (const unsigned weight : weights) all += weight;
  auto drawn = static_cast<unsigned>(dice_.below(all));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (drawn < weights[i]) return static_cast<Mood>(i);
    drawn -= weights[i];
  }
  return Mood::Serves;
}

void Tool::take_effect(Caller& caller) {
  ++effects_[caller.key];
  world_.history.add(happening(Kind::Effect, caller));
  world_.count_effect();
  settled(caller);
}

Time Tool::too_long(const Caller& caller) {
  const Route& route = world_.config.routes[world_.call(caller.call).route];
  return dice_.between(route.timeout, route.timeout + route.settle + route.lease_margin * 2);
}

/// Each mood in the order of its steps: the effect, if there is one, comes before the answer.
void Tool::act(const std::shared_ptr<Caller>& caller, Mood mood) {
  const Time thinks = dice_.between(microseconds(50), milliseconds(30));
  Answer how;
  how.delay = dice_.between(Time(0), Time(milliseconds(60)));
  const auto has_effect =
      mood < Mood::Refuses || mood == Mood::FailsSlowly || mood == Mood::LongFailure;
  const bool is_slow =
      mood == Mood::ServesSlowly || mood == Mood::RefusesSlowly || mood == Mood::FailsSlowly;
  if (is_slow) how.delay = too_long(*caller);
  // What is slow may be so before its effect or after it.
  const Time until_effect =
      is_slow && dice_.chance(500) ? how.delay - dice_.between(Time(0), how.delay / 4) : thinks;
  how.delay = std::max(how.delay, until_effect);
  describe(mood, how, *caller);
  world_.timeline.after(until_effect, [this, caller, has_effect] {
    if (has_effect) take_effect(*caller);
    settled(*caller);
  });
  switch (mood) {
    case Mood::ServesAndHangs:
    case Mood::Hangs:
      world_.timeline.after(std::chrono::seconds(6), [this, caller] { leave(caller); });
      return;
    case Mood::ServesAndGoes:
    case Mood::Goes:
      world_.timeline.after(how.delay, [this, caller] { leave(caller); });
      return;
    default:
      world_.timeline.after(how.delay, [this, caller, how] { begin_answer(caller, how); });
      return;
  }
}

}  // namespace semel::sim
