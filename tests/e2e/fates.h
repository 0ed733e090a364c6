#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace semel::testing {

/// As many rounds as the environment asks for, or enough for the suite.
inline int rounds_asked(const char* variable, int otherwise) {
  const char* more = std::getenv(variable);
  return more != nullptr ? std::atoi(more) : otherwise;
}

/// What came of the calls that had an answer before the store's server was lost.
struct Fates {
  std::size_t answered = 0;  ///< Calls that ran, and whose clients were told so.
  std::size_t replayed = 0;  ///< Of those: asked again, they have the same answer.
  std::size_t unknown = 0;   ///< The claim is known, its answer is not: never run again.
  std::size_t lost = 0;      ///< The store does not know the call any more.
  int ran_twice = 0;
  int rounds = 0;
  int rounds_with_loss = 0;
  int unnoticed = 0;  ///< Rounds with a loss after which the store was not suspect.
  /// Rounds without a loss after which it was. Of claims whose calls had no answer yet, too.
  int false_alarms = 0;

  void print(const std::string& what) const {
    std::printf(
        "%s: %d rounds, %zu calls answered before them: %zu replayed, %zu unknown, %zu lost in %d "
        "rounds, %d run twice; losses unnoticed %d, suspect without a loss %d\n",
        what.c_str(), rounds, answered, replayed, unknown, lost, rounds_with_loss, ran_twice,
        unnoticed, false_alarms);
  }
};

}  // namespace semel::testing
