// Guarantee 11: kills and stops at every point of the promise. Each round is one process that dies
// or stands still, and every round obeys the laws; the words are compared with the page's tables.
#include "tests/e2e/crash_matrix.h"

#include <gtest/gtest.h>

#include <deque>
#include <ostream>

#include "tests/e2e/crash_site.h"

namespace semel::testing {
namespace {

constexpr const char* kPoints[] = {
    "before_claim", "after_claim",   "before_dispatch", "after_dispatch", CrashSite::kToolCommitted,
    "after_answer", "before_record", "after_record",    "before_reply",   "mid_reply"};

struct Tool {
  const char* path;
  const char* policy;
  int stops;  ///< Rounds with a SIGSTOP; each takes a lease.
};
void PrintTo(const Tool& tool, std::ostream* out) { *out << tool.path; }

constexpr int kKills = 50;
constexpr Tool kTools[] = {{CrashSite::kEffectful, "EFFECTFUL", 50},
                           {CrashSite::kIdempotent, "IDEMPOTENT", 10}};

/// An effect that the request may still cause has been caused by now.
bool request_has_left(const std::string& point) {
  return point != "before_claim" && point != "after_claim" && point != "before_dispatch";
}

/// `mid_reply` is a place of a live answer.
std::string run_of(const std::string& point, int round) {
  return (point == "mid_reply" ? "long-" : "short-") + std::to_string(round);
}

void kill_at(const std::string& point, const Tool& tool, CrashMatrix& matrix) {
  CrashSite site(ample_times());
  for (int round = 1; round <= kKills; ++round) {
    const std::string run = run_of(point, round);
    SCOPED_TRACE(point + " " + tool.policy + " " + run);
    const int seen = site.gateway.upstream.effects();
    site.arm(point, SIGKILL);
    const Response first = site.call(tool.path, run);
    const std::optional<Exit> exit = site.gateway.semel.wait();
    ASSERT_TRUE(exit && exit->signal == SIGKILL) << "the point was not reached: " << told(first);
    EXPECT_EQ(told(first), "cut");
    site.disarm();
    if (request_has_left(point)) {
      EXPECT_TRUE(site.gateway.upstream.sees_effects(seen + 1));
    }
    site.gateway.semel.start();
    const int before = site.effects_of(run);
    const Response retry = site.call(tool.path, run);
    expect_laws(site, tool.path, run, before, first, retry);
    matrix.note(point, {std::to_string(before), told(retry), std::to_string(site.effects_of(run))});
  }
}

/// @return false if the call ended without standing still.
bool stands_still(CrashSite& site, std::future<Response>& call) {
  const auto is_over = [&] { return call.wait_for(milliseconds{0}) == std::future_status::ready; };
  const bool seen = eventually([&] { return site.gateway.semel.is_stopped() || is_over(); });
  return seen && site.gateway.semel.is_stopped();
}

void stop_at(CrashSite& site, const std::string& point, const Tool& tool, int round,
             CrashMatrix& matrix) {
  const std::string run = run_of(point, round);
  SCOPED_TRACE(point + " " + tool.policy + " " + run);
  site.arm(point, SIGSTOP);
  std::future<Response> call = site.begin(tool.path, run);
  ASSERT_TRUE(stands_still(site, call)) << "the point was not reached: " << told(call.get());
  const Deadline lease(brief_times().lease);
  site.disarm();
  std::this_thread::sleep_for(milliseconds{lease.left()});  // What the stop is about.
  site.gateway.semel.sigcont();
  const Response first = call.get();
  const int before = site.effects_of(run);
  const Response retry = site.call(tool.path, run);
  expect_laws(site, tool.path, run, before, first, retry);
  matrix.note(point, {told(first), told(retry), std::to_string(site.effects_of(run))});
}

class Crash : public ::testing::TestWithParam<Tool> {};

TEST_P(Crash, KilledAtEveryPointAndStartedAgain) {
  const Tool& tool = GetParam();
  CrashMatrix matrix(tool.policy, kPoints);
  for (const char* point : kPoints) kill_at(point, tool, matrix);
  std::printf("%s", matrix.text().c_str());
  matrix.expect_documented("### Killed and started again");
}

TEST_P(Crash, StoppedPastTheLeaseAtEveryPoint) {
  const Tool& tool = GetParam();
  // A round waits for a lease and costs nothing, so there are several processes to a point.
  constexpr int kAtOnce = 5;
  CrashMatrix matrix(tool.policy, kPoints);
  std::deque<CrashSite> sites;
  std::vector<std::function<void()>> jobs;
  for (const char* point : kPoints) {
    for (int i = 0; i < kAtOnce; ++i) {
      CrashSite& site = sites.emplace_back(brief_times());
      jobs.emplace_back([=, &site, &matrix] {
        for (int round = i; round < tool.stops; round += kAtOnce) {
          stop_at(site, point, tool, round, matrix);
        }
      });
    }
  }
  run_together(jobs);
  std::printf("%s", matrix.text().c_str());
  matrix.expect_documented("### Stopped past the lease and continued");
}

TEST(CrashLaw, DuplicatesThatArriveWhileItStandsStillShareOneEffect) {
  std::deque<CrashSite> sites;
  std::vector<std::function<void()>> jobs;
  for (const std::string point : kPoints) {
    CrashSite& site = sites.emplace_back(brief_times());
    jobs.emplace_back([&site, point] {
      for (int round = 1; round <= 3; ++round) {
        const std::string run = run_of(point, round);
        SCOPED_TRACE(point + " " + run);
        site.arm(point, SIGSTOP);
        std::future<Response> call = site.begin(CrashSite::kEffectful, run);
        ASSERT_TRUE(stands_still(site, call)) << "not reached: " << told(call.get());
        const Deadline lease(brief_times().lease);
        site.disarm();
        std::vector<std::future<Response>> duplicates;
        for (int i = 0; i < 4; ++i) duplicates.push_back(site.begin(CrashSite::kEffectful, run));
        std::this_thread::sleep_for(milliseconds{lease.left()});
        site.gateway.semel.sigcont();
        std::set<std::string> bodies;
        duplicates.push_back(std::move(call));
        for (auto& duplicate : duplicates) {
          const Response answer = duplicate.get();
          if (answer.status == 201 && answer.is_complete()) bodies.insert(answer.body);
        }
        EXPECT_LE(bodies.size(), 1U);
        EXPECT_LE(site.effects_of(run), 1);
        const Response later = site.call(CrashSite::kEffectful, run);
        if (!bodies.empty()) {
          EXPECT_EQ(told(later), "replayed");
        }
        EXPECT_LE(site.effects_of(run), 1);
      }
    });
  }
  run_together(jobs);
}

INSTANTIATE_TEST_SUITE_P(Policies, Crash, ::testing::ValuesIn(kTools),
                         [](const auto& row) { return std::string(row.param.policy); });

}  // namespace
}  // namespace semel::testing
