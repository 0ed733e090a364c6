// A Redis that lost claims, that is another one, or whose clock leapt: noticed by the very next
// claim, for all replicas, until somebody has looked at it.

#include "tests/stores/redis_replicas.h"

namespace semel::testing {
namespace {

class RedisLoss : public RedisReplicas {
 protected:
  /// Another store comes in the place of this one, which is kept; and comes back.
  void swap() { redis_.server.command({"SWAPDB", "0", "1"}); }
  void make_anew() {
    redis_.server.command({"FLUSHALL"});
    static_cast<void>(RedisStore::create(options("c"), Execution::CarryOut));
  }
};

TEST_F(RedisLoss, AClaimThatWasLostIsNoticedByTheVeryNextClaim) {
  const Attempt kept = granted(*a_, request_of(1, 1));
  ASSERT_EQ(run(a_->record(kept, response_of(200, "kept"))).value(), WriteReply::Done);
  keep_a_copy();
  const Attempt lost = granted(*a_, request_of(2, 2));
  rewind();
  EXPECT_EQ(claim(*a_, request_of(2, 3)).error(), Fault::StoreSuspect)
      << "the effect of the second attempt may have happened";
  EXPECT_EQ(claim(*b_, request_of(2, 4)).error(), Fault::StoreSuspect)
      << "a replica that lost nothing itself is told too";
  EXPECT_TRUE(is<Completed>(claim(*b_, request_of(1, 5)))) << "what is there is told";
  EXPECT_GT(granted(*b_, idempotent(3, 6)).fence, lost.fence) << "no fence is given twice";
  for (const auto& store : {a_.get(), b_.get()}) {
    const StoreHealth health = run(store->health());
    EXPECT_TRUE(health.suspect);
    EXPECT_NE(health.remark.find("claims are missing"), std::string::npos) << health.remark;
  }
}

TEST_F(RedisLoss, TheWordOfAnOperatorAtOneReplicaCountsForAll) {
  keep_a_copy();
  const Attempt lost = granted(*a_, request_of(1, 1));
  rewind();
  ASSERT_EQ(claim(*a_, request_of(1, 2)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(run(b_->acknowledge()).value());
  EXPECT_FALSE(run(a_->acknowledge()).value()) << "it has been said";
  EXPECT_FALSE(run(a_->health()).suspect);
  EXPECT_GT(granted(*a_, request_of(1, 3)).fence, lost.fence);
  granted(*b_, request_of(2, 4));
  EXPECT_FALSE(run(b_->health()).suspect) << "it is not noticed a second time";
}

TEST_F(RedisLoss, ALossWhileNobodyRanIsNoticedAtTheNextStart) {
  keep_a_copy();
  granted(*a_, request_of(1, 1));
  a_->close();
  a_.reset();
  rewind();
  a_ = open("a");
  EXPECT_TRUE(run(a_->health()).suspect);
  EXPECT_EQ(claim(*b_, request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, ClaimsOfOthersThatWereLostAreNoAlarmOfOurs) {
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  granted(*a_, request_of(3, 3));
  EXPECT_FALSE(run(a_->health()).suspect);
  EXPECT_FALSE(run(b_->health()).suspect);
}

TEST_F(RedisLoss, AStoreThatWasEmptiedGrantsNothingAtAll) {
  granted(*a_, request_of(1, 1));
  redis_.server.command({"FLUSHALL"});
  EXPECT_EQ(claim(*a_, request_of(1, 2)).error(), Fault::StoreSuspect);
  EXPECT_EQ(claim(*b_, idempotent(2, 3)).error(), Fault::StoreSuspect);
  const StoreHealth health = run(b_->health());
  EXPECT_FALSE(health.up);
  EXPECT_TRUE(health.suspect);
  EXPECT_NE(health.remark.find("holds no store of Semel"), std::string::npos) << health.remark;
  try {
    static_cast<void>(open("c"));
    ADD_FAILURE() << "an empty Redis is no store";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("semel store init"), std::string::npos)
        << error.what();
  }
}

TEST_F(RedisLoss, WhatAServerDroppedToMakeRoomMayHaveBeenClaims) {
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  // A while in which it may drop keys, over before anybody looks. What it drops is nobody's claim.
  redis_.server.command({"SET", "of somebody else", "x", "EX", "1000"});
  redis_.server.command({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
  redis_.server.command({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(
      eventually([&] { return redis_.server.command({"EXISTS", "of somebody else"}) == "0"; }));
  redis_.server.command({"CONFIG", "SET", "maxmemory", "0"});
  redis_.server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  std::uint64_t next = 10;
  for (const auto& store : {a_.get(), b_.get()}) {
    EXPECT_TRUE(eventually([&] {
      const auto told = claim(*store, request_of(next, next));
      ++next;
      return told.has_error() && told.error() == Fault::StoreSuspect;
    }));
  }
  EXPECT_NE(run(b_->health()).remark.find("to make room"), std::string::npos);
  EXPECT_TRUE(run(a_->acknowledge()).value());
  EXPECT_TRUE(eventually([&] {
    ++next;
    return is<Granted>(claim(*b_, request_of(next, next)));
  }));
  EXPECT_FALSE(run(open("c")->health()).suspect) << "whoever comes later finds nothing new";
}

TEST_F(RedisLoss, AnotherStoreInItsPlaceIsSuspectUntilAnOperatorSaysSo) {
  granted(*a_, request_of(1, 1));
  make_anew();
  EXPECT_EQ(claim(*a_, request_of(1, 2)).error(), Fault::StoreSuspect);
  EXPECT_EQ(claim(*b_, request_of(1, 3)).error(), Fault::StoreSuspect);
  granted(*b_, idempotent(2, 4));
  EXPECT_TRUE(run(a_->acknowledge()).value());
  granted(*b_, request_of(1, 5));
  a_->close();
  a_.reset();
  a_ = open("a");
  EXPECT_FALSE(run(a_->health()).suspect) << "it is the one that was acknowledged";
}

TEST_F(RedisLoss, AStoreThatIsMadeAnewIsNoticedByWhoeverOnlyLooks) {
  granted(*a_, request_of(1, 1));
  make_anew();
  const StoreHealth health = run(b_->health());
  EXPECT_TRUE(health.up);
  EXPECT_TRUE(health.suspect);
  EXPECT_EQ(claim(*a_, request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, AWordIsAboutWhatIsWrongNowAlsoBeforeAnybodyNoticed) {
  granted(*a_, request_of(1, 1));
  make_anew();
  EXPECT_TRUE(run(a_->acknowledge()).value());
  EXPECT_FALSE(run(b_->health()).suspect);
  granted(*b_, request_of(2, 2));
}

TEST_F(RedisLoss, AStoreThatComesBackInAnothersPlaceIsAnotherToWhoeverHadMetThat) {
  granted(*a_, request_of(1, 1));
  swap();
  static_cast<void>(RedisStore::create(options("c"), Execution::CarryOut));
  EXPECT_TRUE(run(b_->health()).suspect);
  EXPECT_TRUE(run(a_->acknowledge()).value());
  granted(*a_, request_of(2, 2));
  swap();
  EXPECT_TRUE(run(b_->health()).suspect);
  EXPECT_EQ(claim(*b_, request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, TwoStoresThatTakeTurnsAreNoticedEachTime) {
  granted(*a_, request_of(1, 1));
  swap();
  static_cast<void>(RedisStore::create(options("c"), Execution::CarryOut));
  EXPECT_TRUE(run(a_->acknowledge()).value());
  EXPECT_FALSE(run(b_->health()).suspect);
  swap();
  EXPECT_TRUE(run(a_->health()).suspect);
  EXPECT_TRUE(run(a_->acknowledge()).value());
  EXPECT_FALSE(run(b_->health()).suspect);
  granted(*a_, request_of(2, 2));
  swap();
  // No claim was ever told in the second one, and none at all to the other replica.
  EXPECT_TRUE(run(b_->health()).suspect);
  EXPECT_EQ(claim(*a_, request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, TheThirdTurnIsNoticedAlsoByWhoClaimedNothingInTheSecond) {
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  swap();
  static_cast<void>(RedisStore::create(options("c"), Execution::CarryOut));
  EXPECT_TRUE(run(a_->health()).suspect);
  EXPECT_TRUE(run(b_->health()).suspect);
  EXPECT_TRUE(run(b_->acknowledge()).value());
  EXPECT_FALSE(run(a_->health()).suspect);
  b_->close();
  swap();
  EXPECT_TRUE(run(a_->acknowledge()).value());
  granted(*a_, request_of(3, 3));
  swap();
  EXPECT_EQ(claim(*a_, request_of(3, 4)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, AWordCoversNothingOfWhoComesLaterAndWasToldMore) {
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  make_anew();
  EXPECT_TRUE(run(a_->acknowledge()).value());
  granted(*a_, request_of(3, 3));
  EXPECT_EQ(claim(*b_, request_of(2, 4)).error(), Fault::StoreSuspect)
      << "whether it claimed that before or behind the word nobody here can say";
}

TEST_F(RedisLoss, ADoubtThatIsLostWithTheStoreComesAgain) {
  granted(*a_, request_of(1, 1));
  make_anew();
  keep_a_copy();
  EXPECT_TRUE(run(a_->health()).suspect);
  rewind();
  EXPECT_EQ(claim(*a_, request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(RedisLoss, InitLeavesAStoreAsItIs) {
  const std::string before = redis_.server.command({"HGETALL", "{semel}m"});
  const std::string said = RedisStore::create(options("c"), Execution::CarryOut);
  EXPECT_NE(said.find("already"), std::string::npos) << said;
  EXPECT_EQ(redis_.server.command({"HGETALL", "{semel}m"}), before);
}

TEST_F(RedisLoss, InitShowsWhatItWouldDoAndDoesNothing) {
  redis_.server.command({"FLUSHALL"});
  const std::string shown = RedisStore::create(options("c"), Execution::Show);
  EXPECT_NE(shown.find("HSET {semel}m format 1"), std::string::npos) << shown;
  EXPECT_EQ(redis_.server.command({"DBSIZE"}), "0");
}

/// `semel store init` where only the marker is gone.
class RedisMarkerLoss : public RedisReplicas {
 protected:
  std::string init() { return RedisStore::create(options("c"), Execution::CarryOut); }
};

TEST_F(RedisMarkerLoss, InitGivesNoFenceAgainAndKeepsWhatIsThere) {
  const Attempt kept = granted(*a_, request_of(1, 1));
  ASSERT_EQ(run(a_->record(kept, response_of(200, "kept"))).value(), WriteReply::Done);
  const Attempt open_one = granted(*a_, request_of(2, 2));
  redis_.server.command({"DEL", "{semel}m"});
  const std::string shown = RedisStore::create(options("c"), Execution::Show);
  EXPECT_NE(shown.find("fence <above all that were given> suspect"), std::string::npos) << shown;
  EXPECT_EQ(redis_.server.command({"EXISTS", "{semel}m"}), "0");
  const std::string said = init();
  const std::string last = "no fence up to " + std::to_string(open_one.fence.value);
  EXPECT_NE(said.find(last), std::string::npos) << said;
  EXPECT_NE(said.find("suspect until"), std::string::npos) << said;
  // Also for a replica that never knew the store.
  const auto fresh = open("fresh");
  EXPECT_EQ(claim(*fresh, request_of(3, 3)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(is<Completed>(claim(*fresh, request_of(1, 4))));
  EXPECT_TRUE(is<Held>(claim(*fresh, request_of(2, 5))));
  EXPECT_TRUE(run(fresh->acknowledge()).value());
  EXPECT_GT(granted(*fresh, request_of(3, 6)).fence, open_one.fence);
  EXPECT_FALSE(run(fresh->health()).suspect);
  fresh->close();
}

TEST_F(RedisMarkerLoss, TheLastFenceIsKnownAlsoWhereItsRecordIsGone) {
  run(a_->release(granted(*a_, idempotent(1, 1)))).value();
  const Attempt last = granted(*a_, idempotent(2, 2));
  run(a_->release(last)).value();
  redis_.server.command({"DEL", "{semel}m"});
  static_cast<void>(init());
  EXPECT_GT(granted(*a_, idempotent(3, 3)).fence, last.fence);
}

TEST_F(RedisMarkerLoss, PartsOfAStoreOfWhichNoFenceIsKnownAreRefused) {
  granted(*a_, request_of(1, 1));
  redis_.server.command({"DEL", "{semel}m", "{semel}o"});
  try {
    static_cast<void>(init());
    ADD_FAILURE() << "which fences were given is not known";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("which fences were given is not known"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(redis_.server.command({"EXISTS", "{semel}m"}), "0");
}

TEST_F(RedisMarkerLoss, TheSweepMakesNoMarker) {
  ClaimRequest brief = request_of(1, 1);
  brief.retention = 60s;
  run(a_->record(granted(*a_, brief), response_of(200, "kept"))).value();
  redis_.server.command({"DEL", "{semel}m"});
  clock_.advance(2min);
  EXPECT_EQ(run(a_->sweep(100)).error(), Fault::StoreSuspect);
  EXPECT_EQ(redis_.server.command({"EXISTS", "{semel}m"}), "0");
}

/// The server's clock is not that of the replicas.
class RedisLeap : public RedisReplicas {
 protected:
  RedisLeap() {
    a_->close();
    a_ = std::make_unique<RedisStore>(options("c"), ours_.clock());
  }
  void both_pass(std::chrono::nanoseconds span) {
    clock_.advance(span);
    ours_.advance(span);
  }
  MovedClock ours_;
};

TEST_F(RedisLeap, AClockThatLeapsEndsNoLeaseAndNoWindow) {
  ClaimRequest brief = request_of(1, 1);
  brief.retention = 60s;
  run(a_->record(granted(*a_, brief), response_of(200, "kept"))).value();
  const Attempt holder = granted(*a_, request_of(2, 2));
  clock_.advance(1h);
  EXPECT_TRUE(is<Completed>(claim(*a_, brief)));
  EXPECT_TRUE(is<Held>(claim(*a_, request_of(2, 3))));
  const auto reader = run(a_->mark_indeterminate(holder, IndeterminateReason::OwnerLost, {}));
  EXPECT_EQ(reader.value(), WriteReply::Stale);
  const SweepReport swept = run(a_->sweep(100)).value();
  EXPECT_EQ(swept.expired + swept.owner_lost, 0u);
  EXPECT_EQ(claim(*a_, request_of(3, 4)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(run(a_->health()).suspect);
  EXPECT_EQ(run(a_->record(holder, response_of(200, "done"))).value(), WriteReply::Done);
}

TEST_F(RedisLeap, OnceAnOperatorHasLookedTheClockCountsAsItIs) {
  ClaimRequest brief = request_of(1, 1);
  brief.retention = 60s;
  run(a_->record(granted(*a_, brief), response_of(200, "kept"))).value();
  clock_.advance(1h);
  ASSERT_EQ(claim(*a_, request_of(3, 2)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(run(a_->acknowledge()).value());
  brief.token = id_of<ClaimToken>(3);
  granted(*a_, brief);
  EXPECT_FALSE(run(a_->health()).suspect);
  both_pass(10min);
  granted(*a_, request_of(4, 5));
  EXPECT_FALSE(run(a_->health()).suspect) << "it goes on from where it was acknowledged";
}

TEST_F(RedisLeap, AWordAtAnotherReplicaIsEnough) {
  granted(*a_, request_of(1, 1));
  clock_.advance(1h);
  ASSERT_EQ(claim(*a_, request_of(2, 2)).error(), Fault::StoreSuspect);
  // Its own clock went along: to it nothing leapt, and it passes the word on.
  EXPECT_TRUE(run(b_->acknowledge()).value());
  EXPECT_TRUE(is<Granted>(claim(*a_, request_of(2, 3))));
  EXPECT_FALSE(run(a_->health()).suspect);
}

}  // namespace
}  // namespace semel::testing
