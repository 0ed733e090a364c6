// What the store in PostgreSQL says of itself where an operator has left many outcomes unknown.

#include <string>

#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

constexpr int kCountedMax = 10'000;
/// 2020-01-01, in the store's microseconds.
constexpr std::int64_t kLongAgo = 1'577'836'800'000'000;

class PostgresHealth : public PostgresReplicas {
 protected:
  PostgresHealth() : PostgresReplicas(PostgresSetup{{"fsync = off"}, {}, false, nullptr, false}) {}

  /// Unknown outcomes of one claim a second since 2020, the youngest claim the oldest of them.
  void leave_unknown(int count) {
    server_.sql(
        "INSERT INTO semel.record (fence, lease_end, created_at, changed_at, retention, state,"
        " policy, reason, key, token, reference, tenant, route)"
        " SELECT n, 0, 0, " +
        std::to_string(kLongAgo) + " + (" + std::to_string(count) +
        " - n) * 1000000::bigint, 60, 'indeterminate', 'EFFECTFUL', 'timeout',"
        " sha256(n::text::bytea), '', '', '', '' FROM generate_series(1, " +
        std::to_string(count) + ") n");
    server_.sql("VACUUM ANALYZE semel.record");
  }
  /// How many rows and entries of indexes the server reads to say it.
  int looks() {
    return std::stoi(
        server_.sql("DO $$ BEGIN PERFORM semel.health(); END $$;"
                    "SELECT pg_stat_get_xact_tuples_returned('semel.record'::regclass) +"
                    " (SELECT sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) FROM pg_index i"
                    " WHERE i.indrelid = 'semel.record'::regclass)"));
  }
  static std::int64_t microseconds(std::chrono::system_clock::time_point at) {
    return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
  }
};

TEST_F(PostgresHealth, FewUnknownOutcomesAreCountedAndTheOldestIsFound) {
  Store& store = start("a");
  EXPECT_FALSE(run(store.health()).oldest_indeterminate);
  leave_unknown(3);
  const StoreHealth health = run(store.health());
  EXPECT_EQ(health.indeterminate, 3u);
  ASSERT_TRUE(health.oldest_indeterminate);
  EXPECT_EQ(microseconds(*health.oldest_indeterminate), kLongAgo);
}

TEST_F(PostgresHealth, OfManyUnknownOutcomesItReadsNoMoreThanItCountsAtTheMost) {
  Store& store = start("a");
  leave_unknown(5 * kCountedMax);
  EXPECT_LE(looks(), 2 * kCountedMax + 100) << "records, and of these the unknown ones";
  const StoreHealth health = run(store.health());
  EXPECT_TRUE(health.up);
  EXPECT_NEAR(static_cast<double>(health.indeterminate), 5.0 * kCountedMax, kCountedMax);
  ASSERT_TRUE(health.oldest_indeterminate);
  EXPECT_EQ(microseconds(*health.oldest_indeterminate), kLongAgo);
}

}  // namespace
}  // namespace semel::testing
