#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

/// Counts effects by the run that caused them.
class EffectCounter {
 public:
  void count(const std::string& run) {
    const std::lock_guard lock(mutex_);
    ++effects_[run];
  }
  [[nodiscard]] int of(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return effects_[run];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> effects_;
};

/// Takes 0 to 11 ms, so that a kill finds calls before, in and behind the tool.
Script counts_by_run(EffectCounter& counter) {
  return [&counter](Turn& turn) {
    counter.count(turn.request().all("X-Run-Id").at(0));
    turn.commit();
    turn.wait(milliseconds{turn.number() % 12});
    turn.send(response_text(201, "booked for " + turn.request().all("X-Run-Id").at(0)));
  };
}

std::future<Response> begin_run(const Gateway& gateway, const std::string& run) {
  return std::async(std::launch::async,
                    [&gateway, run] { return gateway.book(kBooking, {{"X-Run-Id", run}}); });
}

bool is_over(const std::pair<const std::string, std::future<Response>>& call) {
  return call.second.wait_for(milliseconds{0}) == std::future_status::ready;
}

TEST(CrashLoop, KilledAgainAndAgainUnderLoadNoBookingHappensTwice) {
  Gateway gateway({.store = StoreKind::Sqlite});
  EffectCounter counter;
  gateway.upstream.script(counts_by_run(counter));
  constexpr int kRounds = 12;
  constexpr int kCalls = 24;
  int replayed = 0;
  int unknown = 0;
  for (int round = 1; round <= kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::map<std::string, std::future<Response>> calls;
    for (int i = 0; i < kCalls; ++i) {
      const std::string run = std::to_string(round) + "-" + std::to_string(i);
      calls.emplace(run, begin_run(gateway, run));
    }
    static_cast<void>(gateway.upstream.sees_effects(gateway.upstream.effects() + round));
    if (round % 3 == 0) {
      EXPECT_TRUE(eventually([&] { return std::ranges::any_of(calls, is_over); }));
    }
    gateway.semel.kill9();
    std::map<std::string, Response> firsts;
    for (auto& [run, pending] : calls) firsts.emplace(run, pending.get());
    gateway.semel.start();
    for (const auto& [run, first] : firsts) {
      SCOPED_TRACE(run);
      const int before = counter.of(run);
      const Response retry = gateway.book(kBooking, {{"X-Run-Id", run}});
      EXPECT_LE(counter.of(run), 1) << "the promise";
      const std::string status = retry.header("Idempotency-Status").value_or("none");
      if (first.is_complete() && first.status == 201) {
        EXPECT_EQ(status, "replayed") << "an answer that was given is durable";
      }
      if (status == "executed") {
        EXPECT_EQ(before, 0);
      }
      if (retry.status == 201) {
        EXPECT_EQ(retry.body, "booked for " + run);
      }
      replayed += status == "replayed" ? 1 : 0;
      unknown += status == "indeterminate" ? 1 : 0;
    }
  }
  EXPECT_GT(replayed, 0) << "some calls were over before the kill";
  EXPECT_GT(unknown, 0) << "and some were not";
}

TEST(CrashLoop, AnsweredOnlyAfterItIsDurable) {
  // The kill comes as soon as the first byte of an answer has been read.
  Gateway gateway({.store = StoreKind::Sqlite});
  for (int round = 1; round <= 10; ++round) {
    SCOPED_TRACE(round);
    const HeaderLines run = {{"X-Run-Id", std::to_string(round)}};
    HttpClient client(gateway.semel.port());
    client.send(Gateway::tool_request("/tools/book", kBooking, run));
    ASSERT_TRUE(client.sees("HTTP/1.1 200"));
    gateway.semel.kill9();
    gateway.semel.start();
    EXPECT_EQ(gateway.book(kBooking, run).header("Idempotency-Status"), "replayed");
  }
  EXPECT_EQ(gateway.upstream.effects(), 10);
}

}  // namespace
}  // namespace semel::testing
