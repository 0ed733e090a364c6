#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/dispatch.h"
#include "core/route.h"
#include "stores/store.h"

namespace semel::sim {

/// Where a mutant may stand between production code and what it obeys. Empty: nothing is changed.
/// Set before a world is made; a world takes a copy.
struct Hooks {
  /// What the driver is told instead of what the table says.
  std::function<std::optional<Step>(Policy, Stage, Event, std::optional<Step> lawful)> law;
  /// What stands before the one store of all proxies; its coroutines must not suspend.
  std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)> store;
  /// How a route is run otherwise than it was promised.
  std::function<void(Route&)> route;
};

/// One question to the dispatch table and what came of it.
struct Ruling {
  Policy policy = Policy::None;
  Stage stage = Stage::Routed;
  Event event = Event::Start;
  Step step;
};

/// Who hears of every ruling before its act is performed, and may stop the process there.
using Bailiff = std::function<void(const Ruling&)>;

/// What semel::next() of this program asks. The world sets both for as long as it lives.
void install_law(const Hooks* hooks, const Bailiff* bailiff);

/// What the table itself says: core/dispatch.cc, compiled under this name.
[[nodiscard]] std::optional<Step> table_says(Policy policy, Stage stage, Event event);

}  // namespace semel::sim
