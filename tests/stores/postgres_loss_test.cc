// A PostgreSQL that has lost claims, or whose clock has leapt: noticed, and never taken for
// permission.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

class PostgresLoss : public PostgresReplicas {
 protected:
  /// Another store in the place of this one, which is kept.
  void put_away(const std::string& as) { server_.sql("ALTER SCHEMA semel RENAME TO semel_" + as); }
  void put_back(const std::string& which) {
    server_.sql("ALTER SCHEMA semel_" + which + " RENAME TO semel");
  }
  void put_new() { static_cast<void>(init_store(options(""))); }
  bool is_suspect(Store& store) {
    return eventually([&] { return run(store.health()).suspect; });
  }
  void make_anew() {
    server_.sql("DROP SCHEMA semel CASCADE");
    static_cast<void>(init_store(options("")));
  }
};

TEST_F(PostgresLoss, ARestoredOlderCopyIsNoticedByTheVeryNextClaimOfWhoWasToldMore) {
  Store& store = start("one");
  granted(store, request_of(1, 1));
  server_.back_up();
  granted(store, request_of(2, 2));
  server_.restore();
  const auto lost = claim(store, request_of(2, 3));
  ASSERT_TRUE(lost.has_error()) << "the claim of that key is in no copy any more";
  EXPECT_EQ(lost.error(), Fault::StoreSuspect);
  EXPECT_TRUE(is<Held>(claim(store, request_of(1, 4)))) << "what is there is told, as ever";
  auto harmless = request_of(3, 5);
  harmless.policy = Policy::Idempotent;
  EXPECT_TRUE(is<Granted>(claim(store, harmless)));
  EXPECT_TRUE(is_suspect(store));
}

