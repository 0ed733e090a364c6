#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace semel::sim {

/// All chance of a simulated world: xoshiro256** seeded by splitmix64. Nothing of the standard
/// library's distributions, whose results are an implementation's own affair.
/// @source D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", 2018.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15u;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
      word = mixed ^ (mixed >> 31);
    }
  }

  [[nodiscard]] std::uint64_t number() {
    const std::uint64_t drawn = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return drawn;
  }
  /// @param count  At least 1. @return 0 to count - 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t count) { return number() % count; }
  /// True `permille` times in a thousand.
  [[nodiscard]] bool chance(unsigned permille) { return below(1000) < permille; }
  /// Both ends included.
  [[nodiscard]] std::chrono::nanoseconds between(std::chrono::nanoseconds least,
                                                 std::chrono::nanoseconds most) {
    const auto room = static_cast<std::uint64_t>((most - least).count());
    return least + std::chrono::nanoseconds(below(room + 1));
  }
  template <class T>
  [[nodiscard]] T pick(std::initializer_list<T> choices) {
    return *std::next(choices.begin(), static_cast<std::ptrdiff_t>(below(choices.size())));
  }
  /// A generator of its own: what it draws does not move this one.
  [[nodiscard]] Dice fork() { return Dice(number()); }

 private:
  static std::uint64_t rotate(std::uint64_t word, int by) {
    return (word << by) | (word >> (64 - by));
  }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace semel::sim
