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

/// A follower on each of these keys, one after the other, on a worker that hears what is notified.
/// It asks, says that it waits, and asks again at a sign or at the very end.
Task<bool> follow(Store& store, std::uint64_t keys, std::atomic<std::uint64_t>& waits_for,
                  std::chrono::steady_clock::time_point until) {
  for (std::uint64_t key = 1; key <= keys; ++key) {
    for (;;) {
      if (std::chrono::steady_clock::now() >= until) co_return false;
      ClaimRequest request = request_of(key, 100 + key);
      const auto reply = co_await store.claim(std::move(request));
      if (reply && !std::holds_alternative<Held>(*reply)) break;
      if (reply) waits_for = key;
      co_await store.await_change(id_of<IdempotencyKey>(key), until);
    }
  }
  co_return true;
}

TEST_F(PostgresSharing, AFollowerOnAnotherReplicaIsWokenByTheEndOfTheClaim) {
  Store& leader = start("leader");
  Store& follower = start("follower");
  constexpr std::uint64_t kKeys = 3;
  std::vector<Attempt> held;
  for (std::uint64_t key = 1; key <= kKeys; ++key) {
    held.push_back(granted(leader, request_of(key, key)));
  }
  const auto until = std::chrono::steady_clock::now() + 60s;
  std::atomic<std::uint64_t> waits_for{0};
  bool has_seen_all = false;
  std::thread following([&] { has_seen_all = run(follow(follower, kKeys, waits_for, until)); });
  const auto end = [&](std::uint64_t key) {
    const Attempt& holder = held[key - 1];
    if (key == 1) return run(leader.record(holder, response_of(200, "done")));
    if (key == 2) return run(leader.release(holder));
    return run(leader.mark_indeterminate(holder, IndeterminateReason::Cut, std::nullopt));
  };
  for (std::uint64_t key = 1; key <= kKeys; ++key) {
    EXPECT_TRUE(eventually([&] { return waits_for == key; })) << "end " << key - 1 << " unheard";
    EXPECT_EQ(end(key).value(), WriteReply::Done);
  }
  following.join();
  EXPECT_TRUE(has_seen_all) << "the last one went unheard";
  EXPECT_LT(std::chrono::steady_clock::now(), until);
}

}  // namespace
}  // namespace semel::testing
