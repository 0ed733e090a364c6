// Guarantee 11.4: what the operator says after a crash counts, and not before the lease has ended.
#include <gtest/gtest.h>

#include <deque>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"

namespace semel::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// Where a kill leaves 409 `indeterminate` behind.
constexpr const char* kUnknownAfter[] = {
    "after_claim",  "before_dispatch", "after_dispatch", CrashSite::kToolCommitted,
    "after_answer", "before_record",   "mid_reply"};
constexpr int kRounds = 5;

/// A call that a crash left unknown.
struct Unknown {
  std::string run;
  std::string reference;
  int effects = 0;
  Clock::time_point asked;  ///< Before its claim, so its lease ended later than a lease from here.
};

Unknown make_unknown(CrashSite& site, const std::string& point, const std::string& run) {
  Unknown unknown{(point == "mid_reply" ? "long-" : "short-") + run, {}, 0, Clock::now()};
  site.arm(point, SIGKILL);
  const Response first = site.call(CrashSite::kEffectful, unknown.run);
  EXPECT_TRUE(site.gateway.semel.wait()) << "the point was not reached: " << told(first);
  site.disarm();
  site.gateway.semel.start();
  const Response retry = site.call(CrashSite::kEffectful, unknown.run);
  EXPECT_EQ(told(retry), "indeterminate");
  unknown.reference = retry.header("Idempotency-Ref").value_or("none");
  unknown.effects = site.effects_of(unknown.run);
  return unknown;
}

std::vector<Unknown> make_unknowns(CrashSite& site, const std::string& point) {
  std::vector<Unknown> unknowns;
  for (int round = 1; round <= kRounds; ++round) {
    unknowns.push_back(make_unknown(site, point, std::to_string(round)));
  }
  return unknowns;
}

void expect_not_run_again(CrashSite& site, const std::string& point) {
  for (const Unknown& unknown : make_unknowns(site, point)) {
    SCOPED_TRACE(point + " " + unknown.run);
    const Response resolved = site.operated.resolve(
        unknown.reference, R"({"decision":"happened","response":{"status":201,"body":"seen"}})");
    EXPECT_EQ(resolved.status, 200) << resolved.body;
    const Response replay = site.call(CrashSite::kEffectful, unknown.run);
    EXPECT_EQ(told(replay), "replayed");
    EXPECT_EQ(replay.body, "seen");
    EXPECT_EQ(site.effects_of(unknown.run), unknown.effects);
  }
}

void expect_run_once_more(CrashSite& site, const std::string& point) {
  const std::vector<Unknown> unknowns = make_unknowns(site, point);
  for (const Unknown& unknown : unknowns) {
    SCOPED_TRACE(point + " " + unknown.run);
    const Response freed = site.operated.set_free(unknown.reference);
    const auto freed_after = Clock::now() - unknown.asked;
    ASSERT_EQ(freed.status, 200) << freed.body;
    EXPECT_GE(freed_after, brief_times().lease) << "the attempt could still have had its effect";
    std::vector<std::future<Response>> calls;
    for (int i = 0; i < 3; ++i) calls.push_back(site.begin(CrashSite::kEffectful, unknown.run));
    for (auto& call : calls) EXPECT_EQ(call.get().status, 201);
    EXPECT_EQ(site.effects_of(unknown.run), unknown.effects + 1);
  }
}

void at_every_point(void (*expect)(CrashSite&, const std::string&)) {
  std::deque<CrashSite> sites;
  std::vector<std::function<void()>> jobs;
  for (const std::string point : kUnknownAfter) {
    CrashSite& site = sites.emplace_back(brief_times());
    jobs.emplace_back([&site, point, expect] { expect(site, point); });
  }
  run_together(jobs);
}

TEST(CrashResolve, WhatHappenedIsReplayedAsTheOperatorSaysItWas) {
  at_every_point(expect_not_run_again);
}

TEST(CrashResolve, WhatDidNotHappenRunsOnceMoreAndNotBeforeItsLeaseHasEnded) {
  at_every_point(expect_run_once_more);
}

}  // namespace
}  // namespace semel::testing
