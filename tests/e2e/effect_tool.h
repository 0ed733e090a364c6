#pragma once

#include <map>
#include <mutex>
#include <string>

#include "tests/support/scripts.h"

namespace semel::testing {

/// A tool that counts its effects by run, and puts their number into its answer: a second one would
/// not pass for the replay of the first.
class EffectTool {
 public:
  [[nodiscard]] int effects_of(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return effects_[run];
  }
  /// The effects beyond the first of each run.
  [[nodiscard]] int second_effects() {
    const std::lock_guard lock(mutex_);
    int second = 0;
    for (const auto& [run, effects] : effects_) second += effects > 1 ? effects - 1 : 0;
    return second;
  }

  /// What the run's name begins with decides how it is played: `long` has an answer that flows
  /// live, `huge` one of 9 MB, `silent` an effect and no answer, `refused` is refused once, before
  /// the work, `kept` keeps its connection for the next; the others close it.
  void play(Turn& turn) {
    const std::string run = turn.request().all("X-Run-Id").at(0);
    if (run.starts_with("refused") && is_first(run)) {
      turn.send(response_text(400, "not like this", kClose));
      return;
    }
    const std::string number = std::to_string(count(run));
    turn.commit();
    if (run.starts_with("silent")) {
      turn.finish();
      return;
    }
    std::string body = "done for " + run + ", effect " + number;
    if (run.starts_with("long")) body.append(100'000, '.');
    if (run.starts_with("huge")) body.append(9'000'000, '.');
    turn.send(response_text(201, body, run.starts_with("kept") ? HeaderLines{} : kClose));
  }

 private:
  int count(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return ++effects_[run];
  }
  bool is_first(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return ++requests_[run] == 1;
  }

  const HeaderLines kClose = {{"Connection", "close"}};
  std::mutex mutex_;
  std::map<std::string, int> effects_;
  std::map<std::string, int> requests_;
};

}  // namespace semel::testing
