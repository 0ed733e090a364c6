// Several processes on one PostgreSQL: who gets a key, who waits for whom, and who is woken.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <stdexcept>
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
  const SweepReport beside = run(store.sweep(100)).value();
  EXPECT_EQ(beside.expired, 0u) << "another one is at it";
  EXPECT_TRUE(beside.turned_away) << "so that it is not known whether there are more";
  another.run("ROLLBACK");
  const SweepReport alone = run(store.sweep(100)).value();
  EXPECT_EQ(alone.expired, 1u);
  EXPECT_FALSE(alone.turned_away);
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

/// Each of these ends a claim that a follower waits for. @return whether it was done.
using End = bool (*)(PostgresServer& server, Store& leader, const Attempt& held);

bool let_lease_end(PostgresServer& server, const Attempt& held) {
  server.sql("UPDATE semel.record SET lease_end = 0, due = 0 WHERE fence = " +
             std::to_string(held.fence.value));
  return true;
}

constexpr End kEnds[] = {
    [](PostgresServer&, Store& leader, const Attempt& held) {
      return run(leader.record(held, response_of(200, "done"))).value() == WriteReply::Done;
    },
    [](PostgresServer&, Store& leader, const Attempt& held) {
      return run(leader.release(held)).value() == WriteReply::Done;
    },
    [](PostgresServer&, Store& leader, const Attempt& held) {
      return run(leader.mark_indeterminate(held, IndeterminateReason::Cut, std::nullopt)).value() ==
             WriteReply::Done;
    },
    [](PostgresServer& server, Store& leader, const Attempt& held) {
      Resolution word;
      word.decision = Resolution::Decision::Happened;
      const std::uint64_t number = held.fence.value;  // As the test makes its requests.
      return let_lease_end(server, held) &&
             run(leader.resolve(request_of(number, number).reference, word)).value() ==
                 ResolveReply::Done;
    },
    [](PostgresServer& server, Store& leader, const Attempt& held) {
      return let_lease_end(server, held) && run(leader.sweep(100)).value().owner_lost == 1;
    },
};

TEST_F(PostgresSharing, AFollowerOnAnotherReplicaIsWokenByTheEndOfTheClaim) {
  Store& leader = start("leader");
  Store& follower = start("follower");
  constexpr std::uint64_t kKeys = std::size(kEnds);
  std::vector<Attempt> held;
  for (std::uint64_t key = 1; key <= kKeys; ++key) {
    held.push_back(granted(leader, request_of(key, key)));
    ASSERT_EQ(held.back().fence.value, key);
  }
  const auto until = std::chrono::steady_clock::now() + 60s;
  std::atomic<std::uint64_t> waits_for{0};
  bool has_seen_all = false;
  std::thread following([&] { has_seen_all = run(follow(follower, kKeys, waits_for, until)); });
  for (std::uint64_t key = 1; key <= kKeys; ++key) {
    EXPECT_TRUE(eventually([&] { return waits_for == key; })) << "end " << key - 1 << " unheard";
    EXPECT_TRUE(kEnds[key - 1](server_, leader, held[key - 1])) << key;
    static_cast<void>(run(leader.health()));  // Its worker goes on, as one does that serves.
  }
  following.join();
  EXPECT_TRUE(has_seen_all) << "the last one went unheard";
  EXPECT_LT(std::chrono::steady_clock::now(), until);
}

PostgresSetup with_prepared_transactions() {
  PostgresSetup setup = without_fsync();
  setup.settings.emplace_back("max_prepared_transactions = 10");
  return setup;
}

class PostgresSilence : public PostgresReplicas {
 protected:
  PostgresSilence() : PostgresReplicas(with_prepared_transactions()) {}

  /// PostgreSQL prepares no transaction that has notified.
  bool notifies(const std::string& statement) {
    try {
      told_ = server_.sql("BEGIN; " + statement + "; PREPARE TRANSACTION 'one'");
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("NOTIFY"), std::string::npos) << error.what();
      return true;
    }
    server_.sql("ROLLBACK PREPARED 'one'");
    return false;
  }

  std::string told_;
};

/// The lock of its commit is one for all databases of a server: no transition takes it.
TEST_F(PostgresSilence, NoTransitionNotifiesAndEachSaysWhoIsToBeWoken) {
  EXPECT_TRUE(notifies("SELECT semel.wake(ARRAY['\\x01'::bytea])"));
  Store& store = start();
  granted(store, request_of(1, 1));
  server_.sql("UPDATE semel.record SET watched = true");
  const std::string attempt = " FROM semel.record r, semel.";
  const std::string latest = "semel.clock() + 60000000, true";
  const std::string named = "(r.key, r.token, r.fence, ";
  EXPECT_FALSE(notifies("SELECT c.reply, c.watched" + attempt + "record" + named + "200, NULL, " +
                        latest + ") c"));
  EXPECT_EQ(told_, "done|t");
  EXPECT_FALSE(
      notifies("SELECT c.reply, c.watched" + attempt + "release" + named + latest + ") c"));
  EXPECT_EQ(told_, "done|t");
  EXPECT_FALSE(notifies("SELECT c.reply, c.watched" + attempt + "mark" + named + "'cut', NULL, " +
                        latest + ") c"));
  EXPECT_EQ(told_, "done|t");
  server_.sql("UPDATE semel.record SET lease_end = 0, due = 0");
  EXPECT_FALSE(notifies("SELECT c.reply, c.watched = r.key" + attempt +
                        "resolve(r.reference, true, 200, NULL, " + latest + ") c"));
  EXPECT_EQ(told_, "done|t");
  EXPECT_FALSE(notifies("SELECT c.owner_lost, c.watched = ARRAY[r.key]" + attempt + "sweep(100, " +
                        latest + ", NULL, NULL, NULL) c"));
  EXPECT_EQ(told_, "1|t");
}

TEST_F(PostgresSilence, ARepeatedEndSaysItAgainForTheFirstAnswerMayHaveBeenLost) {
  Store& store = start();
  const Attempt held = granted(store, request_of(1, 1));
  server_.sql("UPDATE semel.record SET watched = true");
  ASSERT_EQ(run(store.record(held, response_of(200, "done"))).value(), WriteReply::Done);
  EXPECT_EQ(server_.sql("SELECT c.reply, c.watched FROM semel.record r,"
                        " semel.record(r.key, r.token, r.fence, 200, NULL,"
                        " semel.clock() + 60000000, true) c"),
            "done|t");
}

}  // namespace
}  // namespace semel::testing
