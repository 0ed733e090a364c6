// Replicas are restarted one after the other, as an upgrade does it, while clients call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

/// Clients that call one replica after the other, and ask again with the same key where they were
/// cut, refused for now or not let in.
class RestartLoad {
 public:
  explicit RestartLoad(Replicas& replicas) : replicas_(replicas) {}

  void call_until_over(int client) {
    for (int number = 0; !is_over_; ++number) {
      const std::string run = "kept-" + std::to_string(client) + "-" + std::to_string(number);
      const Deadline patience(milliseconds{60'000});
      for (auto which = static_cast<std::size_t>(client + number);; ++which) {
        const std::string word = told(replicas_.call(which % replicas_.size(), run));
        const std::lock_guard lock(mutex_);
        ++words_[word];
        if (word == "executed" || word == "replayed" || word == "indeterminate") break;
        if (patience.passed()) {
          ADD_FAILURE() << run << " was never answered, at last " << word;
          break;
        }
      }
      ++runs_;
      EXPECT_EQ(replicas_.tool.effects_of(run), 1) << run;
    }
  }
  /// Ends the load, also where the restarts end with an exception.
  class Ending {
   public:
    explicit Ending(RestartLoad& load) : load_(load) {}
    ~Ending() { load_.is_over_ = true; }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    RestartLoad& load_;
  };

  [[nodiscard]] std::map<std::string, int> words() {
    const std::lock_guard lock(mutex_);
    return words_;
  }
  [[nodiscard]] int runs() const { return runs_; }

 private:
  Replicas& replicas_;
  std::atomic<bool> is_over_{false};
  std::atomic<int> runs_{0};
  std::mutex mutex_;
  std::map<std::string, int> words_;
};

using RollingRestart = OnSharedStore;

TEST_P(RollingRestart, MakesNoEffectHappenTwiceAndLeavesNoCallUnknown) {
  constexpr int kClients = 6;
  constexpr int kRounds = 5;
  Replicas replicas(options());
  replicas.upstream.script([&](Turn& turn) {
    // Up to 40 ms on its way, so that each restart finds calls in the tool.
    turn.wait(milliseconds{turn.number() % 41});
    replicas.tool.play(turn);
  });
  RestartLoad load(replicas);
  std::vector<std::function<void()>> jobs;
  for (int client = 0; client < kClients; ++client) {
    jobs.emplace_back([&load, client] { load.call_until_over(client); });
  }
  jobs.emplace_back([&] {
    const RestartLoad::Ending ending(load);
    for (int restart = 0; restart < kRounds * static_cast<int>(replicas.size()); ++restart) {
      const int before = load.runs();
      EXPECT_TRUE(eventually([&] { return load.runs() > before + kClients; }));
      replicas.at(static_cast<std::size_t>(restart) % replicas.size()).restart();
    }
  });
  run_together(jobs);
  std::map<std::string, int> words = load.words();
  EXPECT_EQ(words["indeterminate"], 0);
  EXPECT_EQ(replicas.tool.second_effects(), 0);
  EXPECT_EQ(replicas.upstream.effects(), load.runs());
  for (const auto& [word, times] : words) std::printf("%s %d\n", word.c_str(), times);
}

INSTANTIATE_TEST_SUITE_P(Stores, RollingRestart, each_shared_store(), name_of_kind);

}  // namespace
}  // namespace semel::testing
