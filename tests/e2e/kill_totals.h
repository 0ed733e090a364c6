#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace semel::testing {

/// The same numbers for the same seed.
class Chance {
 public:
  explicit Chance(std::uint32_t seed) : numbers_(seed) {}
  [[nodiscard]] int below(int end) {
    return static_cast<int>(numbers_() % static_cast<std::uint32_t>(end));
  }

 private:
  std::minstd_rand numbers_;
};

/// What a kill loop has done so far.
struct KillTotals {
  int keys = 0;
  int keyed_calls = 0;
  int kills = 0;
  int terms = 0;
  int pauses = 0;       ///< SIGSTOP for less than a lease.
  int long_pauses = 0;  ///< SIGSTOP until the lease has ended.
  int double_effects = 0;
  std::map<std::string, int> words;

  [[nodiscard]] int faults() const { return kills + terms + pauses + long_pauses; }
  [[nodiscard]] std::string text() const {
    const auto number = [](const char* label, int value) {
      return std::string(" ") + label + "=" + std::to_string(value);
    };
    std::string text = "kill-loop:" + number("keys", keys) + number("keyed_calls", keyed_calls) +
                       number("faults", faults()) + number("kills", kills) +
                       number("terms", terms) + number("pauses", pauses) +
                       number("long_pauses", long_pauses);
    for (const auto& [word, times] : words) text += number(word.c_str(), times);
    return text + number("double_effects", double_effects);
  }
};

}  // namespace semel::testing
