// The rows of processes that are gone for good are ended; none of one that is there, and none in
// silence.

#include "tests/stores/redis_replicas.h"

namespace semel::testing {
namespace {

constexpr int kDaysKept = 400;

class RedisWriters : public RedisReplicas {
 protected:
  /// Both replicas look after the store each day.
  void pass_days(int days) {
    for (int day = 0; day < days; ++day) {
      clock_.advance(24h + 1s);
      for (Store* store : {a_.get(), b_.get()}) ASSERT_TRUE(run(store->sweep(100)));
    }
  }
  /// How many processes the store remembers.
  int rows() const { return fields_of("w:"); }
  /// Of how many it knows when they were there last.
  int notes() const { return fields_of("s:"); }
  int fields_of(const std::string& beginning) const {
    const std::string lua =
        "local n = 0 for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do "
        "if string.sub(field, 1, 2) == ARGV[1] then n = n + 1 end end return n";
    return std::stoi(redis_.server.command({"EVAL", lua, "1", "{semel}m", beginning}));
  }
  /// Processes that come, claim and go, each with a folder that nobody keeps.
  void come_and_go(int processes) {
    for (int i = 0; i < processes; ++i) {
      const auto number = static_cast<std::uint64_t>(1'000 + i);
      RedisOptions fleeting = options_on(redis_.server);
      RedisStore store(fleeting, clock_.clock());
      granted(store, request_of(number, number));
      store.close();
    }
  }
};

TEST_F(RedisWriters, ThatAreGoneForGoodAreEndedAndThoseThatAreIdleAreNot) {
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  come_and_go(3);
  ASSERT_EQ(rows(), 5);
  pass_days(kDaysKept);
  EXPECT_EQ(rows(), 5) << "not yet";
  pass_days(3);
  EXPECT_EQ(rows(), 2);
  EXPECT_EQ(notes(), 2);
  granted(*a_, request_of(3, 3));
  granted(*b_, request_of(4, 4));
  EXPECT_FALSE(run(a_->health()).suspect) << run(a_->health()).remark;
}

TEST_F(RedisWriters, ThatComeBackWhenTheirRowHasEndedAreNotBelievedToHaveLostNothing) {
  granted(*a_, request_of(1, 1));
  a_->close();
  a_ = open("other");
  pass_days(kDaysKept + 3);
  ASSERT_EQ(rows(), 0);
  const auto back = open("a");
  EXPECT_EQ(claim(*back, request_of(2, 2)).error(), Fault::StoreSuspect);
  back->close();
}

TEST_F(RedisWriters, ThatClaimAreThereWhetherTheySweepOrNot) {
  const auto busy = open("busy");
  for (int turn = 0; turn < 3; ++turn) {
    const auto number = static_cast<std::uint64_t>(10 + turn);
    granted(*busy, request_of(number, number));
    pass_days(kDaysKept / 2 + 50);
  }
  granted(*busy, request_of(20, 20));
  EXPECT_FALSE(run(busy->health()).suspect);
  busy->close();
}

TEST_F(RedisWriters, AClockThatLeaptPassesOneDay) {
  MovedClock ours;
  a_->close();
  a_ = std::make_unique<RedisStore>(options("a"), ours.clock());
  granted(*a_, request_of(1, 1));
  granted(*b_, request_of(2, 2));
  ASSERT_TRUE(run(a_->sweep(100)));
  ASSERT_TRUE(run(b_->sweep(100)));
  clock_.advance(24h * 800);
  ASSERT_EQ(claim(*a_, request_of(3, 3)).error(), Fault::StoreSuspect);
  ASSERT_TRUE(run(a_->sweep(100)));
  ASSERT_TRUE(run(a_->acknowledge()).value());
  // The one that sweeps first does not end the row of the other.
  for (int sweep = 0; sweep < 3; ++sweep) ASSERT_TRUE(run(a_->sweep(100)));
  EXPECT_EQ(rows(), 2);
  granted(*b_, request_of(4, 4));
}

TEST_F(RedisWriters, AClockThatIsSetBackHoldsNothingUp) {
  come_and_go(1);
  pass_days(2);
  redis_.server.command({"HSET", "{semel}m", "day_ends", "9000000000000000"});
  pass_days(kDaysKept + 3);
  EXPECT_EQ(rows(), 0);
}

TEST_F(RedisWriters, ThatAreManyAreLookedAtInTurns) {
  // Rows as of processes that nobody has ever noted.
  const auto lua =
      "for i = 1, 5000 do redis.call('HSET', KEYS[1], 'w:' .. i, '1') end return "
      "redis.status_reply("
      "'OK')";
  redis_.server.command({"EVAL", lua, "1", "{semel}m"});
  pass_days(1);
  EXPECT_LT(notes(), 5'000) << "not all in one call";
  for (int sweep = 0; sweep < 100; ++sweep) ASSERT_TRUE(run(a_->sweep(100)));
  EXPECT_EQ(notes(), 5'000);
  redis_.server.command({"HSET", "{semel}m", "day", "1000"});
  pass_days(1);
  for (int sweep = 0; sweep < 100; ++sweep) ASSERT_TRUE(run(a_->sweep(100)));
  EXPECT_EQ(rows(), 0);
}

}  // namespace
}  // namespace semel::testing
