#include "proxy/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/proxy/exposition.h"
#include "tests/support/temp_folder.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using testing::Exposition;
using testing::ExpositionReader;
using ::testing::HasSubstr;
using testing::kAbsent;

Exposition parse(std::string_view page) {
  Exposition read = ExpositionReader(page).take();
  EXPECT_THAT(read.errors, ::testing::IsEmpty());
  return read;
}

Route route_of(std::string name, Policy policy) {
  Route route;
  route.name = std::move(name);
  route.policy = policy;
  return route;
}

StoreHealth healthy() {
  StoreHealth health;
  health.up = true;
  health.durability = "fsync per group";
  return health;
}

constexpr std::size_t at(Outcome outcome) { return static_cast<std::size_t>(outcome); }
constexpr std::size_t at(StoreOperation operation) { return static_cast<std::size_t>(operation); }
constexpr std::size_t at(UpstreamEnd end) { return static_cast<std::size_t>(end); }

class MetricsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Exposition page(const StoreHealth& health = healthy()) const {
    return parse(metrics.render(health));
  }
  Metrics metrics{{route_of("book", Policy::Effectful), route_of("fare", Policy::ReadOnly)}, 2};
  MetricsShard& one = metrics.shard(0);
  MetricsShard& other = metrics.shard(1);
};

TEST(ExpositionReader, FindsWhatBreaksAPage) {
  const auto errors = [](std::string_view page) {
    return ExpositionReader(page).take().errors.size();
  };
  EXPECT_EQ(errors("# HELP a_total x\n# TYPE a_total counter\na_total{l=\"v\"} 1\n"), 0U);
  EXPECT_NE(errors("# HELP a_total x\n# TYPE a_total counter\na_total 1"), 0U);
  EXPECT_NE(errors("# HELP a_total x\n# TYPE a_total counter\n"), 0U);
  EXPECT_NE(errors("a_total 1\n"), 0U);
  EXPECT_NE(errors("# HELP a x\n# TYPE a counter\na 1\n"), 0U);
  EXPECT_NE(errors("# HELP a_total x\n# TYPE a_total counter\na_total 1\na_total 2\n"), 0U);
  EXPECT_NE(errors("# HELP a x\n# TYPE a gauge\nb 1\n"), 0U);
  EXPECT_NE(errors("# HELP a x\n# TYPE a gauge\na x\n"), 0U);
  EXPECT_NE(errors("# HELP a x\n# TYPE a gauge\na{1l=\"v\"} 1\n"), 0U);
}

TEST_F(MetricsTest, WhatMayBeCountedIsThereAsZeroFromTheStart) {
  const Exposition fresh = page();
  for (const char* series :
       {R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="book"})",
        R"(semel_requests_total{outcome="indeterminate",policy="EFFECTFUL",route="book"})",
        R"(semel_requests_total{outcome="passed",policy="READ_ONLY",route="fare"})",
        R"(semel_requests_total{outcome="failed",policy="READ_ONLY",route="fare"})",
        R"(semel_requests_total{outcome="refused",policy="NONE",route=""})",
        R"(semel_duplicates_suppressed_total{kind="replayed"})",
        R"(semel_duplicates_suppressed_total{kind="collapsed"})",
        R"(semel_duplicates_suppressed_total{kind="in-flight"})",
        R"(semel_duplicates_suppressed_total{kind="indeterminate"})",
        "semel_in_flight_collisions_total",
        R"(semel_indeterminate_total{reason="timeout"})",
        R"(semel_indeterminate_total{reason="internal"})",
        "semel_indeterminate_records",
        "semel_resolution_contradicted_total",
        "semel_records_expired_total",
        "semel_expired_reruns_total",
        R"(semel_key_source_total{source="derived"})",
        R"(semel_key_source_total{source="client"})",
        R"(semel_upstream_failures_total{end="never_sent",route="book"})",
        R"(semel_upstream_failures_total{end="unanswered",route="fare"})",
        R"(semel_upstream_retries_total{route="fare"})",
        R"(semel_upstream_waiting{route="book"})",
        "semel_stale_writer_total",
        R"(semel_store_errors_total{operation="claim"})",
        R"(semel_store_errors_total{operation="sweep"})",
        "semel_store_suspect",
        "semel_connections"}) {
    EXPECT_EQ(fresh[series], 0) << series;
  }
  EXPECT_EQ(fresh["semel_store_up"], 1);
  EXPECT_EQ(fresh["semel_config_last_reload_successful"], 1);
}

TEST_F(MetricsTest, ARouteThatAnotherReplicaChangedIsOneAndTheOthersAreZero) {
  EXPECT_EQ(page()[R"(semel_route_digest_mismatch{route="book"})"], kAbsent)
      << "nobody shares the store";
  metrics.note_changed({"fare"});
  EXPECT_EQ(page()[R"(semel_route_digest_mismatch{route="book"})"], 0);
  EXPECT_EQ(page()[R"(semel_route_digest_mismatch{route="fare"})"], 1);
}

