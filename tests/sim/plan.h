#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch.h"
#include "tests/sim/dice.h"
#include "tests/sim/network.h"
#include "tests/sim/process.h"
#include "tests/sim/wire_store.h"

namespace semel::sim {

/// What the tool does with one request that it has received.
enum class Mood : std::uint8_t {
  Serves,          ///< Takes effect and answers.
  ServesLong,      ///< With more than 64 KiB, in pieces.
  ServesEndless,   ///< As an event stream.
  ServesUnframed,  ///< With an answer that ends with the connection.
  ServesSlowly,    ///< Answers after its time, within `settle` or later.
  ServesAndHangs,  ///< And never answers.
  ServesAndFails,  ///< Answers 500.
  ServesAndCuts,   ///< Breaks off within the answer's body.
  ServesLongAndCuts,
  ServesLongSlowly,  ///< The last piece comes after its time.
  ServesAndGoes,     ///< Ends the connection without a byte.
  ServesAndMumbles,  ///< Answers what is no HTTP.
  Refuses,           ///< 422 without an effect.
  RefusesLong,
  RefusesSlowly,
  FailsSlowly,  ///< 500 after its time; there was an effect.
  LongFailure,  ///< 503 with a long body; there was an effect.
  Fails,        ///< 500 without an effect.
  Goes,         ///< Ends the connection without an effect.
  Hangs,        ///< Without an effect.
};
inline constexpr std::size_t kMoodCount = static_cast<std::size_t>(Mood::Hangs) + 1;

/// A stop that the world plans for a process: at an act of the dispatch table.
struct Accident {
  Act act = Act::Forward;
  unsigned nth = 1;  ///< How often it is performed before, over all proxies.
  Fate fate;
};

/// A stop at one of the calls of a process to its kernel or to the store.
struct CallAccident {
  unsigned nth = 1;
  Fate fate;
};

/// A stop at a time, whatever the process does.
struct TimedAccident {
  Time at{0};
  std::uint16_t proxy = 1;
  Fate fate;
};

/// All that one seed decides before the world begins.
struct Plan {
  explicit Plan(std::uint64_t seed);

  Dice dice;  ///< For what is drawn later.
  unsigned proxies = 1;
  std::string yaml;
  Weather weather;
  StoreWeather store_weather;
  MemoryOptions store_options;
  std::vector<Accident> accidents;
  std::vector<CallAccident> kernel_accidents;
  std::vector<CallAccident> store_accidents;
  std::vector<TimedAccident> timed_accidents;
  struct Outage {
    Time from{0};
    Time to{0};
  };
  std::vector<Outage> store_outages;
  std::vector<Outage> full_disks;    ///< Of the store.
  std::vector<Outage> tool_outages;  ///< Nobody listens there.
  struct Jump {
    Time at{0};
    Time by{0};
  };
  std::vector<Jump> wall_jumps;
  /// For this long another replica has changed the routes, as far as this proxy can see.
  struct Disagreement {
    Time from{0};
    Time to{0};
    std::uint16_t proxy = 1;
  };
  std::vector<Disagreement> disagreements;
  std::vector<Time> drains;     ///< A proxy is stopped as by SIGTERM, and started again.
  std::vector<Time> forgotten;  ///< An operator lets a tenant be forgotten.
  Time errands_end{0};          ///< Clients begin nothing new later.
  unsigned errands = 10;
  unsigned keys = 4;
  unsigned undisciplined = 100;  ///< Clients that ignore a veto, in permille.
  unsigned impatient = 100;      ///< Clients that go away, in permille of the calls.
  std::vector<unsigned> moods;   ///< Weights, one for each Mood.
  unsigned short_writes = 0;     ///< In permille: writes of which a part is taken.
  bool operator_works = true;

 private:
  void be_hard_on_writes();
};

}  // namespace semel::sim
