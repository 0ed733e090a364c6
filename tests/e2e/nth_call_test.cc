// One exchange of the program itself, struck at the N-th call of one kind that it makes on a file
// of its store, on a socket or of its event loop, for N = 1, 2, 3, ... until it runs through
// without: killed, and with every error and short count that the call may tell. Guarantee 1, 3.6,
// 5 and 11.3 hold at every one of these places.
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/fault_rig.h"

namespace semel::testing {
namespace {

constexpr Scene kScenes[] = {
    {"booking", CrashSite::kEffectful, "short"},
    {"kept_connection", CrashSite::kEffectful, "kept"},
    {"live_answer", CrashSite::kEffectful, "long"},
    {"silent_tool", CrashSite::kEffectful, "silent"},
    {"refused_once", CrashSite::kEffectful, "refused"},
    {"replay", CrashSite::kEffectful, "short", Scene::Before::ItsAnswer},
    {"replay_from_disk", CrashSite::kEffectful, "short", Scene::Before::ItsAnswerOnDisk},
    {"idempotent", CrashSite::kIdempotent, "short"},
};

class NthCallLoop : public ::testing::TestWithParam<Scene> {
 protected:
  /// @param blows  What a call of that kind may meet.
  void strike_everywhere(const std::function<std::vector<Blow>(Syscall)>& blows) {
    const Scene scene = GetParam();
    FaultRig rig;
    const auto play = [&] { static_cast<void>(rig.ask(scene, rig.next_run(scene))); };
    const auto at_first = rig.strikes.count(play);
    const auto later = rig.strikes.count(play);
    for (std::size_t i = 1; i < kSyscallNames.size(); ++i) {
      const auto call = static_cast<Syscall>(i);
      if (at_first[i] + later[i] == 0) continue;
      for (const Blow& blow : blows(call)) strike(rig, call, blow, later[i] == 0);
    }
    rig.expect_nothing_is_forgotten();
    std::printf("nth-call: scene=%s faults=%d keyed_calls=%d double_effects=%d\n", scene.name,
                rig.faults, rig.keyed_calls, rig.second_effects);
    EXPECT_GT(rig.faults, 20) << "an exchange that makes so few calls is none";
  }

 private:
  void strike(FaultRig& rig, Syscall call, const Blow& blow, bool on_a_fresh_start) {
    std::map<std::string, int> words;
    int nth = 1;
    for (; nth <= last_nth_call(); ++nth) {
      const auto word = rig.strike(GetParam(), {call, blow, nth}, on_a_fresh_start);
      if (!word) break;
      ++words[*word];
    }
    std::string told;
    for (const auto& [word, times] : words) told += " " + word + "=" + std::to_string(times);
    std::printf("  %-16s %-18s %d places:%s\n", name(call), blow.name, nth - 1, told.c_str());
  }
};

TEST_P(NthCallLoop, KilledAtAnyCallNothingRunsTwiceAndNoAnswerIsLost) {
  strike_everywhere(
      [](Syscall) { return std::vector<Blow>(std::begin(kKills), std::end(kKills)); });
}

TEST_P(NthCallLoop, AfterAnErrorOfAnyCallNothingRunsTwiceAndTheNextCallWorks) {
  strike_everywhere([](Syscall call) { return blows_of(call); });
}

INSTANTIATE_TEST_SUITE_P(Scenes, NthCallLoop, ::testing::ValuesIn(kScenes),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace semel::testing
