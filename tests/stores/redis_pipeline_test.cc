#include "stores/redis_pipeline.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;
using Told = RedisCall::Told;

const RedisCall::Clock::time_point kNoon = RedisCall::Clock::time_point{} + 24h;

/// Calls that nobody waits for: their verdict is looked at.
class RedisPipelineTest : public ::testing::Test {
 protected:
  RedisCall& call(std::string_view word, Told told = Told::AtOnce,
                  RedisCall::Clock::time_point until = kNoon) {
    RedisCall& made = calls.emplace_back();
    made.words = {word};
    made.told = told;
    made.until = until;
    return made;
  }
  static std::string wire(std::string_view word) {
    return "*1\r\n$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  }
  std::deque<RedisCall> calls;
  RedisPipeline alone{{0, 0ms}};
  RedisPipeline replicated{{2, 400ms}};
};

TEST_F(RedisPipelineTest, WhatWaitsLeavesAsOnePieceInOrder) {
  EXPECT_FALSE(alone.has_more());
  alone.add(call("ONE"));
  alone.add(call("TWO"));
  EXPECT_TRUE(alone.has_more());
  EXPECT_EQ(alone.take(), wire("ONE") + wire("TWO"));
  EXPECT_FALSE(alone.has_more());
}

TEST_F(RedisPipelineTest, AnswersBelongToTheCallsInTheirOrderHoweverTheyArrive) {
  RedisCall& one = call("ONE");
  RedisCall& two = call("TWO");
  alone.add(one);
  alone.add(two);
  static_cast<void>(alone.take());
  const std::string answers = "+first\r\n:2\r\n";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(one.is_settled, i > 7) << i;
    ASSERT_TRUE(alone.feed(std::string_view(answers).substr(i, 1)));
  }
  EXPECT_EQ(one.reply->text, "first");
  EXPECT_EQ(two.reply->integer, 2);
  EXPECT_TRUE(alone.is_idle());
}

TEST_F(RedisPipelineTest, AnAnswerThatNobodyAskedForBreaksIt) {
  EXPECT_FALSE(alone.feed("+x\r\n"));
}

TEST_F(RedisPipelineTest, NoAnswerIsTheFaultThatSaysWhetherAByteMayHaveLeft) {
  RedisCall& left = call("LEFT");
  RedisCall& partly = call("PARTLY");
  RedisCall& not_left = call("NOT");
  RedisCall& unsent = call("UNSENT");
  alone.add(left);
  alone.add(partly);
  alone.add(not_left);
  static_cast<void>(alone.take());
  alone.wrote(wire("LEFT").size() + 1);
  alone.add(unsent);
  alone.fail();
  EXPECT_EQ(left.reply.error(), Fault::StoreTimeout);
  EXPECT_EQ(partly.reply.error(), Fault::StoreTimeout);
  EXPECT_EQ(not_left.reply.error(), Fault::StoreUnreachable);
  EXPECT_EQ(unsent.reply.error(), Fault::StoreUnreachable);
  EXPECT_TRUE(alone.is_idle());
}

TEST_F(RedisPipelineTest, OneWaitFollowsEachFlushAndItsCallsAreToldWhenItIsMet) {
  RedisCall& one = call("ONE", Told::Replicated);
  RedisCall& two = call("TWO", Told::Replicated);
  replicated.add(one);
  replicated.add(two);
  EXPECT_EQ(replicated.take(),
            wire("ONE") + wire("TWO") + "*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n400\r\n");
  ASSERT_TRUE(replicated.feed("+1\r\n+2\r\n"));
  EXPECT_FALSE(one.is_settled);
  EXPECT_FALSE(two.is_settled);
  ASSERT_TRUE(replicated.feed(":2\r\n"));
  EXPECT_EQ(one.reply->text, "1");
  EXPECT_EQ(two.reply->text, "2");
}

TEST_F(RedisPipelineTest, FewerReplicasThanAskedForAreATimeoutForTheWholeFlush) {
  RedisCall& one = call("ONE", Told::Replicated);
  RedisCall& two = call("TWO", Told::Replicated);
  replicated.add(one);
  replicated.add(two);
  static_cast<void>(replicated.take());
  ASSERT_TRUE(replicated.feed("+1\r\n+2\r\n:1\r\n"));
  EXPECT_EQ(one.reply.error(), Fault::StoreTimeout);
  EXPECT_EQ(two.reply.error(), Fault::StoreTimeout);
  // It was answered: nothing of it is under way any more.
  EXPECT_TRUE(one.is_answered);
}

