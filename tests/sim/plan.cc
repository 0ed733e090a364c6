// What a seed decides. Most worlds are mild in most respects and bad in a few, so that each kind of
// trouble is met alone as well as in company.
#include "tests/sim/plan.h"

#include <algorithm>

namespace semel::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Leases of about two seconds, so that many of them fit into a world.
constexpr std::string_view kTimes = R"(
    dispatch_by: 400ms
    timeout: 500ms
    stream_timeout: 400ms
    settle: 900ms
    lease_margin: 200ms
    wait: 1500ms
)";

constexpr std::string_view kBrieferTimes = R"(
    dispatch_by: 250ms
    timeout: 300ms
    stream_timeout: 300ms
    settle: 300ms
    lease_margin: 100ms
    wait: 600ms
)";

std::string route(std::string_view name, std::string_view policy, std::string_view key,
                  std::string_view times, std::string_view more) {
  std::string text = "  - name: " + std::string(name) + "\n    match: {methods: [POST], path: /" +
                     std::string(name) +
                     "}\n    upstream: tool\n    policy: " + std::string(policy) +
                     "\n    key: {tenant: {header: X-Tenant-Id}, ";
  return text.append(key).append("}").append(times).append(more);
}

/// The routes, each with its own recipe and its own way with duplicates. The clients know them by
/// these names.
std::string yaml_of(Dice& dice) {
  const bool brief = dice.chance(300);
  const std::string_view times = brief ? kBrieferTimes : kTimes;
  const std::string retention = dice.chance(700) ? (brief ? "2s" : "3s") : "30s";
  const std::string window = "    retention: " + retention + "\n";
  const std::string unknown =
      dice.chance(300) ? "    indeterminate_retention: " + retention + "\n" : "";
  // Always: the history tells attempts apart by it. Whether the tool minds it is the tool's affair.
  const std::string fence = "    forward_key: {fence: true}\n";
  constexpr std::string_view kRun = "run: {header: X-Run-Id}";
  std::string yaml =
      "version: 1\nlisten: {address: \"127.0.0.1:8000\"}\nmetrics: off\nadmin: off\n"
      "access_log: off\nworkers: 1\nstore: {memory: {allow_volatile: true}}\n"
      "upstreams:\n  tool:\n    endpoints: [\"http://127.0.0.1:9000\"]\n"
      "    connect_timeout: 200ms\n    keepalive_effectful: 300ms\n";
  if (dice.chance(200)) yaml += "    connections: 2\n";
  const bool few_followers = dice.chance(200);
  const bool quota = dice.chance(100);
  if (few_followers || quota) {
    yaml += "limits: {";
    if (few_followers) yaml += "followers_per_key: 1";
    if (quota) yaml += std::string(few_followers ? ", " : "") + "new_keys_per_tenant: 3";
    yaml += "}\n";
  }
  yaml += "routes:\n";
  const std::string all = window + unknown + fence;
  yaml += route("book", "EFFECTFUL",
                "run: {header: X-Run-Id}, fields: [/item], guards: [/amount], "
                "caller: {header: X-Caller}",
                times, all);
  yaml += route("note", "EFFECTFUL", kRun, times,
                all + "    on_duplicate: reject\n    client_key: ignore\n");
  yaml += route("pay", "EFFECTFUL", "run: none, fields: [/item]", times,
                all + "    client_key: required\n    record: {max_body: 1KiB}\n");
  yaml += route("seat", "IDEMPOTENT", "run: {header: X-Run-Id}, fields: [/item]", times,
                window + fence + "    retry: {attempts: 3, backoff: 20ms, budget: 100%}\n");
  yaml += route("fare", "IDEMPOTENT",
                "run: {header: X-Run-Id}, fields: [/item], guards: [/amount], "
                "caller: {header: X-Caller}",
                times,
                window + fence +
                    "    on_store_down: forward\n    on_duplicate: reject\n"
                    "    retry: {attempts: 2, backoff: 20ms, budget: 100%}\n"
                    "    record: {body: false}\n");
  return yaml;
}

