// What a PostgreSQL notes of the claims that each process was told: found at once however many
// there were, taken away again, and never missed by a process that only was away.

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "stores/pg_session.h"
#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

PostgresSetup quick() {
  PostgresSetup setup;
  setup.settings = {"fsync = off", "autovacuum = off"};
  return setup;
}

Task<bool> claim_many(Store& store, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t n = from; n < from + count; ++n) {
    ClaimRequest request = request_of(n, n);
    const auto reply = co_await store.claim(std::move(request));
    if (!reply || !std::holds_alternative<Granted>(*reply)) co_return false;
  }
  co_return true;
}

class PostgresNotes : public PostgresReplicas {
 protected:
  PostgresNotes() : PostgresReplicas(quick()) {}

  long count(const std::string& what) { return std::stol(server_.sql("SELECT count(*) " + what)); }
  /// The notes that are no connection's last.
  long overtaken() {
    return count("FROM semel.writer w WHERE w.fence < semel.noted(w.writer, w.lane)");
  }
  void let_notes_settle() { server_.sql("UPDATE semel.writer SET seen = seen - 60000000"); }
  /// As if nobody had been there for as long.
  void let_notes_age(int days) {
    server_.sql("UPDATE semel.writer SET seen = seen - 86400000000 * " + std::to_string(days));
  }
  static void sweep(Store& store) {
    for (auto swept = run(store.sweep(100)); swept.value().more;) swept = run(store.sweep(100));
  }

  /// Pages that one more claim touches on the connection that claimed last, as the connections of a
  /// store ask: plans are made by then.
  long pages_of_a_claim() {
    const std::string claim =
        "SELECT c.reply FROM semel.claim((SELECT store_id FROM semel.store), w, l, l, f, 0,"
        " t + 60000000, t + 60000000, false, KEY, '\\x02', '\\x03', NULL, NULL, NULL, 'EFFECTFUL',"
        " 'tenant', 'route', 30000000, 60, 60, NULL, NULL, NULL, NULL, NULL, NULL, NULL) c";
    // Each is rolled back with what stands around it: only how it looks and writes is wanted.
    std::string script = "SELECT * FROM semel.meet(NULL, 'x', '{}', '{}');";
    for (int n = 0; n < 4; ++n) {
      const std::string key = "'\\x0" + std::to_string(n) + "'";
      std::string one = std::regex_replace(claim, std::regex("KEY"), key);
      const std::string last = "(SELECT COLUMN FROM semel.writer ORDER BY fence DESC LIMIT 1)";
      const auto column = [&](const char* name) {
        return std::regex_replace(last, std::regex("COLUMN"), name);
      };
      one = std::regex_replace(one, std::regex(" w, l, l, f,"),
                               " " + column("writer") + ", " + column("lane") + ", " +
                                   column("lane") + ", " + column("fence") + ",");
      one = std::regex_replace(one, std::regex(" t \\+"), " semel.clock() +");
      script += (n == 3 ? "EXPLAIN (ANALYZE, BUFFERS) " : "") + one + ";";
    }
    const std::string told = server_.sql("BEGIN;" + script + "ROLLBACK");
    static const std::regex kBuffers("Buffers: shared( hit=([0-9]+))?( read=([0-9]+))?");
    std::smatch found;
    EXPECT_TRUE(std::regex_search(told, found, kBuffers)) << told;
    EXPECT_NE(told.find("granted"), std::string::npos) << told;
    long pages = 0;
    for (const std::size_t group : {2u, 4u}) {
      if (found[group].matched) pages += std::stol(found[group].str());
    }
    return pages;
  }
};

TEST_F(PostgresNotes, AClaimTouchesNoMorePagesForAllThatAnOldTransactionKeeps) {
  Store& store = start("one");
  ASSERT_TRUE(run(claim_many(store, 0, 400)));
  const long before = pages_of_a_claim();
  PgSession reader(options(""));
  reader.run(
      "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id();"
      "SELECT count(*) FROM semel.store");
  for (std::uint64_t round = 1; round <= 8; ++round) {
    ASSERT_TRUE(run(claim_many(store, round * 1'000, 1'000)));
    let_notes_settle();
    sweep(store);
    server_.sql("VACUUM semel.writer");
  }
  // Each index may have grown by a level.
  EXPECT_LE(pages_of_a_claim(), before + 12);
  EXPECT_EQ(count("FROM semel.record"), 8'400);
  reader.run("ROLLBACK");
}

TEST_F(PostgresNotes, WhatWasOvertakenGoesInBoundedBatchesAndTheLastOfEachConnectionStays) {
  Store& store = start("one");
  ASSERT_TRUE(run(claim_many(store, 0, 500)));
  const std::string last = server_.sql(
      "SELECT string_agg(n::text, ',' ORDER BY n) FROM"
      " (SELECT max(fence) AS n FROM semel.writer GROUP BY writer, lane) m");
  const long before = overtaken();
  server_.sql("UPDATE semel.writer SET seen = semel.clock()");
  sweep(store);
  EXPECT_EQ(overtaken(), before) << "a lower one may still be on its way";
  let_notes_settle();
  EXPECT_TRUE(run(store.sweep(10)).value().more);
  EXPECT_GE(overtaken(), before - 80) << "a batch, and no more: eight notes for each record";
  EXPECT_LT(overtaken(), before);
  sweep(store);
  EXPECT_EQ(overtaken(), 0);
  EXPECT_EQ(server_.sql("SELECT string_agg(fence::text, ',' ORDER BY fence) FROM semel.writer"),
            last);
  granted(store, request_of(1'000, 1'000));
  EXPECT_FALSE(run(store.health()).suspect);
}

TEST_F(PostgresNotes, AConnectionThatWasIdleForALongTimeKeepsOneNoteAgainAfterItsNextClaims) {
  Store& store = start("one");
  ASSERT_TRUE(run(claim_many(store, 0, 20)));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    let_notes_settle();
    sweep(store);
    EXPECT_EQ(overtaken(), 0);
    EXPECT_EQ(count("FROM semel.writer"), 4);
    ASSERT_TRUE(run(claim_many(store, round * 100, 7)));
  }
}

