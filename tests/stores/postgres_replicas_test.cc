// Several processes on one PostgreSQL: who gets a key, who waits for whom, and who is woken.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "stores/pg_session.h"
#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

PostgresSetup without_fsync() {
  PostgresSetup setup;
  setup.settings = {"fsync = off"};
  return setup;
}

class PostgresSharing : public PostgresReplicas {
 protected:
  PostgresSharing() : PostgresReplicas(without_fsync()) {}
};

Task<bool> claim_all(Store& store, std::uint64_t keys, std::uint64_t attempts_from,
                     std::vector<std::atomic<int>>& grants) {
  for (std::uint64_t key = 0; key < keys; ++key) {
    ClaimRequest request = request_of(key, attempts_from + key);
    const auto reply = co_await store.claim(std::move(request));
    if (reply && std::holds_alternative<Granted>(*reply)) grants[key] += 1;
  }
  co_return true;
}

TEST_F(PostgresSharing, TwoReplicasThatRaceForAKeyGetOneGrant) {
  constexpr std::uint64_t kKeys = 5'000;
  Store& one = start("one");
  Store& other = start("other");
  std::vector<std::atomic<int>> grants(kKeys);
  std::vector<std::thread> workers;
  std::uint64_t attempts_from = 1;
  for (Store* store : {&one, &other, &one, &other}) {
    workers.emplace_back([&grants, store, attempts_from] {
      EXPECT_TRUE(run(claim_all(*store, kKeys, attempts_from, grants)));
    });
    attempts_from += kKeys;
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(std::count(grants.begin(), grants.end(), 1), static_cast<std::ptrdiff_t>(kKeys));
}

TEST_F(PostgresSharing, ALockOnOneRecordHoldsUpThatKeyAlone) {
  PostgresOptions impatient = options("");
  impatient.deadline = 1s;
  Store& store = start(impatient);
  const Attempt held = granted(store, request_of(1, 1));
  const Attempt free = granted(store, request_of(2, 2));
  PgSession session(options(""));
  session.run("BEGIN; SELECT FROM semel.record WHERE fence = " + std::to_string(held.fence.value) +
              " FOR UPDATE");
  const auto refused = run(store.record(held, response_of(200, "held up")));
  ASSERT_TRUE(refused.has_error()) << "somebody else has its row";
  EXPECT_EQ(refused.error(), Fault::StoreUnreachable) << "the server gave up, and changed nothing";
  EXPECT_EQ(run(store.record(free, response_of(200, "done"))).value(), WriteReply::Done);
  EXPECT_TRUE(is<Granted>(run(store.claim(request_of(3, 3)))));
  session.run("ROLLBACK");
  EXPECT_EQ(run(store.record(held, response_of(200, "at last"))).value(), WriteReply::Done);
}

TEST_F(PostgresSharing, ASweepLeavesWhatSomebodyHolds) {
  Store& store = start();
  for (std::uint64_t key = 1; key <= 5; ++key) {
    ClaimRequest brief = request_of(key, key);
    brief.lease = 1ms;
    brief.retention = 0s;
    const Attempt holder = granted(store, brief);
    ASSERT_EQ(run(store.record(holder, response_of(200, "over"))).value(), WriteReply::Done);
  }
  PgSession session(options(""));
  session.run("BEGIN; SELECT FROM semel.record ORDER BY fence LIMIT 1 FOR UPDATE");
  const auto swept = run(store.sweep(100));
  ASSERT_TRUE(swept.has_value()) << "it waits for nobody";
  EXPECT_EQ(swept->expired, 4u);
  session.run("ROLLBACK");
  EXPECT_EQ(run(store.sweep(100)).value().expired, 1u);
}

TEST_F(PostgresSharing, OneReplicaSweepsAtATime) {
  Store& store = start();
  ClaimRequest brief = request_of(1, 1);
  brief.lease = 1ms;
  brief.retention = 0s;
  ASSERT_EQ(run(store.record(granted(store, brief), response_of(200, "over"))).value(),
            WriteReply::Done);
  PgSession another(options(""));
  another.run("BEGIN; SELECT pg_advisory_xact_lock(semel.lock_space(), semel.housekeeping())");
  EXPECT_EQ(run(store.sweep(100)).value().expired, 0u) << "another one is at it";
  another.run("ROLLBACK");
  EXPECT_EQ(run(store.sweep(100)).value().expired, 1u);
}

/// What a follower does: it waits for a sign, looks again, and polls at the very end alone.
Task<bool> sees_the_end(Store& store, ClaimRequest request,
                        std::chrono::steady_clock::time_point until) {
  while (std::chrono::steady_clock::now() < until) {
    ClaimRequest again = request;
    const auto reply = co_await store.claim(std::move(again));
    if (reply && !std::holds_alternative<Held>(*reply)) co_return true;
    co_await store.await_change(request.key, until);
  }
  co_return false;
}

TEST_F(PostgresSharing, AFollowerOnAnotherReplicaIsWokenByTheEndOfTheClaim) {
  Store& leader = start("leader");
  Store& follower = start("follower");
  const auto end = [&](std::uint64_t number, const Attempt& holder) {
    if (number == 1) return run(leader.record(holder, response_of(200, "done")));
    if (number == 2) return run(leader.release(holder));
    return run(leader.mark_indeterminate(holder, IndeterminateReason::Cut, std::nullopt));
  };
  for (std::uint64_t number = 1; number <= 3; ++number) {
    const Attempt holder = granted(leader, request_of(number, number));
    const auto until = std::chrono::steady_clock::now() + 60s;
    std::atomic<bool> is_over{false};
    bool has_seen_it = false;
    std::thread waiting([&] {
      has_seen_it = run(sees_the_end(follower, request_of(number, 100 + number), until));
      is_over = true;
    });
    EXPECT_TRUE(eventually([&] {
      return server_.sql("SELECT watched FROM semel.record WHERE fence = " +
                         std::to_string(holder.fence.value)) == "t" &&
             server_.sql("SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") ==
                 "t";
    }));
    EXPECT_EQ(end(number, holder).value(), WriteReply::Done);
    EXPECT_TRUE(eventually([&] { return is_over.load(); })) << "end " << number << " went unheard";
    waiting.join();
    EXPECT_TRUE(has_seen_it);
  }
}

}  // namespace
}  // namespace semel::testing