TEST_F(MetricsTest, TheGradeOfTheStoreIsALabel) {
  StoreHealth health = healthy();
  health.durability = "fsync per group";
  EXPECT_EQ(page(health)[R"(semel_store_durability_info{grade="fsync per group"})"], 1);
}

TEST_F(MetricsTest, WhatCannotComeAboutOnARouteIsNotThere) {
  const Exposition fresh = page();
  EXPECT_EQ(fresh[R"(semel_requests_total{outcome="passed",policy="EFFECTFUL",route="book"})"],
            kAbsent);
  EXPECT_EQ(fresh[R"(semel_requests_total{outcome="bypassed",policy="EFFECTFUL",route="book"})"],
            kAbsent);
  EXPECT_EQ(fresh[R"(semel_requests_total{outcome="executed",policy="READ_ONLY",route="fare"})"],
            kAbsent);
}

TEST_F(MetricsTest, WhatWasCountedIsThereWhetherItWasExpectedOrNot) {
  one.by_route[0].requests[at(Outcome::Passed)].add();
  EXPECT_EQ(page()[R"(semel_requests_total{outcome="passed",policy="EFFECTFUL",route="book"})"], 1);
}

TEST(Metrics, ARouteThatMayForwardWithoutAStoreCountsWhatBypassedIt) {
  Route route = route_of("set", Policy::Idempotent);
  route.on_store_down = OnStoreDown::Forward;
  const Metrics metrics({route}, 1);
  EXPECT_EQ(parse(metrics.render(healthy()))
                [R"(semel_requests_total{outcome="bypassed",policy="IDEMPOTENT",route="set"})"],
            0);
}

TEST(Metrics, ARouteWhoseModeIsOffIsCountedAsUnguarded) {
  Route route = route_of("book", Policy::Effectful);
  route.mode = Mode::Off;
  const Metrics metrics({route}, 1);
  const Exposition fresh = parse(metrics.render(healthy()));
  EXPECT_EQ(fresh[R"(semel_requests_total{outcome="passed",policy="EFFECTFUL",route="book"})"], 0);
  EXPECT_EQ(fresh[R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="book"})"],
            kAbsent);
}

TEST(Metrics, APageOfTenFreshRoutesStaysShort) {
  std::vector<Route> routes;
  for (int i = 0; i < 10; ++i) {
    routes.push_back(route_of("route" + std::to_string(i), Policy::Effectful));
  }
  const Metrics metrics(routes, 8);
  EXPECT_LT(parse(metrics.render(healthy())).lines, 210U);
}

TEST_F(MetricsTest, TheWorkersNumbersAreAdded) {
  one.by_route[0].requests[at(Outcome::Executed)].add();
  other.by_route[0].requests[at(Outcome::Executed)].add(2);
  one.by_route[0].requests[at(Outcome::Replayed)].add(3);
  other.by_route[1].requests[at(Outcome::Replayed)].add(4);
  one.suppressed[at(Outcome::Replayed)].add(3);
  other.suppressed[at(Outcome::Replayed)].add(4);
  one.collisions.add(5);
  one.indeterminate[static_cast<std::size_t>(IndeterminateReason::OwnerLost)].add(6);
  other.by_route[1].upstream_ends[at(UpstreamEnd::Unanswered)].add(7);
  other.by_route[1].upstream_retries.add(8);
  one.by_route[1].upstream_waiting.add(14);
  other.by_route[1].upstream_waiting.add();
  one.store_errors[at(StoreOperation::Record)].add(9);
  one.by_route[1].key_sources[static_cast<std::size_t>(KeySource::Client)].add(10);
  one.expired_reruns.add(11);
  one.records_expired.add(12);
  one.stale_writers.add(13);
  const Exposition read = page();
  EXPECT_EQ(read[R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="book"})"], 3);
  EXPECT_EQ(read[R"(semel_duplicates_suppressed_total{kind="replayed"})"], 7);
  EXPECT_EQ(read["semel_in_flight_collisions_total"], 5);
  EXPECT_EQ(read[R"(semel_indeterminate_total{reason="owner_lost"})"], 6);
  EXPECT_EQ(read[R"(semel_upstream_failures_total{end="unanswered",route="fare"})"], 7);
  EXPECT_EQ(read[R"(semel_upstream_retries_total{route="fare"})"], 8);
  EXPECT_EQ(read[R"(semel_upstream_waiting{route="fare"})"], 15);
  EXPECT_EQ(read[R"(semel_store_errors_total{operation="record"})"], 9);
  EXPECT_EQ(read[R"(semel_key_source_total{source="client"})"], 10);
  EXPECT_EQ(read["semel_expired_reruns_total"], 11);
  EXPECT_EQ(read["semel_records_expired_total"], 12);
  EXPECT_EQ(read["semel_stale_writer_total"], 13);
}