TEST_F(PostgresLoss, TheSuspicionIsOfAllReplicasAndEndsWithAnOperatorsWord) {
  Store& knowing = start("knowing");
  Store& newcomer = start("newcomer");
  server_.back_up();
  const Attempt lost = granted(knowing, request_of(1, 1));
  server_.restore();
  EXPECT_EQ(claim(knowing, request_of(2, 2)).error(), Fault::StoreSuspect);
  EXPECT_EQ(claim(newcomer, request_of(3, 3)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(asked_until_answered([&] { return newcomer.acknowledge(); }).value());
  EXPECT_FALSE(run(newcomer.acknowledge()).value()) << "there is nothing left to acknowledge";
  const Attempt next = granted(knowing, request_of(1, 4));
  EXPECT_GT(next.fence, lost.fence) << "no fence is given twice";
  granted(newcomer, request_of(3, 5));
  EXPECT_FALSE(run(knowing.health()).suspect);
}

TEST_F(PostgresLoss, ARestoredOlderCopyIsNoticedAtTheStartOfAProcessThatKnewMore) {
  server_.back_up();
  Store& before = start("one");
  granted(before, request_of(1, 1));
  end(before);
  server_.restore();
  Store& store = start("one");
  EXPECT_TRUE(run(store.health()).suspect);
  EXPECT_EQ(claim(store, request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, ARestartOfProcessAndServerIsNoLoss) {
  Store& before = start("one");
  granted(before, request_of(1, 1));
  end(before);
  server_.kill9();
  server_.restart();
  Store& store = start("one");
  EXPECT_FALSE(run(store.health()).suspect);
  EXPECT_TRUE(is<Held>(claim(store, request_of(1, 2))));
  granted(store, request_of(2, 3));
}

TEST_F(PostgresLoss, AnotherStoreUnderTheSameUrlIsSuspect) {
  Store& store = start("one");
  granted(store, request_of(1, 1));
  make_anew();
  EXPECT_EQ(claim(store, request_of(1, 2)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(asked_until_answered([&] { return store.acknowledge(); }).value());
  granted(store, request_of(1, 3));
}

TEST_F(PostgresLoss, AStoreInAnothersPlaceIsAcknowledgedOnceForAllReplicas) {
  Store& one = start("one");
  Store& other = start("other");
  granted(one, request_of(1, 1));
  granted(other, request_of(2, 2));
  make_anew();
  EXPECT_EQ(claim(one, request_of(3, 3)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(run(other.health()).suspect);
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  granted(other, request_of(4, 4));
  end(other);
  granted(start("other"), request_of(5, 5));
  granted(one, request_of(6, 6));
  EXPECT_FALSE(run(one.health()).suspect);
}

TEST_F(PostgresLoss, AStoreThatComesBackInAnothersPlaceIsAnotherToWhoeverHadMetThat) {
  Store& one = start("one");
  Store& other = start("other");
  granted(one, request_of(1, 1));
  put_away("before");
  put_new();
  EXPECT_TRUE(run(other.health()).suspect) << "who only looks notices it too";
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  EXPECT_FALSE(run(other.health()).suspect);
  granted(one, request_of(2, 2));
  put_away("between");
  put_back("before");
  // The other one was never told of a claim in the store between.
  EXPECT_TRUE(run(other.health()).suspect);
  EXPECT_EQ(claim(other, request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, TwoStoresThatTakeTurnsAreNoticedEachTime) {
  Store& one = start("one");
  Store& other = start("other");
  granted(one, request_of(1, 1));
  put_away("first");
  put_new();
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  EXPECT_FALSE(run(other.health()).suspect);
  put_away("second");
  put_back("first");
  EXPECT_TRUE(run(one.health()).suspect);
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  EXPECT_FALSE(run(other.health()).suspect);
  granted(one, request_of(2, 2));
  put_away("first");
  put_back("second");
  // No claim was ever told in the second one, and none at all to the other replica.
  EXPECT_TRUE(run(other.health()).suspect);
  EXPECT_EQ(claim(one, request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, WhoWasToldOfNoClaimNoticesTheThirdTurnToo) {
  Store& one = start("one");
  granted(one, request_of(1, 1));
  put_away("first");
  put_new();
  EXPECT_TRUE(run(one.health()).suspect);
  Store& fresh = start("fresh");
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  end(one);
  EXPECT_FALSE(run(fresh.health()).suspect);
  put_away("second");
  put_back("first");
  EXPECT_TRUE(run(fresh.health()).suspect);
  EXPECT_TRUE(asked_until_answered([&] { return fresh.acknowledge(); }).value());
  granted(fresh, request_of(2, 2));
  put_away("first");
  put_back("second");
  EXPECT_EQ(claim(fresh, request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, AWordWhileNobodyRunsIsKnownToTheProcessOfItsFolder) {
  Store& before = start("one");
  granted(before, request_of(1, 1));
  end(before);
  put_away("first");
  put_new();
  EXPECT_TRUE(acknowledge_store(options("one")).was_suspect);
  Store& second = start("one");
  EXPECT_FALSE(run(second.health()).suspect);
  end(second);
  put_away("second");
  put_back("first");
  EXPECT_EQ(claim(start("one"), request_of(2, 2)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, AWordCoversNothingOfWhoComesLaterAndWasToldMore) {
  Store& one = start("one");
  Store& other = start("other");
  granted(one, request_of(1, 1));
  granted(other, request_of(2, 2));
  end(other);
  make_anew();
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  granted(one, request_of(3, 3));
  EXPECT_EQ(claim(start("other"), request_of(2, 4)).error(), Fault::StoreSuspect)
      << "whether it claimed that before or behind the word nobody here can say";
}

TEST_F(PostgresLoss, ADoubtThatIsLostWithTheStoreComesAgainAlsoBehindARestart) {
  Store& before = start("one");
  granted(before, request_of(1, 1));
  end(before);
  make_anew();
  server_.back_up();
  Store& doubting = start("one");
  EXPECT_TRUE(run(doubting.health()).suspect);
  end(doubting);
  server_.restore();
  EXPECT_EQ(claim(start("one"), request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, AWordIsAboutWhatIsWrongNowAlsoBeforeAnybodyNoticed) {
  Store& one = start("one");
  granted(one, request_of(1, 1));
  make_anew();
  EXPECT_TRUE(asked_until_answered([&] { return one.acknowledge(); }).value());
  granted(one, request_of(2, 2));
  EXPECT_FALSE(run(one.health()).suspect);
}

/// As where the answer to its first asking was lost: it is told now, and can be missed from now on.
TEST_F(PostgresLoss, AClaimThatWasFoundAgainByItsTokenIsMissedLikeOneThatWasTaken) {
  Store& taker = start("taker");
  Store& finder = start("finder");
  granted(finder, request_of(1, 1));
  server_.back_up();
  const Attempt taken = granted(taker, request_of(2, 2));
  EXPECT_EQ(granted(finder, request_of(2, 2)).fence, taken.fence);
  server_.restore();
  const auto lost = claim(finder, request_of(2, 3));
  ASSERT_TRUE(lost.has_error()) << "the claim of that key is in no copy any more";
  EXPECT_EQ(lost.error(), Fault::StoreSuspect);
}

TEST_F(PostgresLoss, AClaimThatIsCarriedOutLongAfterItWasAskedIsNoLeapAndNotMade) {
  Store& store = start("one");
  granted(store, request_of(1, 1));
  for (const char* policy : {"EFFECTFUL", "IDEMPOTENT"}) {
    // Its server stood still for longer than the five seconds that no clock may leap ahead by.
    EXPECT_EQ(server_.sql("SELECT c.reply FROM semel.store s, semel.clock() t, semel.claim("
                          "s.store_id, 'somebody', 0, 0, 0, 0, t - 1000, t - 5000000, false,"
                          " '\\x01', '\\x02', '\\x03', NULL, NULL, NULL, '" +
                          std::string(policy) +
                          "', 'tenant', 'route', 30000000, 60, 60, NULL, NULL, NULL, NULL, NULL,"
                          " NULL, NULL) c"),
              "late");
  }
  EXPECT_FALSE(run(store.health()).suspect);
  granted(store, request_of(2, 2));
}

TEST_F(PostgresLoss, ASchemaThatIsGoneOrEmptyIsNoPermission) {
  Store& store = start();
  server_.sql("DELETE FROM semel.store");
  EXPECT_EQ(run(store.claim(request_of(1, 1))).error(), Fault::StoreUnreachable);
  EXPECT_FALSE(run(store.health()).up);
  EXPECT_THROW(start(), StoreError);
  server_.sql("DROP SCHEMA semel CASCADE");
  EXPECT_TRUE(run(store.claim(request_of(1, 2))).has_error());
  EXPECT_FALSE(run(store.health()).up);
}

Task<bool> claim_while_it_runs(Store& store, std::uint64_t from, std::vector<ClaimRequest>& asked,
                               std::vector<bool>& told) {
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    ClaimRequest request = request_of(from + n, from + n);
    asked.push_back(request);
    const auto reply = co_await store.claim(std::move(request));
    told.push_back(reply && std::holds_alternative<Granted>(*reply));
    if (!reply) co_return true;
  }
  co_return false;
}

TEST_F(PostgresLoss, NoClaimThatWasToldIsLostWhenTheServerIsKilledInMidCommit) {
  constexpr std::uint64_t kWorkers = 4;
  PostgresOptions impatient = options("one");
  impatient.deadline = 1s;
  Store& store = start(impatient);
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::vector<std::vector<ClaimRequest>> asked(kWorkers);
    std::vector<std::vector<bool>> told(kWorkers);
    std::vector<std::thread> workers;
    for (std::uint64_t n = 0; n < kWorkers; ++n) {
      const std::uint64_t from = (round * kWorkers + n) * 10'000;
      workers.emplace_back(
          [&, n, from] { EXPECT_TRUE(run(claim_while_it_runs(store, from, asked[n], told[n]))); });
    }
    // Commits are under way as long as fences rise.
    ASSERT_TRUE(eventually([&] {
      return std::stoi(server_.sql("SELECT last_value FROM semel.fences")) >=
             static_cast<int>(round + 1) * 20;
    }));
    server_.kill9();
    for (auto& worker : workers) worker.join();
    server_.restart();
    for (std::uint64_t n = 0; n < kWorkers; ++n) {
      for (std::size_t i = 0; i < asked[n].size(); ++i) {
        // Its own token finds the claim, or takes the key now: there is one claim either way.
        const auto again = claim(store, asked[n][i]);
        ASSERT_TRUE(is<Granted>(again)) << "told: " << told[n][i];
        ClaimRequest other = asked[n][i];
        other.token = id_of<ClaimToken>(1'000'000'000 + i);
        EXPECT_TRUE(is<Held>(claim(store, other)));
      }
    }
    EXPECT_FALSE(run(store.health()).suspect) << "nothing that was told is lost";
  }
}

TEST_F(PostgresLoss, WhatWasToldBeforeAKillStandsWithItsFence) {
  Store& store = start("one");
  std::vector<Attempt> attempts;
  for (std::uint64_t n = 1; n <= 20; ++n) attempts.push_back(granted(store, request_of(n, n)));
  server_.kill9();
  server_.restart();
  for (std::uint64_t n = 1; n <= 20; ++n) {
    EXPECT_EQ(granted(store, request_of(n, n)).fence, attempts[n - 1].fence);
  }
}

PostgresSetup with_wall(const MovedWall& wall) {
  PostgresSetup setup;
  setup.wall = &wall;
  return setup;
}

/// The wall has to be there before the server, and longer.
struct Wall {
  MovedWall wall;
};

class PostgresClock : private Wall, public PostgresReplicas {
 protected:
  PostgresClock() : PostgresReplicas(with_wall(Wall::wall)) {}
  MovedWall& wall() { return Wall::wall; }
};

TEST_F(PostgresClock, ALeapOfTheServersClockEndsNoWindowAndNoLeaseAndIsSuspect) {
  Store& store = start("one");
  ClaimRequest brief = request_of(1, 1);
  brief.retention = 60s;
  ASSERT_EQ(run(store.record(granted(store, brief), response_of(200, "once"))).value(),
            WriteReply::Done);
  granted(store, request_of(2, 2));
  wall().move_by(2h);
  ClaimRequest again = brief;
  again.token = id_of<ClaimToken>(77);
  EXPECT_TRUE(is<Completed>(claim(store, again))) << "its window has not passed by our clock";
  EXPECT_TRUE(is<Held>(claim(store, request_of(2, 3)))) << "nor has the lease";
  EXPECT_EQ(run(store.claim(request_of(3, 4))).error(), Fault::StoreSuspect);
  EXPECT_EQ(run(store.sweep(100)).value().expired, 0u);
  EXPECT_TRUE(run(store.health()).suspect);
  EXPECT_TRUE(run(store.acknowledge()).value());
  granted(store, request_of(3, 5));
  EXPECT_TRUE(is<Granted>(claim(store, again))) << "the operator says that the clock is right";
}

TEST_F(PostgresClock, BehindALeapAlsoAFreshProcessEndsNothing) {
  Store& old = start("old");
  ClaimRequest brief = request_of(1, 1);
  brief.retention = 60s;
  ASSERT_EQ(run(old.record(granted(old, brief), response_of(200, "once"))).value(),
            WriteReply::Done);
  wall().move_by(2h);
  static_cast<void>(run(old.health()));  // It hears of the leap, and then writes it down.
  EXPECT_TRUE(run(old.health()).suspect);
  Store& fresh = start("fresh");
  EXPECT_EQ(run(fresh.sweep(100)).value().expired, 0u);
  ClaimRequest again = brief;
  again.token = id_of<ClaimToken>(77);
  EXPECT_TRUE(is<Completed>(claim(fresh, again)));
  EXPECT_TRUE(run(fresh.acknowledge()).value());
  EXPECT_EQ(run(fresh.sweep(100)).value().expired, 1u);
}

TEST_F(PostgresClock, AnAcknowledgedLeapIsNoneForTheOtherReplicasEither) {
  Store& one = start("one");
  Store& other = start("other");
  granted(one, request_of(1, 1));
  granted(other, request_of(2, 2));
  wall().move_by(2h);
  EXPECT_EQ(claim(one, request_of(3, 3)).error(), Fault::StoreSuspect);
  EXPECT_EQ(claim(other, request_of(4, 4)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(run(one.acknowledge()).value());
  granted(other, request_of(4, 5));
  EXPECT_FALSE(run(other.health()).suspect);
}

}  // namespace
}  // namespace semel::testing
