// Guarantee 11, from the other replica: one that dies at any point of a call leaves to the others
// what the page's table says, on each kind of store.
#include <gtest/gtest.h>
#include <signal.h>

#include <deque>
#include <map>
#include <mutex>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

constexpr const char* kPoints[] = {
    "before_claim", "after_claim",   "before_dispatch", "after_dispatch", CrashSite::kToolCommitted,
    "after_answer", "before_record", "after_record",    "before_reply",   "mid_reply"};
constexpr int kRounds = 3;

struct Tool {
  const char* path;
  const char* policy;
};
constexpr Tool kTools[] = {{CrashSite::kEffectful, "EFFECTFUL"},
                           {CrashSite::kIdempotent, "IDEMPOTENT"}};

bool request_has_left(const std::string& point) {
  return point != "before_claim" && point != "after_claim" && point != "before_dispatch";
}

/// One replica that lives, and one more for each point, which dies there.
class MortalReplicas {
 public:
  explicit MortalReplicas(ReplicasOptions options)
      : replicas_(with_mortals(std::move(options), folder_)) {
    replicas_.upstream.script([this](Turn& turn) {
      strike(turn.request().all("X-Run-Id").at(0));
      replicas_.tool.play(turn);
    });
  }

  /// Kills the replica of that point in the middle of a call, and asks the one that lives.
  void kill_at(std::size_t point, const Tool& tool, int round, CrashMatrix& matrix) {
    const std::size_t mortal = point + 1;
    const std::string name = kPoints[point];
    // `mid_reply` is a place of a live answer.
    const std::string run = (name == "mid_reply" ? "long-" : "short-") + std::string(tool.policy) +
                            "-" + name + "-" + std::to_string(round);
    SCOPED_TRACE(run);
    arm(point, run);
    const Response first = replicas_.call(mortal, run, tool.path);
    const std::optional<Exit> exit = replicas_.at(mortal).wait();
    ASSERT_TRUE(exit && exit->signal == SIGKILL) << "the point was not reached: " << told(first);
    EXPECT_EQ(told(first), "cut");
    write_file(plan(folder_, point), "");
    if (request_has_left(name)) {
      EXPECT_TRUE(eventually([&] { return replicas_.tool.effects_of(run) == 1; }));
    }
    const int before = replicas_.tool.effects_of(run);
    const Response retry = replicas_.call(kLiving, run, tool.path);
    expect_laws(tool, run, before, told(retry));
    matrix.note(name, {std::to_string(before), told(retry),
                       std::to_string(replicas_.tool.effects_of(run))});
    replicas_.at(mortal).start();
    expect_same_words(mortal, tool, run, told(retry));
  }

 private:
  static constexpr std::size_t kLiving = 0;

  static std::string plan(const TempFolder& folder, std::size_t point) {
    return folder.file(kPoints[point]);
  }
  static ReplicasOptions with_mortals(ReplicasOptions options, const TempFolder& folder) {
    options.routes = crash_options(brief_times(), {}, {}).routes;
    options.replicas = {ReplicaOptions{}};
    for (std::size_t point = 0; point < std::size(kPoints); ++point) {
      options.replicas.push_back(
          {CrashSite::kWithFailPoints, {"SEMEL_FAIL_POINTS=" + plan(folder, point)}});
    }
    return options;
  }

  /// At `tool_committed` it is the tool that strikes, when it has the request.
  void arm(std::size_t point, const std::string& run) {
    if (kPoints[point] == std::string(CrashSite::kToolCommitted)) {
      const std::lock_guard lock(mutex_);
      struck_[run] = replicas_.at(point + 1).pid();
    } else {
      write_file(plan(folder_, point), std::string(kPoints[point]) + " kill");
    }
  }
  void strike(const std::string& run) {
    const std::lock_guard lock(mutex_);
    if (const auto victim = struck_.extract(run)) ::kill(victim.mapped(), SIGKILL);
  }

  void expect_laws(const Tool& tool, const std::string& run, int before, const std::string& word) {
    if (tool.path != std::string(CrashSite::kEffectful)) return;
    EXPECT_LE(replicas_.tool.effects_of(run), 1) << "the promise";
    if (word == "executed") {
      EXPECT_EQ(before, 0) << "a second run";
    }
  }
  /// Whoever is asked from now on says the same, and nothing runs.
  void expect_same_words(std::size_t mortal, const Tool& tool, const std::string& run,
                         const std::string& word) {
    const int effects = replicas_.tool.effects_of(run);
    for (const std::size_t which : {kLiving, mortal}) {
      EXPECT_EQ(told(replicas_.call(which, run, tool.path)),
                word == "executed" ? "replayed" : word);
    }
    EXPECT_EQ(replicas_.tool.effects_of(run), effects);
  }

  TempFolder folder_;  // Before the replicas: their environment names files in it.
  std::mutex mutex_;
  std::map<std::string, pid_t> struck_;
  Replicas replicas_;
};

using ReplicasCrash = OnSharedStore;

TEST_P(ReplicasCrash, KilledAtEveryPointAndAskedAtTheOther) {
  MortalReplicas replicas(options());
  std::deque<CrashMatrix> matrices;
  for (const Tool& tool : kTools) matrices.emplace_back(tool.policy, kPoints);
  std::vector<std::function<void()>> jobs;
  for (std::size_t point = 0; point < std::size(kPoints); ++point) {
    jobs.emplace_back([&, point] {
      for (std::size_t tool = 0; tool < std::size(kTools); ++tool) {
        for (int round = 1; round <= kRounds; ++round) {
          replicas.kill_at(point, kTools[tool], round, matrices[tool]);
        }
      }
    });
  }
  run_together(jobs);
  for (const CrashMatrix& matrix : matrices) {
    std::printf("%s", matrix.text().c_str());
    matrix.expect_documented("### Killed, and asked at another replica");
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplicasCrash, each_shared_store(), name_of_kind);

}  // namespace
}  // namespace semel::testing