TEST_F(MetricsTest, ARouteThatStaysGoesOnCountingWhereItStood) {
  const std::vector<Route> now = {route_of("new", Policy::Effectful),
                                  route_of("book", Policy::Effectful)};
  one.by_route[0].requests[at(Outcome::Executed)].add(3);
  RouteMetrics* before = metrics.counters(0, {route_of("book", Policy::Effectful)}).at(0);
  metrics.welcome(now);
  const auto counters = metrics.counters(0, now);
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters[1], before);
  counters[1]->requests[at(Outcome::Executed)].add();
  counters[0]->requests[at(Outcome::Executed)].add(7);
  const Exposition read = page();
  EXPECT_EQ(read[R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="book"})"], 4);
  EXPECT_EQ(read[R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="new"})"], 7);
  EXPECT_EQ(read[R"(semel_requests_total{outcome="passed",policy="READ_ONLY",route="fare"})"], 0)
      << "a route that is gone keeps its numbers";
}

TEST_F(MetricsTest, ARouteOfAnotherPolicyHasSeriesOfItsOwnWhereThePolicyIsALabel) {
  one.by_route[0].requests[at(Outcome::Executed)].add(3);
  one.by_route[0].upstream_retries.add(2);
  one.by_route[0].request_duration.observe(1ms);
  const std::vector<Route> now = {route_of("book", Policy::Idempotent)};
  metrics.welcome(now);
  RouteMetrics& counters = *metrics.counters(0, now).at(0);
  counters.requests[at(Outcome::Executed)].add(5);
  counters.upstream_retries.add(1);
  counters.request_duration.observe(1ms);
  const Exposition read = page();
  EXPECT_EQ(read[R"(semel_requests_total{outcome="executed",policy="EFFECTFUL",route="book"})"], 3);
  EXPECT_EQ(read[R"(semel_requests_total{outcome="executed",policy="IDEMPOTENT",route="book"})"],
            5);
  EXPECT_EQ(read[R"(semel_upstream_retries_total{route="book"})"], 3);
  EXPECT_EQ(read[R"(semel_request_duration_seconds_count{route="book"})"], 2);
}

TEST_F(MetricsTest, ARefusedReloadIsSeen) {
  metrics.note(ReloadEnd::Refused);
  EXPECT_EQ(page()["semel_config_last_reload_successful"], 0);
  metrics.note(ReloadEnd::Taken);
  EXPECT_EQ(page()["semel_config_last_reload_successful"], 1);
}

TEST_F(MetricsTest, ConnectionsGoUpAndDown) {
  one.connections.add();
  other.connections.add();
  other.connections.add();
  other.connections.subtract(1);
  EXPECT_EQ(page()["semel_connections"], 2);
}

TEST_F(MetricsTest, AHistogramIsCumulativeAndItsBoundsBelongToTheirBuckets) {
  one.by_route[0].request_duration.observe(1ms);  // Exactly a bound.
  one.by_route[0].request_duration.observe(1ms + 1ns);
  other.by_route[0].request_duration.observe(300ms);
  other.by_route[0].request_duration.observe(1min);
  const Exposition read = page();
  const auto bucket = [&](const std::string& le) {
    return read["semel_request_duration_seconds_bucket{le=\"" + le + "\",route=\"book\"}"];
  };
  EXPECT_EQ(bucket("0.001"), 1);
  EXPECT_EQ(bucket("0.0025"), 2);
  EXPECT_EQ(bucket("0.25"), 2);
  EXPECT_EQ(bucket("0.5"), 3);
  EXPECT_EQ(bucket("30"), 3);
  EXPECT_EQ(bucket("+Inf"), 4);
  EXPECT_EQ(read[R"(semel_request_duration_seconds_count{route="book"})"], 4);
  EXPECT_NEAR(read[R"(semel_request_duration_seconds_sum{route="book"})"], 60.302000001, 1e-8);
}

TEST_F(MetricsTest, AHistogramIsThereFromItsFirstObservation) {
  EXPECT_EQ(page().families.count("semel_wait_duration_seconds"), 0U);
  one.wait_duration.observe(2s);
  other.store_duration[at(StoreOperation::Claim)].observe(3ms);
  other.by_route[1].upstream_duration.observe(40ms);
  const Exposition read = page();
  EXPECT_EQ(read["semel_wait_duration_seconds_count"], 1);
  EXPECT_EQ(read[R"(semel_store_operation_duration_seconds_count{operation="claim"})"], 1);
  EXPECT_EQ(read[R"(semel_store_operation_duration_seconds_count{operation="record"})"], kAbsent);
  EXPECT_EQ(read[R"(semel_upstream_duration_seconds_count{route="fare"})"], 1);
}

