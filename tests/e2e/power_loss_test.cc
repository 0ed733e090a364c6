// Power that goes at any moment under load: what was answered before is still true afterwards, and
// nothing runs twice. What of the files survives is what was synced, and a seeded part of the rest.

#include "tests/e2e/power_loss.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

/// A number that the soak gives, or the one of the suite.
std::uint64_t chosen(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What was seen in all rounds.
struct Totals {
  int rounds = 0;
  int at_start = 0;    ///< Power went before it was ready.
  int under_load = 0;  ///< Power went while calls were made.
  int in_checkpoint = 0;
  int calls = 0;
  int replayed = 0;  ///< Repetitions that got the recorded answer.
  int refused = 0;   ///< Repetitions that were told that the outcome is unknown.
  int ran = 0;       ///< Repetitions of calls that had no effect before.
  int lost = 0;      ///< Answers that the store does not know any more.
  int repeated = 0;  ///< Calls with more than one effect.

  void print() const {
    std::printf(
        "%d rounds, power lost at the start in %d, under load in %d, in a checkpoint in %d of "
        "these\n"
        "%d calls, their repetitions: %d replayed, %d refused, %d ran\n"
        "%d answers lost, %d effects repeated\n",
        rounds, at_start, under_load, in_checkpoint, calls, replayed, refused, ran, lost, repeated);
  }
};

using Moment = PowerLoss::Moment;

/// One loss of power, and under how many calls.
struct Round {
  Moment moment;
  int calls_of_each = 24;
};

class PoweredGateway {
 public:
  PoweredGateway(PowerLoss::Syncs syncs, Totals& totals) : syncs_(syncs), totals_(totals) {
    power_.plan(gateway_.semel, {});
    gateway_.upstream.script([this](Turn& turn) {
      const std::string run = turn.request().all("X-Run-Id").at(0);
      {
        const std::lock_guard lock(mutex_);
        ++effects_[run];
      }
      turn.commit();
      turn.send(response_text(201, answer_of(run)));
    });
    stop();
  }

  /// Lets power go, if so many changes and syncs come at all, starts again and asks again.
  /// @return false if a start was refused.
  bool lose_power_in(const Round& round) {
    totals_.rounds += 1;
    power_.plan(gateway_.semel, round.moment, syncs_);
    std::map<std::string, Response> firsts;
    if (starts()) {
      firsts = call_until_dark(round);
      const bool is_dark =
          std::ranges::any_of(firsts, [](const auto& call) { return !call.second.is_complete(); });
      totals_.under_load += is_dark && power_went() ? 1 : 0;
    } else {
      if (!power_went()) return false;
      totals_.at_start += 1;
    }
    stop();
    totals_.in_checkpoint += power_.went_in_a_checkpoint() ? 1 : 0;
    if (syncs_ == PowerLoss::Syncs::DoNothing) {
      // It would know better, and nothing would be let through.
      std::filesystem::remove(PowerLoss::witness_of(gateway_.semel));
    }
    power_.plan(gateway_.semel, {}, syncs_);
    if (!starts()) return false;
    for (const auto& [run, first] : firsts) repeat(run, first);
    // It goes on as ever; and a log that was copied into the file is begun anew.
    EXPECT_EQ(book_again("after-" + std::to_string(round.moment.seed)).status, 201);
    stop();
    return true;
  }

  /// Asks everything that was ever answered once more.
  void ask_all_again() {
    ASSERT_TRUE(starts());
    for (const auto& [run, body] : answered_) {
      const Response again = book_again(run);
      if (again.header("Idempotent-Replayed") != "true" || again.body != body) totals_.lost += 1;
    }
  }

  [[nodiscard]] std::string why_not() const { return gateway_.semel.stderr_text(); }

 private:
  static constexpr int kClients = 4;

  /// From a few bytes to several pages.
  static std::string answer_of(const std::string& run) {
    const std::size_t size = std::hash<std::string>()(run) % 12'000;
    return "booked for " + run + std::string(size, 'b');
  }
  [[nodiscard]] Response book(const std::string& run) const {
    return gateway_.book(kBooking, {{"X-Run-Id", run}});
  }
  /// A machine that is busy may have the store miss its deadline.
  [[nodiscard]] Response book_again(const std::string& run) const {
    Response again;
    static_cast<void>(eventually([&] {
      again = book(run);
      return again.status != 503;
    }));
    return again;
  }
  [[nodiscard]] int effects_of(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return effects_[run];
  }
  bool starts() {
    try {
      gateway_.semel.start();
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  [[nodiscard]] bool power_went() {
    const auto end = gateway_.semel.wait();
    return end && end->signal == SIGKILL;
  }
  /// As hard as a loss of power, but nothing is forgotten.
  void stop() { gateway_.semel.kill9(); }

  std::map<std::string, Response> call_until_dark(const Round& round) {
    std::map<std::string, Response> firsts;
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back([&, client] {
        for (int call = 0; call < round.calls_of_each; ++call) {
          const std::string run = std::to_string(round.moment.seed) + "-" + std::to_string(client) +
                                  "-" + std::to_string(call);
          Response first = book(run);
          const bool is_dark = !first.is_complete();
          const std::lock_guard lock(mutex_);
          firsts.emplace(run, std::move(first));
          if (is_dark) return;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    return firsts;
  }

  /// Compares what an equal call is told after the start with what the first one was told.
  void repeat(const std::string& run, const Response& first) {
    SCOPED_TRACE(run);
    totals_.calls += 1;
    const int before = effects_of(run);
    const Response again = book_again(run);
    const std::string status = again.header("Idempotency-Status").value_or("none");
    const bool was_answered = first.is_complete() && first.status == 201;
    if (was_answered && (status != "replayed" || again.body != first.body)) totals_.lost += 1;
    if (effects_of(run) > 1) totals_.repeated += 1;
    if (status == "executed") EXPECT_EQ(effects_of(run), before + 1);
    totals_.replayed += status == "replayed" ? 1 : 0;
    totals_.refused += again.status == 409 ? 1 : 0;
    totals_.ran += status == "executed" ? 1 : 0;
    if (again.status == 201) answered_.emplace(run, again.body);
  }

  const PowerLoss::Syncs syncs_;
  Totals& totals_;
  PowerLoss power_;
  std::mutex mutex_;
  std::map<std::string, int> effects_;
  std::map<std::string, std::string> answered_;
  Gateway gateway_{{.store = StoreKind::Sqlite, .environment = power_.environment()}};
};

/// Of eight rounds, two lose power in a start, at each change of it in turn, five anywhere in a
/// load, and one in a checkpoint, under a load that is long enough for one.
Round round_of(std::uint64_t number, std::uint64_t seed) {
  constexpr std::uint64_t kChangesOfAStart = 24;
  std::mt19937_64 luck(seed);
  if (number % 4 == 3) return {{1 + number / 4 % kChangesOfAStart, seed}};
  if (number % 8 == 6) return {{1 + luck() % 400, seed, Moment::Of::Checkpoint}, 200};
  return {{1 + luck() % 500, seed}};
}

TEST(PowerLoss, WhateverWasAnsweredIsStillTrueAndNothingRunsTwice) {
  constexpr std::uint64_t kRoundsOfAStore = 40;
  const std::uint64_t rounds = chosen("SEMEL_POWER_LOSS_ROUNDS", kRoundsOfAStore);
  const std::uint64_t first_seed = chosen("SEMEL_POWER_LOSS_SEED", 1);
  Totals totals;
  for (std::uint64_t first = 0; first < rounds; first += kRoundsOfAStore) {
    SCOPED_TRACE("from SEMEL_POWER_LOSS_SEED=" + std::to_string(first_seed + first) + " on");
    PoweredGateway site(PowerLoss::Syncs::Reach, totals);
    for (std::uint64_t round = 0; round < kRoundsOfAStore && first + round < rounds; ++round) {
      SCOPED_TRACE(round);
      ASSERT_TRUE(site.lose_power_in(round_of(round, first_seed + first + round)))
          << "a false alarm: " << site.why_not();
      ASSERT_EQ(totals.lost, 0);
      ASSERT_EQ(totals.repeated, 0);
      ASSERT_FALSE(HasFailure());
    }
    site.ask_all_again();
    ASSERT_EQ(totals.lost, 0);
  }
  totals.print();
  EXPECT_GT(totals.under_load, 0);
  EXPECT_GT(totals.at_start, 0);
  EXPECT_GT(totals.in_checkpoint, 0);
  EXPECT_GT(totals.replayed, 0);
  EXPECT_GT(totals.refused, 0);
}

TEST(PowerLoss, ADiskWhoseSyncsDoNothingLosesAnswersAndThatIsSeen) {
  Totals totals;
  PoweredGateway site(PowerLoss::Syncs::DoNothing, totals);
  for (std::uint64_t seed = 1; seed <= 10 && totals.repeated == 0; ++seed) {
    ASSERT_TRUE(site.lose_power_in({{400, seed}})) << site.why_not();
  }
  totals.print();
  EXPECT_GT(totals.lost, 0);
  EXPECT_GT(totals.repeated, 0);
}

}  // namespace
}  // namespace semel::testing
