// The transition log and the records after a kill: whoever has read the events knows the records,
// and the records have no past that was not told.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"
#include "tests/e2e/event_reader.h"
#include "tests/e2e/power_loss.h"

namespace semel::testing {
namespace {

constexpr const char* kPoints[] = {
    "before_claim", "after_claim",   "before_dispatch", "after_dispatch", CrashSite::kToolCommitted,
    "after_answer", "before_record", "after_record",    "before_reply",   "mid_reply"};
constexpr char kLog[] = "events: {}\n";

void expect_events_to_tell_the_records(const OperatedGateway& operated) {
  const auto recorded = recorded_states(operated);
  EXPECT_EQ(told_states(logged_events(operated)), recorded);
}

void kill_at(CrashSite& site, const std::string& point, const std::string& path) {
  const std::string run = (point == "mid_reply" ? "long-" : "short-") + point + path;
  SCOPED_TRACE(run);
  site.arm(point, SIGKILL);
  const Response first = site.call(path, run);
  ASSERT_TRUE(site.gateway.semel.wait()) << "the point was not reached: " << told(first);
  site.disarm();
  site.gateway.semel.start();
  expect_events_to_tell_the_records(site.operated);
  static_cast<void>(site.call(path, run));
  expect_events_to_tell_the_records(site.operated);
}

TEST(EventCrash, AtEveryPointOfACallTheEventsTellTheRecords) {
  CrashSite site(ample_times(), CrashSite::kWithFailPoints, kLog);
  for (const char* const path : {CrashSite::kEffectful, CrashSite::kIdempotent}) {
    for (const char* const point : kPoints) kill_at(site, point, path);
  }
  std::size_t claims = 0;
  for (const Json& event : logged_events(site.operated)) {
    claims += event["kind"].text() == "claimed" ? 1 : 0;
  }
  EXPECT_GE(claims, 2 * std::size(kPoints)) << "each run was claimed in the end";
}

TEST(EventCrash, InTheMiddleOfManyWritesTheEventsTellTheRecords) {
  CrashSite site(ample_times(), semel_binary(), kLog);
  std::vector<std::string> read;
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    std::atomic<int> answered{0};
    std::atomic<bool> killed{false};
    std::vector<std::future<void>> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.push_back(std::async(std::launch::async, [&, caller] {
        for (int n = 0; !killed; ++n) {
          const std::string run =
              std::to_string(round) + "-" + std::to_string(caller) + "-" + std::to_string(n);
          const char* const path = n % 3 == 0 ? CrashSite::kIdempotent : CrashSite::kEffectful;
          if (site.call(path, run).status == 201) ++answered;
        }
      }));
    }
    EXPECT_TRUE(eventually([&] { return answered >= 20 + 13 * round; }));
    site.gateway.semel.kill9();
    killed = true;
    for (auto& caller : callers) caller.get();
    site.gateway.semel.start();
    expect_events_to_tell_the_records(site.operated);
    std::vector<std::string> kept;
    for (const Json& event : logged_events(site.operated)) kept.push_back(event["position"].text());
    ASSERT_GE(kept.size(), read.size());
    EXPECT_TRUE(std::equal(read.begin(), read.end(), kept.begin()))
        << "what was told is told again";
    read = std::move(kept);
  }
}

/// Calls until the process is gone. @return the references of the answers that came.
std::vector<std::string> call_until_dark(Gateway& gateway, const std::string& round) {
  std::vector<std::string> answered;
  for (int n = 0;; ++n) {
    const Response answer = gateway.book(kBooking, {{"X-Run-Id", round + "-" + std::to_string(n)}});
    if (!answer.is_complete()) return answered;
    if (answer.status == 201) answered.push_back(answer.header("Idempotency-Ref").value_or("none"));
  }
}

TEST(EventCrash, AfterALossOfPowerTheEventsTellTheRecords) {
  PowerLoss power;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.more = kLog;
  options.environment = power.environment();
  OperatedGateway operated(std::move(options));
  Gateway& gateway = operated.gateway;
  gateway.upstream.script(commits_and_answers(201, "booked"));
  gateway.semel.kill9();
  std::set<std::string> completed;
  for (std::uint64_t round = 1; round <= 12; ++round) {
    SCOPED_TRACE(round);
    PowerLoss::Moment moment;
    moment.at = 60 + 29 * round;
    moment.seed = round;
    power.plan(gateway.semel, moment);
    gateway.semel.start();
    const auto answered = call_until_dark(gateway, std::to_string(round));
    EXPECT_TRUE(gateway.semel.wait());
    power.plan(gateway.semel, {});
    gateway.semel.start();
    expect_events_to_tell_the_records(operated);
    for (const std::string& reference : answered) completed.insert(reference);
    std::set<std::string> told;
    for (const Json& event : logged_events(operated)) {
      if (event["kind"].text() == "completed") told.insert(event["reference"].text());
    }
    EXPECT_TRUE(std::ranges::includes(told, completed)) << "an answer that was given was not told";
    gateway.semel.kill9();
  }
  EXPECT_GE(completed.size(), 12u);
}

}  // namespace
}  // namespace semel::testing
