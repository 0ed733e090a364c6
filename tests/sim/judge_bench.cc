// How long the judge takes: `semel_judge_bench [OPERATIONS]`, by default a million calls of
// clients, a quarter of them the first of their key, each of the others a duplicate.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/sim/checker.h"
#include "tests/sim/story.h"

int main(int argc, char** argv) {
  using namespace semel::sim;
  using Clock = std::chrono::steady_clock;
  const auto operations = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000UL;

  Story story;
  std::uint32_t call = 0;
  for (std::uint32_t key = 0; call < operations; ++key) {
    const Story::Subject subject{key, key, Story::kEffectful};
    story.runs(subject, call++, key, key + 1);
    for (int duplicate = 0; duplicate < 3 && call < operations; ++duplicate, ++call) {
      story.sends(subject, call, 2);
      story.is_told(subject, call, Word::Replayed, 200, key, 2);
    }
  }
  const auto from = Clock::now();
  const auto verdicts = judge(story.history());
  const std::chrono::duration<double> taken = Clock::now() - from;
  std::printf("%lu operations, %zu events, %zu verdicts, judged in %.2f s\n", operations,
              story.history().all().size(), verdicts.size(), taken.count());
  return verdicts.empty() ? 0 : 1;
}