TEST_F(RedisPipelineTest, AWaitThatIsRefusedIsNotMet) {
  RedisCall& one = call("ONE", Told::Replicated);
  replicated.add(one);
  static_cast<void>(replicated.take());
  ASSERT_TRUE(replicated.feed("+1\r\n-ERR WAIT cannot be used with replica instances\r\n"));
  EXPECT_EQ(one.reply.error(), Fault::StoreTimeout);
}

TEST_F(RedisPipelineTest, ARefusalReportsNothingAndIsToldAtOnce) {
  RedisCall& one = call("ONE", Told::Replicated);
  RedisCall& own = call("OWN", Told::Replicated);
  replicated.add(one);
  replicated.add(own);
  static_cast<void>(replicated.take());
  ASSERT_TRUE(replicated.feed("-NOSCRIPT no matching script\r\n-SUSPECT says the script\r\n"));
  EXPECT_EQ(one.reply->code(), "NOSCRIPT");
  EXPECT_FALSE(own.is_settled);
  ASSERT_TRUE(replicated.feed(":2\r\n"));
  EXPECT_EQ(own.reply->code(), "SUSPECT");
}

TEST_F(RedisPipelineTest, AnAnswerWhoseReplicasWereNeverHeardOfIsATimeout) {
  RedisCall& one = call("ONE", Told::Replicated);
  replicated.add(one);
  static_cast<void>(replicated.take());
  replicated.wrote(1'000);
  ASSERT_TRUE(replicated.feed("+1\r\n"));
  replicated.fail();
  EXPECT_EQ(one.reply.error(), Fault::StoreTimeout);
}

TEST_F(RedisPipelineTest, WhatIsAskedWhileTwoFlushesWaitSharesTheNextOne) {
  for (const char* word : {"ONE", "TWO"}) {
    replicated.add(call(word, Told::Replicated));
    EXPECT_NE(replicated.take(), "");
  }
  RedisCall& three = call("THREE", Told::Replicated, kNoon - 1h);
  replicated.add(three);
  replicated.add(call("FOUR", Told::Replicated));
  EXPECT_FALSE(replicated.has_more());
  EXPECT_EQ(replicated.take(), "");
  ASSERT_TRUE(replicated.feed("+1\r\n:2\r\n"));
  EXPECT_TRUE(replicated.has_more());
  EXPECT_TRUE(replicated.take().starts_with(wire("THREE") + wire("FOUR") + "*3\r\n$4\r\nWAIT"));
}

TEST_F(RedisPipelineTest, OneThatCouldNotLeaveInTimeChangedNothing) {
  RedisCall& sent = call("SENT", Told::AtOnce, kNoon - 2h);
  alone.add(sent);
  static_cast<void>(alone.take());
  RedisCall& early = call("EARLY", Told::AtOnce, kNoon - 1h);
  RedisCall& late = call("LATE", Told::AtOnce, kNoon);
  alone.add(late);
  alone.add(early);
  EXPECT_EQ(alone.first_end(), kNoon - 2h);
  EXPECT_EQ(alone.first_end_under_way(), kNoon - 2h);
  alone.expire_unsent(kNoon - 1h);
  EXPECT_EQ(early.reply.error(), Fault::StoreUnreachable);
  EXPECT_TRUE(early.is_settled);
  EXPECT_FALSE(late.is_settled);
  EXPECT_FALSE(sent.is_settled);
  EXPECT_EQ(alone.take(), wire("LATE"));
}

TEST_F(RedisPipelineTest, AskingGoesRightBeforeItsCallAndItsOwnAnswerIsNobodys) {
  RedisCall& one = call("ONE");
  one.asking = true;
  alone.add(one);
  EXPECT_EQ(alone.take(), wire("ASKING") + wire("ONE"));
  ASSERT_TRUE(alone.feed("+OK\r\n"));
  EXPECT_FALSE(one.is_settled);
  ASSERT_TRUE(alone.feed("+1\r\n"));
  EXPECT_EQ(one.reply->text, "1");
}

}  // namespace
}  // namespace semel