Fate fate_of(Dice& dice) {
  Fate fate;
  if (dice.chance(550)) {
    fate.what = Fate::What::Kill;
  } else {
    fate.what = Fate::What::Pause;
    // Within the deadlines, around the lease, and long past it.
    fate.span = dice.chance(400) ? dice.between(milliseconds(5), milliseconds(700))
                                 : dice.between(milliseconds(700), milliseconds(5'000));
  }
  return fate;
}

std::vector<unsigned> moods_of(Dice& dice) {
  std::vector<unsigned> moods(kMoodCount, 0);
  moods[static_cast<std::size_t>(Mood::Serves)] = dice.chance(200) ? 5 : 60;
  for (std::size_t i = 1; i < moods.size(); ++i) {
    if (dice.chance(600)) moods[i] = static_cast<unsigned>(1 + dice.below(6));
  }
  return moods;
}

std::vector<Plan::Outage> outages(Dice& dice, unsigned permille, Time end) {
  std::vector<Plan::Outage> planned;
  while (dice.chance(permille) && planned.size() < 3) {
    const Time from = dice.between(Time(0), end);
    planned.push_back({from, from + dice.between(milliseconds(50), milliseconds(2'500))});
  }
  return planned;
}

}  // namespace

/// A world in which what is written fails in every way, while answers are long, late and cut.
void Plan::be_hard_on_writes() {
  moods.assign(kMoodCount, 1);
  moods[static_cast<std::size_t>(Mood::ServesLongAndCuts)] = 20;
  for (const Mood mood : {Mood::Serves, Mood::ServesLongSlowly, Mood::ServesSlowly,
                          Mood::ServesLong, Mood::RefusesLong}) {
    moods[static_cast<std::size_t>(mood)] = 8;
  }
  // What is written after the lease is written by an owner that is none any more.
  const Act late = dice.pick({Act::Record, Act::RecordBare, Act::RecordBare, Act::Mark, Act::Mark});
  const Time span = dice.between(milliseconds(1'500), milliseconds(6'500));
  accidents.push_back({late, static_cast<unsigned>(1 + dice.below(4)), {Fate::What::Pause, span}});
  store_weather = {150, 150, 60, 30};
  full_disks.push_back({Time(0), errands_end});
}

Plan::Plan(std::uint64_t seed) : dice(seed) {
  proxies = static_cast<unsigned>(dice.pick({1, 1, 2, 2, 2, 3, 3, 4}));
  yaml = yaml_of(dice);
  errands_end = dice.between(seconds(3), seconds(8));
  errands = static_cast<unsigned>(10 + dice.below(20));
  keys = static_cast<unsigned>(2 + dice.below(5));
  undisciplined = dice.pick({0u, 100u, 500u});
  impatient = dice.pick({0u, 100u, 400u});
  moods = moods_of(dice);
  operator_works = dice.chance(700);

  if (dice.chance(500)) weather = {0, 0, 0, 0};
  if (dice.chance(100)) weather = {200, 100, 100, 30};
  if (dice.chance(500)) store_weather = {0, 0, 0, 0};
  if (dice.chance(150)) store_weather = {60, 60, 150, 150};
  if (dice.chance(80)) store_options.records_max = 2;
  if (dice.chance(80)) store_options.bytes_max = 400;

  if (dice.chance(150)) be_hard_on_writes();

  const unsigned many = dice.pick({0u, 1u, 1u, 2u, 3u});
  for (unsigned i = 0; i < many; ++i) {
    const auto act = static_cast<Act>(dice.below(static_cast<std::size_t>(Act::Finish) + 1));
    accidents.push_back({act, static_cast<unsigned>(1 + dice.below(4)), fate_of(dice)});
  }
  if (dice.chance(300)) {
    kernel_accidents.push_back({static_cast<unsigned>(1 + dice.below(600)), fate_of(dice)});
  }
  if (dice.chance(300)) {
    store_accidents.push_back({static_cast<unsigned>(1 + dice.below(150)), fate_of(dice)});
  }
  if (dice.chance(300)) {
    timed_accidents.push_back({dice.between(Time(0), errands_end),
                               static_cast<std::uint16_t>(1 + dice.below(proxies)), fate_of(dice)});
  }
  store_outages = outages(dice, 200, errands_end);
  const auto more = outages(dice, 150, errands_end);
  full_disks.insert(full_disks.end(), more.begin(), more.end());
  tool_outages = outages(dice, 200, errands_end);
  while (dice.chance(300) && wall_jumps.size() < 3) {
    wall_jumps.push_back(
        {dice.between(Time(0), errands_end), dice.between(hours(0), hours(96)) - hours(48)});
  }
  if (dice.chance(100)) drains.push_back(dice.between(Time(0), errands_end));
  if (dice.chance(50)) forgotten.push_back(dice.between(Time(0), errands_end));
  if (dice.chance(200)) short_writes = dice.pick({20u, 200u});

  // By dice of its own: what is drawn later from the others is what it was.
  Dice further(~seed);
  for (const Outage& time : outages(further, 200, errands_end)) {
    disagreements.push_back(
        {time.from, time.to, static_cast<std::uint16_t>(1 + further.below(proxies))});
  }
}

}  // namespace semel::sim
