// A replica that stood still past its lease and goes on, while another one has looked after its
// call.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/e2e/crash_site.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

/// Two replicas; the first stands still once it has its tool's answer.
class StaleWriter : public OnSharedStore {
 protected:
  static constexpr std::size_t kPaused = 0;
  static constexpr std::size_t kOther = 1;

  ReplicasOptions with_fail_points() const {
    ReplicasOptions all = options();
    all.routes = crash_options(brief_times(), {}, {}).routes;
    all.replicas = {{CrashSite::kWithFailPoints, {"SEMEL_FAIL_POINTS=" + plan_file()}}, {}};
    return all;
  }
  [[nodiscard]] std::string plan_file() const { return folder_.file("plan"); }

  /// Begins a call at the one that stops with the answer in its hand.
  std::future<Response> begin_and_pause(Replicas& replicas, const std::string& run,
                                        const std::string& path) {
    write_file(plan_file(), "after_answer stop");
    std::future<Response> call = replicas.begin(kPaused, run, path);
    EXPECT_TRUE(eventually([&] { return replicas.at(kPaused).is_stopped(); }));
    write_file(plan_file(), "");
    return call;
  }

  TempFolder folder_;
};

TEST_P(StaleWriter, AnAnswerThatComesAfterItsOwnerCountedAsLostIsRecordedAndRunsNothing) {
  Replicas replicas(with_fail_points());
  std::future<Response> paused = begin_and_pause(replicas, "short-1", CrashSite::kEffectful);
  const Response meanwhile = replicas.call(kOther, "short-1", CrashSite::kEffectful);
  EXPECT_EQ(told(meanwhile), "indeterminate");
  EXPECT_EQ(replicas.at(kOther).metric("semel_indeterminate_total", {{"reason", "owner_lost"}}), 1);
  replicas.at(kPaused).sigcont();
  static_cast<void>(paused.get());
  Response later;
  EXPECT_TRUE(eventually([&] {
    later = replicas.call(kOther, "short-1", CrashSite::kEffectful);
    return told(later) == "replayed";
  })) << told(later);
  EXPECT_EQ(later.body, "done for short-1, effect 1");
  EXPECT_EQ(replicas.tool.effects_of("short-1"), 1);
}

TEST_P(StaleWriter, AWriteAfterAnotherReplicaTookOverChangesNothingAndIsCounted) {
  Replicas replicas(with_fail_points());
  std::future<Response> paused = begin_and_pause(replicas, "short-1", CrashSite::kIdempotent);
  const Response second = replicas.call(kOther, "short-1", CrashSite::kIdempotent);
  EXPECT_EQ(told(second), "executed");
  EXPECT_EQ(second.body, "done for short-1, effect 2");
  replicas.at(kPaused).sigcont();
  static_cast<void>(paused.get());
  EXPECT_TRUE(
      eventually([&] { return replicas.at(kPaused).metric("semel_stale_writer_total") == 1; }));
  for (const std::size_t which : {kPaused, kOther}) {
    // Who stood still does not know for a moment which routes the others have changed meanwhile.
    Response later;
    EXPECT_TRUE(eventually([&] {
      later = replicas.call(which, "short-1", CrashSite::kIdempotent);
      return told(later) == "replayed";
    })) << told(later);
    EXPECT_EQ(later.body, second.body);
  }
  EXPECT_EQ(replicas.tool.effects_of("short-1"), 2);
}

INSTANTIATE_TEST_SUITE_P(Stores, StaleWriter, each_shared_store(), name_of_kind);

}  // namespace
}  // namespace semel::testing