TEST_F(MetricsTest, TheStoresHealthIsToldAsItIs) {
  StoreHealth health;
  health.suspect = true;
  health.durability = "volatile";
  health.indeterminate = 17;
  health.resolutions_contradicted = 2;
  EXPECT_EQ(page(health)["semel_indeterminate_oldest_timestamp_seconds"], kAbsent);
  health.oldest_indeterminate = std::chrono::system_clock::time_point(1'700'000'000s);
  const Exposition read = page(health);
  EXPECT_EQ(read["semel_store_up"], 0);
  EXPECT_EQ(read["semel_store_suspect"], 1);
  EXPECT_EQ(read["semel_indeterminate_records"], 17);
  EXPECT_EQ(read["semel_resolution_contradicted_total"], 2);
  EXPECT_EQ(read["semel_indeterminate_oldest_timestamp_seconds"], 1'700'000'000);
  EXPECT_EQ(read["semel_build_info{store_durability=\"volatile\",version=\"" SEMEL_VERSION "\"}"],
            1);
}

TEST(Metrics, ANameOfTheConfigurationCannotBreakThePage) {
  const Metrics metrics({route_of("a\"b\\c\nd", Policy::None)}, 1);
  const std::string text = metrics.render(healthy());
  parse(text);
  EXPECT_THAT(text, HasSubstr(R"(route="a\"b\\c\nd")"));
}

/// The names that begin a row of a table of the operator's page.
std::set<std::string> documented_metrics() {
  const std::string whole = testing::read_file(SEMEL_SOURCE_DIR "/docs/operations.md");
  const auto begin = whole.find("\n## The metrics\n");
  const std::string page = whole.substr(begin, whole.find("\n## ", begin + 1) - begin);
  constexpr std::string_view kRow = "\n| `";
  std::set<std::string> names;
  for (auto at = page.find(kRow); at != std::string::npos; at = page.find(kRow, at + 1)) {
    const auto from = at + kRow.size();
    const std::string name = page.substr(from, page.find('`', from) - from);
    if (name.starts_with("semel_") && name.find(' ') == std::string::npos) names.insert(name);
  }
  return names;
}

TEST_F(MetricsTest, EveryNameIsKnownHasHelpAndIsInTheOperatorsTable) {
  const std::set<std::string> known = {"semel_requests_total",
                                       "semel_duplicates_suppressed_total",
                                       "semel_in_flight_collisions_total",
                                       "semel_indeterminate_total",
                                       "semel_indeterminate_records",
                                       "semel_indeterminate_oldest_timestamp_seconds",
                                       "semel_resolutions_total",
                                       "semel_resolution_contradicted_total",
                                       "semel_records_expired_total",
                                       "semel_expired_reruns_total",
                                       "semel_key_source_total",
                                       "semel_late_answers_total",
                                       "semel_upstream_failures_total",
                                       "semel_upstream_retries_total",
                                       "semel_upstream_waiting",
                                       "semel_shadow_duplicates_total",
                                       "semel_shadow_unkeyed_total",
                                       "semel_stale_writer_total",
                                       "semel_access_log_dropped_lines_total",
                                       "semel_store_errors_total",
                                       "semel_request_duration_seconds",
                                       "semel_upstream_duration_seconds",
                                       "semel_wait_duration_seconds",
                                       "semel_store_operation_duration_seconds",
                                       "semel_store_up",
                                       "semel_store_suspect",
                                       "semel_store_durability_info",
                                       "semel_route_digest_mismatch",
                                       "semel_connections",
                                       "semel_disowned_claims",
                                       "semel_disowned_claims_dropped_total",
                                       "semel_config_last_reload_successful",
                                       "semel_build_info"};
  one.by_route[0].request_duration.observe(1s);
  one.by_route[0].upstream_duration.observe(1s);
  one.wait_duration.observe(1s);
  one.store_duration[0].observe(1s);
  StoreHealth health = healthy();
  health.oldest_indeterminate = std::chrono::system_clock::time_point(1s);
  Route watched = route_of("watched", Policy::Effectful);
  watched.mode = Mode::Shadow;
  metrics.welcome({watched});
  metrics.note_changed({});
  std::set<std::string> told;
  for (const auto& [name, family] : page(health).families) {
    told.insert(name);
    EXPECT_NE(family.help, "") << name;
  }
  EXPECT_EQ(told, known);
  EXPECT_EQ(documented_metrics(), known) << "docs/operations.md, \"The metrics\"";
}

}  // namespace
}  // namespace semel::proxy
