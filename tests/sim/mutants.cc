// Hunts mutants: worlds of one seed after the other, until one is judged, crashes or does not end.
#include "tests/sim/mutants.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "tests/sim/laws.h"
#include "tests/sim/mutant_switch.h"

namespace semel::sim {
namespace {

/// `NAME: WHY`; empty lines and those that begin with # say nothing.
std::map<std::string, std::string> read_survivors(const std::string& path) {
  std::map<std::string, std::string> survivors;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.empty() || line.front() == '#' || colon == std::string::npos) continue;
    survivors[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return survivors;
}

Order order_of(const Hunt& hunt) {
  Order order;
  order.last = hunt.seeds;
  order.jobs = hunt.jobs;
  order.stop_early = true;
  order.seconds_for_one = 20;
  order.replay = "semel_sim";
  return order;
}

/// One cell of the table that says something else.
struct CellMutant {
  Policy policy = Policy::None;
  Stage stage = Stage::Routed;
  Event event = Event::Start;
  std::optional<Step> step;

  [[nodiscard]] std::string words() const {
    std::string text(name(policy));
    for (const std::string_view word : {name(stage), name(event)}) (text += ' ') += word;
    if (!step) return text + " without its row";
    ((text += " -> ") += name(step->stage)) += ' ';
    return text += name(step->act);
  }
};

enum class Change : std::uint8_t { Act, Stage, Row };
constexpr Change kChanges[] = {Change::Act, Change::Stage, Change::Row};
constexpr std::string_view kChangeNames[] = {"other acts", "other next stages", "rows left out"};

/// Every cell with everything else that it might say of that kind.
std::vector<CellMutant> cell_mutants(const DispatchTable& table, Change change) {
  std::vector<CellMutant> all;
  for (std::size_t cell = 0; cell < 4 * kStageCount * kEventCount; ++cell) {
    const auto policy = static_cast<Policy>(cell / (kStageCount * kEventCount));
    const auto stage = static_cast<Stage>(cell / kEventCount % kStageCount);
    const auto event = static_cast<Event>(cell % kEventCount);
    const auto lawful = table.at(policy, stage, event);
    if (!lawful) continue;
    if (change == Change::Row) all.push_back({policy, stage, event, std::nullopt});
    for (std::size_t act = 0; act <= static_cast<std::size_t>(Act::Finish); ++act) {
      const Step other{lawful->stage, static_cast<Act>(act)};
      if (change == Change::Act && other != *lawful) all.push_back({policy, stage, event, other});
    }
    for (std::size_t where = 0; where < kStageCount; ++where) {
      const Step other{static_cast<Stage>(where), lawful->act};
      if (change == Change::Stage && other != *lawful) all.push_back({policy, stage, event, other});
    }
  }
  return all;
}

Outcome hunt_cell(const Hunt& hunt, const CellMutant& mutant) {
  Order order = order_of(hunt);
  order.hooks.law = [mutant](Policy policy, Stage stage, Event event,
                             std::optional<Step> lawful) -> std::optional<Step> {
    const bool is_it = policy == mutant.policy && stage == mutant.stage && event == mutant.event;
    return is_it ? mutant.step : lawful;
  };
  return run_worlds(order);
}

}  // namespace

std::optional<std::size_t> mutant_number(std::string_view name) {
  const auto rows = mutant_rows();
  const auto found = std::ranges::find(rows, name, &MutantRow::name);
  if (found == rows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows.begin());
}

bool hunt_named_mutants(const Hunt& hunt) {
  const auto survivors = read_survivors(hunt.survivors_file);
  bool as_said = true;
  std::size_t caught = 0;
  std::size_t hunted = 0;
  for (std::size_t number = 0; number < mutant_rows().size(); ++number) {
    const MutantRow& row = mutant_rows()[number];
    if (!hunt.only.empty() && row.name != hunt.only) continue;
    ++hunted;
    Order order = order_of(hunt);
    order.mutant = number;
    const Outcome outcome = run_worlds(order);
    const auto excuse = survivors.find(std::string(row.name));
    const bool is_caught = !outcome.failed.empty();
    const bool is_right = is_caught == (excuse == survivors.end());
    as_said &= is_right;
    if (is_caught) ++caught;
    std::printf("%-44s %-26s", std::string(row.name).c_str(), std::string(row.file).c_str());
    if (is_caught) {
      std::printf(" %-26s seed %llu", outcome.caught_by.c_str(),
                  static_cast<unsigned long long>(outcome.failed.front()));
    } else {
      std::printf(" survives %llu seeds", static_cast<unsigned long long>(hunt.seeds));
    }
    if (excuse != survivors.end()) std::printf(" (%s)", excuse->second.c_str());
    std::printf("%s\n", is_right ? "" : "  <-- not as the list of survivors says");
    std::fflush(stdout);
  }
  std::printf("%zu named mutants, %zu caught, %zu survive\n", hunted, caught, hunted - caught);
  return as_said && hunted > 0;
}

bool hunt_cell_mutants(const Hunt& hunt) {
  DispatchTable table = DispatchTable::lawful();
  bool all_caught = true;
  for (const Change change : kChanges) {
    std::size_t by_law = 0;
    std::size_t by_world = 0;
    const auto mutants = cell_mutants(table, change);
    for (const CellMutant& mutant : mutants) {
      const auto lawful = table.at(mutant.policy, mutant.stage, mutant.event);
      table.put(mutant.policy, mutant.stage, mutant.event, mutant.step);
      const bool is_unlawful = broken_law(table) != nullptr;
      table.put(mutant.policy, mutant.stage, mutant.event, lawful);
      if (is_unlawful) {
        ++by_law;
      } else if (!hunt_cell(hunt, mutant).failed.empty()) {
        ++by_world;
      } else {
        all_caught = false;
        std::printf("survives: %s\n", mutant.words().c_str());
      }
    }
    std::printf("cells with %s: %zu, %zu break a law, %zu are caught by a world, %zu survive\n",
                std::string(kChangeNames[static_cast<std::size_t>(change)]).c_str(), mutants.size(),
                by_law, by_world, mutants.size() - by_law - by_world);
  }
  return all_caught;
}

void hunt_cells_without_laws(const Hunt& hunt) {
  std::size_t caught = 0;
  const auto mutants = cell_mutants(DispatchTable::lawful(), Change::Act);
  for (const CellMutant& mutant : mutants) {
    const Outcome outcome = hunt_cell(hunt, mutant);
    if (!outcome.failed.empty()) {
      ++caught;
    } else {
      std::printf("not noticed: %s\n", mutant.words().c_str());
      std::fflush(stdout);
    }
  }
  std::printf("cells with other acts: %zu, %zu are noticed by %llu worlds without any law\n",
              mutants.size(), caught, static_cast<unsigned long long>(hunt.seeds));
}

}  // namespace semel::sim
