#include "tests/sim/coverage.h"

namespace semel::sim {
namespace {

constexpr std::string_view kLetters = "NRIE";

template <class Table>
void add_each(Table& mine, const Table& theirs) {
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += theirs[i];
}

}  // namespace

void Coverage::saw(const Ruling& ruling) {
  cells[static_cast<std::size_t>(ruling.policy)][static_cast<std::size_t>(ruling.stage)]
       [static_cast<std::size_t>(ruling.event)] += 1;
}

void Coverage::stopped(const Ruling& ruling, Fate::What what) {
  const auto act = static_cast<std::size_t>(ruling.step.act);
  if (what == Fate::What::Kill) kills[act] += 1;
  if (what == Fate::What::Pause) pauses[act] += 1;
}

void Coverage::add(const Coverage& other) {
  for (std::size_t p = 0; p < kPolicyCount; ++p) {
    for (std::size_t s = 0; s < kStageCount; ++s) add_each(cells[p][s], other.cells[p][s]);
  }
  add_each(kills, other.kills);
  add_each(pauses, other.pauses);
  kills_elsewhere += other.kills_elsewhere;
  pauses_elsewhere += other.pauses_elsewhere;
  calls += other.calls;
  effects += other.effects;
}

void Coverage::report(std::ostream& out) const {
  for (std::size_t p = 0; p < kPolicyCount; ++p) {
    for (std::size_t s = 0; s < kStageCount; ++s) {
      for (std::size_t e = 0; e < kEventCount; ++e) {
        const auto stage = static_cast<Stage>(s);
        const auto event = static_cast<Event>(e);
        if (!table_says(static_cast<Policy>(p), stage, event)) continue;
        out << "cell " << kLetters[p] << ' ' << name(stage) << ' ' << name(event) << ' '
            << cells[p][s][e] << '\n';
      }
    }
  }
  for (std::size_t a = 0; a < kActCount; ++a) {
    out << "act " << name(static_cast<Act>(a)) << " killed " << kills[a] << " paused " << pauses[a]
        << '\n';
  }
  out << "elsewhere killed " << kills_elsewhere << " paused " << pauses_elsewhere << '\n';
}

}  // namespace semel::sim
