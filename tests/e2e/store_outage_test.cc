// The server of a shared store is down, hangs or is slow: no effect is let through, reads go on,
// and all is well again once it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <tuple>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// What the server is, as seen from the replicas.
enum class Outage : std::uint8_t {
  Killed,
  Stopped,    ///< It accepts connections, and says nothing.
  Swallowed,  ///< The network loses every packet.
  Slow,       ///< What is asked arrives in time, and the answer too late: 1.3 s.
  Slower,     ///< Nothing arrives in time: 30 s.
};

std::string word(Outage outage) {
  constexpr const char* kWords[] = {"killed", "stopped", "swallowed", "slow", "slower"};
  return kWords[static_cast<std::size_t>(outage)];
}

/// How many calls: enough for the suite, or as many as the environment says.
int tries_asked() {
  const char* more = std::getenv("SEMEL_OUTAGE_TRIES");
  return more != nullptr ? std::atoi(more) : 200;
}

class StoreOutage : public ::testing::TestWithParam<std::tuple<SharedKind, Outage>> {
 protected:
  /// The more calls, the more of them at a time.
  static int clients_for(int tries) { return std::clamp(tries / 8, 1, 200); }

  void SetUp() override {
    if (!SharedServer::is_installed(kind())) GTEST_SKIP() << name(kind()) << " is not installed";
  }
  static SharedKind kind() { return std::get<0>(GetParam()); }
  static Outage outage() { return std::get<1>(GetParam()); }
  static ReplicasOptions options() {
    ReplicasOptions options;
    options.kind = kind();
    return options;
  }
  static std::string run_of(int call) { return "kept-" + std::to_string(call); }

  static void pace(Replicas& replicas, milliseconds delay) {
    FaultyLink::Pace pace;
    pace.delay = delay;
    for (std::size_t i = 0; i < replicas.size(); ++i) replicas.link(i).pace(pace);
  }
  static void begin_outage(Replicas& replicas) {
    switch (outage()) {
      case Outage::Killed:
        return replicas.server.kill9();
      case Outage::Stopped:
        return replicas.server.pause();
      case Outage::Swallowed:
        for (std::size_t i = 0; i < replicas.size(); ++i) replicas.link(i).hold();
        return;
      case Outage::Slow:
        return pace(replicas, milliseconds{650});
      case Outage::Slower:
        return pace(replicas, milliseconds{15'000});
    }
  }
  static void end_outage(Replicas& replicas) {
    switch (outage()) {
      case Outage::Killed:
        return replicas.server.restart();
      case Outage::Stopped:
        return replicas.server.resume();
      case Outage::Swallowed:
        for (std::size_t i = 0; i < replicas.size(); ++i) replicas.link(i).let_pass();
        return;
      case Outage::Slow:
      case Outage::Slower:
        return pace(replicas, milliseconds{0});
    }
  }

  /// Many clients call, each with a read beside, and all effects are refused.
  void expect_refusals(Replicas& replicas, int tries) {
    std::atomic<int> next{0};
    std::vector<std::function<void()>> clients;
    for (int client = 0; client < clients_for(tries); ++client) {
      clients.emplace_back([&] {
        for (int call = next++; call < tries; call = next++) {
          const auto which = static_cast<std::size_t>(call) % replicas.size();
          SCOPED_TRACE(run_of(call));
          const auto asked = Clock::now();
          const Response refused = replicas.call(which, run_of(call));
          note(slowest_refusal_, Clock::now() - asked);
          expect_problem(refused, "store-unavailable");
          expect_verdict(refused, "EFFECTFUL", "book", "false");
          const auto read_at = Clock::now();
          const Response read = replicas.call(which, "kept-read", "/tools/fare");
          note(slowest_read_, Clock::now() - read_at);
          EXPECT_EQ(read.status, 201);
        }
      });
    }
    run_together(clients);
    EXPECT_EQ(replicas.tool.effects_of("kept-read"), tries);
    EXPECT_EQ(replicas.upstream.requests(), 1 + tries) << "but for the reads, and the call before";
  }

  /// It comes back by itself, and who was refused has lost nothing.
  void expect_recovery(Replicas& replicas, int tries) {
    const auto healed = Clock::now();
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const Response answer = replicas.call_until_served(i, "kept-back-" + std::to_string(i));
      EXPECT_EQ(told(answer), "executed") << answer.body;
    }
    back_after_ = Clock::now() - healed;
    for (int call = 0; call < tries; ++call) {
      // At the other replica than before: what was left behind concerns it, too.
      const auto which = static_cast<std::size_t>(call + 1) % replicas.size();
      SCOPED_TRACE(run_of(call));
      EXPECT_EQ(told(replicas.call_until_served(which, run_of(call))), "executed");
      EXPECT_EQ(replicas.tool.effects_of(run_of(call)), 1);
    }
    EXPECT_EQ(replicas.tool.second_effects(), tries - 1) << "but for the reads";
    EXPECT_EQ(replicas.metric("semel_indeterminate_total"), 0);
  }

  static void note(std::atomic<Clock::duration>& slowest, Clock::duration time) {
    Clock::duration known = slowest;
    while (known < time && !slowest.compare_exchange_weak(known, time)) {
    }
  }
  static long long ms(Clock::duration time) {
    return std::chrono::ceil<milliseconds>(time).count();
  }

  std::atomic<Clock::duration> slowest_refusal_{Clock::duration{0}};
  std::atomic<Clock::duration> slowest_read_{Clock::duration{0}};
  Clock::duration back_after_{0};
};

TEST_P(StoreOutage, LetsNoEffectThroughHurtsNoReadAndPasses) {
  Replicas replicas(options());
  const int tries = tries_asked();
  EXPECT_EQ(told(replicas.call(0, "kept-before")), "executed");
  ASSERT_EQ(replicas.upstream.requests(), 1);
  begin_outage(replicas);
  expect_refusals(replicas, tries);
  end_outage(replicas);
  expect_recovery(replicas, tries);
  EXPECT_EQ(told(replicas.call(1, "kept-before")), "replayed");
  std::printf(
      "%s %s: %d calls refused, the slowest after %lld ms; the slowest read %lld ms; back "
      "%lld ms after the server\n",
      std::string(name(kind())).c_str(), word(outage()).c_str(), tries, ms(slowest_refusal_),
      ms(slowest_read_), ms(back_after_));
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreOutage,
                         ::testing::Combine(each_shared_store(),
                                            ::testing::Values(Outage::Killed, Outage::Stopped,
                                                              Outage::Swallowed, Outage::Slow,
                                                              Outage::Slower)),
                         [](const auto& row) {
                           return std::string(name(std::get<0>(row.param))) + "_" +
                                  word(std::get<1>(row.param));
                         });

}  // namespace
}  // namespace semel::testing
