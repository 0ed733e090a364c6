#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/answer_book.h"
#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/effect_tool.h"
#include "tests/e2e/kill_totals.h"

namespace semel::testing {

/// One program on one SQLite file, killed, ended and stopped at random moments and started again,
/// while many clients call it and retry until they know their outcome.
class KillLoop {
 public:
  explicit KillLoop(std::uint32_t seed)
      : gateway_(crash_options(brief_times(), semel_binary(), {})), chance_(seed) {
    gateway_.upstream.script([this](Turn& turn) {
      // Up to 11 ms on its way, so that a fault finds calls before, in and behind the tool.
      turn.wait(milliseconds{turn.number() % 12});
      tool_.play(turn);
    });
  }

  /// Goes on for so many faults, ends the load, and asks once more for every run.
  void run(int faults) {
    std::vector<std::function<void()>> jobs;
    for (int client = 0; client < kClients; ++client) {
      jobs.emplace_back([this, seed = chance_.below(1'000'000)] {
        call_until_over(Chance(static_cast<std::uint32_t>(seed)));
      });
    }
    jobs.emplace_back([this, faults] {
      const Ending ending(is_over_);
      for (int fault = 0; fault < faults; ++fault) strike();
    });
    run_together(jobs);
    gateway_.semel.kill9();
    gateway_.semel.start();
    ask_for_all_once_more();
    judge();
  }

  void add_to(KillTotals& totals) {
    totals.keys += newest_;
    totals.keyed_calls += keyed_calls_;
    totals.kills += kills_;
    totals.terms += terms_;
    totals.pauses += pauses_;
    totals.long_pauses += long_pauses_;
    totals.double_effects += double_effects_;
    for (const auto& [word, times] : book_.words()) totals.words[word] += times;
  }

 private:
  static constexpr int kClients = 16;
  static constexpr milliseconds kPatience{60'000};

  /// Ends the load also where the faults end with an exception.
  class Ending {
   public:
    explicit Ending(std::atomic<bool>& is_over) : is_over_(is_over) {}
    ~Ending() { is_over_ = true; }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    std::atomic<bool>& is_over_;
  };

  /// A run's number decides its kind: most tools keep their connection.
  static std::string run_of(int number) {
    static constexpr std::array<const char*, 4> kOthers = {"short", "long", "silent", "refused"};
    const auto kind = static_cast<std::size_t>(number % 20);
    return (kind < kOthers.size() ? kOthers[kind] : "kept") + ("-" + std::to_string(number));
  }
  static AnswerBook::Policy policy_of(int number) {
    return number % 10 == 9 ? AnswerBook::Policy::Idempotent : AnswerBook::Policy::Effectful;
  }

  void call_until_over(Chance chance) {
    std::unique_ptr<HttpClient> client;
    while (!is_over_) {
      const int die = chance.below(8);
      const int newest = newest_;
      int number = 0;
      if (die == 0 && newest > 0) {
        number = 1 + chance.below(newest);
      } else if (die == 1 && newest > 0) {  // Likely to be in flight.
        number = std::max(1, newest - chance.below(kClients));
      } else {
        number = ++newest_;
      }
      call_until_known(client, number);
    }
  }

  /// Calls and retries, on one connection as long as it lasts.
  void call_until_known(std::unique_ptr<HttpClient>& client, int number) {
    const std::string run = run_of(number);
    const AnswerBook::Policy policy = policy_of(number);
    const char* path =
        policy == AnswerBook::Policy::Effectful ? CrashSite::kEffectful : CrashSite::kIdempotent;
    const Request request = Gateway::tool_request(path, kBooking, {{"X-Run-Id", run}});
    const bool is_known = eventually(
        [&] {
          const AnswerBook::Known known = book_.known(run);
          if (!client) client = std::make_unique<HttpClient>(gateway_.semel.port());
          if (!client->is_connected()) {
            client.reset();
            return false;
          }
          const Response answer = client->exchange(request);
          ++keyed_calls_;
          if (!answer.is_complete() || answer.header("Connection") == "close") client.reset();
          const bool is_broken =
              policy == AnswerBook::Policy::Effectful && tool_.effects_of(run) > 1;
          return book_.note(run, policy, known, answer) || is_broken;
        },
        kPatience);
    EXPECT_TRUE(is_known) << run << " has no outcome";
  }

  /// One fault after a while in which calls get through.
  void strike() {
    std::this_thread::sleep_for(milliseconds{20 + chance_.below(200)});
    SemelProcess& semel = gateway_.semel;
    const int die = chance_.below(100);
    if (die < 70) {
      ++kills_;
      semel.kill9();
      semel.start();
    } else if (die < 80) {
      ++terms_;
      semel.sigterm();
      const std::optional<Exit> exit = semel.wait();
      EXPECT_TRUE(exit && exit->code == 0) << "SIGTERM ends it in order";
      semel.start();
    } else {
      const bool past_the_lease = die >= 95;
      ++(past_the_lease ? long_pauses_ : pauses_);
      ::kill(semel.pid(), SIGSTOP);
      std::this_thread::sleep_for(past_the_lease ? brief_times().lease
                                                 : milliseconds{chance_.below(300)});
      semel.sigcont();
    }
  }

  void ask_for_all_once_more() {
    std::atomic<int> next = 0;
    std::vector<std::function<void()>> jobs(kClients / 4, [&] {
      std::unique_ptr<HttpClient> client;
      for (int number = ++next; number <= newest_; number = ++next) {
        call_until_known(client, number);
      }
    });
    run_together(jobs);
  }

  void judge() {
    for (int number = 1; number <= newest_; ++number) {
      if (policy_of(number) == AnswerBook::Policy::Idempotent) continue;
      const int effects = tool_.effects_of(run_of(number));
      double_effects_ += std::max(0, effects - 1);
      EXPECT_LE(effects, 1) << "the promise, " << run_of(number);
    }
    for (const std::string& complaint : book_.complaints()) ADD_FAILURE() << complaint;
  }

  EffectTool tool_;
  Gateway gateway_;
  Chance chance_;
  AnswerBook book_;
  std::atomic<bool> is_over_{false};
  std::atomic<int> newest_{0};
  std::atomic<int> keyed_calls_{0};
  int kills_ = 0;
  int terms_ = 0;
  int pauses_ = 0;
  int long_pauses_ = 0;
  int double_effects_ = 0;
};

}  // namespace semel::testing
