// semel_sim: worlds of many seeds, judged. A seed that fails prints its history, what was wrong
// with it and the command that replays it.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/mutants.h"
#include "tests/sim/runner.h"

namespace {

using semel::sim::Order;

constexpr std::string_view kUsage =
    "usage: semel_sim --seeds FROM..TO [--jobs N] [--mutant NAME] [--print] [--stop]\n"
    "                 [--coverage FILE]\n"
    "       semel_sim --mutants [--seeds N] [--jobs N] [--only NAME]\n";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Words {
  Order order;
  std::string coverage_file;
};

bool read_seeds(std::string_view text, Order& order) {
  const auto dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) return false;
  order.first = *first;
  order.last = *last;
  return true;
}

bool read_mutant(std::string_view name, Order& order) {
  order.mutant = semel::sim::mutant_number(name);
  order.replay += " --mutant " + std::string(name);
  return order.mutant.has_value();
}

std::optional<Words> read_words(int count, char** given) {
  Words words;
  words.order.replay = given[0];
  bool has_seeds = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = given[i];
    const std::string_view value = i + 1 < count ? given[i + 1] : "";
    bool good = true;
    if (word == "--print") {
      words.order.print = true;
      continue;
    }
    if (word == "--stop") {
      words.order.stop_early = true;
      continue;
    }
    if (word == "--seeds") {
      good = has_seeds = read_seeds(value, words.order);
    } else if (word == "--jobs") {
      const auto jobs = number(value);
      good = jobs && *jobs >= 1 && *jobs <= 64;
      words.order.jobs = static_cast<unsigned>(jobs.value_or(1));
    } else if (word == "--mutant") {
      good = read_mutant(value, words.order);
    } else if (word == "--coverage") {
      words.coverage_file = value;
    } else {
      good = false;
    }
    if (!good) return std::nullopt;
    ++i;
  }
  if (!has_seeds) return std::nullopt;
  return words;
}

}  // namespace

int main(int count, char** given) {
  if (count > 1 && std::string_view(given[1]) == "--mutants") {
    return semel::sim::hunt_mutants({given + 2, given + count});
  }
  const auto words = read_words(count, given);
  if (!words) {
    std::cerr << kUsage;
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  const semel::sim::Outcome outcome = semel::sim::run_worlds(words->order);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << outcome.said;
  if (!words->coverage_file.empty()) {
    std::ofstream file(words->coverage_file);
    outcome.coverage.report(file);
  }
  for (const std::uint64_t seed : outcome.failed) std::cout << "failed: seed " << seed << '\n';
  std::cout << outcome.worlds << " worlds, " << outcome.coverage.calls << " calls, "
            << outcome.coverage.effects << " effects, " << outcome.failed.size()
            << " failed, digest " << std::hex << outcome.digest << std::dec << ", " << took.count()
            << " s\n";
  return outcome.failed.empty() ? 0 : 1;
}