/// As where the answer to its first asking was lost, and the sweep has passed it since.
TEST_F(PostgresNotes, AClaimThatIsFoundAgainByItsTokenLeavesNoNoteBehind) {
  Store& taker = start("taker");
  Store& finder = start("finder");
  ASSERT_TRUE(run(claim_many(finder, 100, 8)));
  const Attempt early = granted(taker, request_of(1, 1));
  ASSERT_TRUE(run(claim_many(finder, 200, 8)));
  const Attempt late = granted(taker, request_of(2, 2));
  let_notes_settle();
  sweep(taker);
  EXPECT_EQ(granted(finder, request_of(1, 1)).fence, early.fence);
  EXPECT_EQ(granted(finder, request_of(2, 2)).fence, late.fence);
  ASSERT_TRUE(run(claim_many(finder, 300, 8)));
  let_notes_settle();
  sweep(taker);
  EXPECT_EQ(overtaken(), 0);
  EXPECT_FALSE(run(finder.health()).suspect);
}

TEST_F(PostgresNotes, OfAProcessThatIsLongGoneNothingIsNoted) {
  Store& gone = start("gone");
  ASSERT_TRUE(run(claim_many(gone, 0, 20)));
  end(gone);
  let_notes_age(29);
  Store& store = start("one");
  granted(store, request_of(100, 100));
  let_notes_settle();
  sweep(store);
  EXPECT_EQ(count("FROM semel.writer"), 4 + 1) << "it may come back";
  let_notes_age(2);
  sweep(store);
  EXPECT_EQ(count("FROM semel.writer"), 1) << "this one was here meanwhile";
}

TEST_F(PostgresNotes, AProcessThatWasAwayForLongHasLostNothing) {
  Store& before = start("one");
  const Attempt told = granted(before, request_of(1, 1));
  end(before);
  Store& other = start("other");
  granted(other, request_of(2, 2));
  let_notes_age(31);
  sweep(other);
  ASSERT_EQ(count("FROM semel.writer WHERE fence = " + std::to_string(told.fence.value)), 0);
  Store& back = start("one");
  EXPECT_FALSE(run(back.health()).suspect);
  granted(back, request_of(3, 3));
  granted(other, request_of(4, 4));
  EXPECT_FALSE(run(back.health()).suspect);
  EXPECT_FALSE(run(other.health()).suspect);
}

TEST_F(PostgresNotes, AClaimThatIsLostAfterTheLongAbsenceIsMissedLikeAnyOther) {
  Store& store = start("one");
  granted(store, request_of(1, 1));
  sweep(store);
  let_notes_age(31);
  sweep(store);
  ASSERT_EQ(count("FROM semel.writer"), 0);
  server_.back_up();
  granted(store, request_of(2, 2));
  server_.restore();
  EXPECT_EQ(claim(store, request_of(3, 3)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresNotes, AProcessThatLivesSaysSoOfConnectionsThatItMakesNoUseOf) {
  Store& store = start("one");
  ASSERT_TRUE(run(claim_many(store, 0, 20)));
  let_notes_age(31);
  sweep(store);  // Its first.
  EXPECT_EQ(count("FROM semel.writer"), 4);
}

TEST_F(PostgresNotes, WhoeverMayMissAClaimForLongerIsNotedForLonger) {
  Store& gone = start("gone");
  granted(gone, request_of(1, 1));
  end(gone);
  Store& store = start();
  ASSERT_TRUE(run(store.adopt_routes({route_today(24h * 90, std::nullopt)})).has_value());
  let_notes_age(89);
  sweep(store);
  EXPECT_EQ(count("FROM semel.writer"), 1);
  let_notes_age(2);
  sweep(store);
  EXPECT_EQ(count("FROM semel.writer"), 0);
}

}  // namespace
}  // namespace semel::testing
