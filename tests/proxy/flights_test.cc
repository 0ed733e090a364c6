#include "proxy/flights.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/io/loop.h"

namespace semel::proxy {
namespace {

using namespace std::chrono_literals;
using testing::Loop;
using Clock = std::chrono::steady_clock;
using Follow = Flights::Follow;
using Refused = Flights::Refused;
using Lead = Flights::Lead;
using Seat = Flights::Seat;
using Landed = std::optional<std::shared_ptr<const Landing>>;

IdempotencyKey key_of(std::uint8_t number) {
  IdempotencyKey key;
  key.bytes.fill(number);
  return key;
}

Bindings bound_to(std::uint8_t caller, std::uint8_t guards = 0, std::uint8_t fingerprint = 0) {
  Bindings bindings;
  bindings.caller.bytes.fill(caller);
  bindings.guards.bytes.fill(guards);
  bindings.fingerprint.bytes.fill(fingerprint);
  return bindings;
}

HexText<32> reference_of(char digit) {
  HexText<32> reference;
  reference.digits.fill(digit);
  return reference;
}

Landing answer(std::string body) {
  auto response = std::make_shared<StoredResponse>();
  response->status = 201;
  response->body = std::move(body);
  Landing landing;
  landing.response = std::move(response);
  return landing;
}

class FlightsTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFollowersMax = 2;

  auto join(std::uint8_t key = 1, const Bindings& bindings = {}, Follow follow = Follow::Wait) {
    return flights.join(key_of(key), bindings, Policy::Effectful, follow, ends);
  }
  Lead lead(std::uint8_t key = 1, const Bindings& bindings = {}) {
    auto joined = join(key, bindings);
    EXPECT_TRUE(std::holds_alternative<Lead>(joined));
    return std::get<Lead>(std::move(joined));
  }
  Seat seat(std::uint8_t key = 1, const Bindings& bindings = {}) {
    auto joined = join(key, bindings);
    EXPECT_TRUE(std::holds_alternative<Seat>(joined));
    return std::get<Seat>(std::move(joined));
  }
  Flights::Refusal refusal(std::uint8_t key = 1, const Bindings& bindings = {},
                           Follow follow = Follow::Wait) {
    const auto joined = join(key, bindings, follow);
    EXPECT_TRUE(std::holds_alternative<Flights::Refusal>(joined));
    return std::get<Flights::Refusal>(joined);
  }
  testing::Started<Landed> follow(Seat seat, Clock::time_point until = Clock::now() + 1h) {
    return loop.start(flights.follow(loop.executor(), std::move(seat), until));
  }

  Loop loop;
  Flights flights{kFollowersMax};
  const Clock::time_point ends = Clock::now() + 30s;
};

TEST_F(FlightsTest, TheFirstOnAKeyLeadsAndTheNextFollows) {
  const Lead leader = lead();
  EXPECT_TRUE(leader.is_flying());
  EXPECT_NE(seat(), nullptr);
}

TEST_F(FlightsTest, AnotherKeyIsAnotherFlight) {
  const Lead one = lead(1);
  const Lead other = lead(2);
  EXPECT_TRUE(other.is_flying());
}

TEST_F(FlightsTest, EveryFollowerGetsTheAnswerOfTheLeader) {
  Lead leader = lead();
  const auto first = follow(seat());
  const auto second = follow(seat());
  EXPECT_FALSE(first.has_ended());
  Landing landing = answer("booked");
  landing.reference = reference_of('a');
  landing.marked = true;
  leader.land(std::move(landing));
  EXPECT_FALSE(leader.is_flying());
  for (const auto& follower : {first, second}) {
    const Landed& landed = loop.wait_for(follower);
    ASSERT_TRUE(landed);
    EXPECT_EQ((*landed)->response->body, "booked");
    EXPECT_TRUE((*landed)->marked);
    EXPECT_EQ((*landed)->reference->view(), std::string(32, 'a'));
  }
}

TEST_F(FlightsTest, EveryFollowerGetsTheRefusalOfTheLeader) {
  Lead leader = lead();
  const auto follower = follow(seat());
  Landing landing;
  landing.problem.emplace().type = ProblemType::Indeterminate;
  leader.land(std::move(landing));
  const Landed& landed = loop.wait_for(follower);
  ASSERT_TRUE(landed);
  EXPECT_EQ((*landed)->response, nullptr);
  EXPECT_EQ((*landed)->problem->type, ProblemType::Indeterminate);
}

TEST_F(FlightsTest, OneWhoSitsDownJustBeforeTheLandingStillGetsTheAnswer) {
  Lead leader = lead();
  Seat taken = seat();
  leader.land(answer("booked"));
  const auto follower = follow(std::move(taken));
  ASSERT_TRUE(follower.has_ended());
  EXPECT_EQ((*follower.value())->response->body, "booked");
}

TEST_F(FlightsTest, AfterALandingTheKeyIsOffTheBoard) {
  lead().land(answer("booked"));
  EXPECT_TRUE(lead().is_flying());
}

TEST_F(FlightsTest, AFreedFlightPromotesNobodyAndTellsAllToAskAgain) {
  Lead leader = lead();
  const auto follower = follow(seat());
  leader.free();
  const Landed& landed = loop.wait_for(follower);
  ASSERT_TRUE(landed);
  EXPECT_EQ((*landed)->response, nullptr);
  EXPECT_FALSE((*landed)->problem);
  EXPECT_TRUE(lead().is_flying());
}

TEST_F(FlightsTest, ALeaderThatEndsWithoutLandingFreesItsFollowers) {
  std::optional<Lead> leader(lead());
  const auto follower = follow(seat());
  leader.reset();
  const Landed& landed = loop.wait_for(follower);
  ASSERT_TRUE(landed);
  EXPECT_EQ((*landed)->response, nullptr);
}

TEST_F(FlightsTest, ADutyThatIsHandedOnIsNotDoneTwice) {
  Lead first = lead();
  Lead second = std::move(first);
  EXPECT_FALSE(first.is_flying());
  first.free();
  EXPECT_NE(seat(), nullptr);
  second.land(answer("once"));
  second.land(answer("twice"));
  EXPECT_TRUE(lead().is_flying());
}

TEST_F(FlightsTest, TakingAnotherDutyFreesTheOneBefore) {
  Lead leader = lead(1);
  leader = lead(2);
  EXPECT_TRUE(lead(1).is_flying());
  EXPECT_NE(seat(2), nullptr);
}

TEST_F(FlightsTest, WhatEndsLateDoesNotTakeTheNextFlightOffTheBoard) {
  Lead first = lead();
  first.land(answer("first"));
  const Lead second = lead();
  first.free();
  EXPECT_NE(seat(), nullptr);
}

TEST_F(FlightsTest, AnotherCallerIsToldNothingOfTheFlight) {
  Lead leader = lead(1, bound_to(1));
  leader.announce(reference_of('a'));
  const auto refused = refusal(1, bound_to(2));
  EXPECT_EQ(refused.why, Refused::CallerDiffers);
  EXPECT_FALSE(refused.sight.reference);
}

TEST_F(FlightsTest, AnotherPayloadIsRefusedWhetherItIsAGuardOrAFingerprint) {
  const Lead leader = lead(1, bound_to(1, 2, 3));
  EXPECT_EQ(refusal(1, bound_to(1, 9, 3)).why, Refused::PayloadDiffers);
  EXPECT_EQ(refusal(1, bound_to(1, 2, 9)).why, Refused::PayloadDiffers);
  EXPECT_NE(seat(1, bound_to(1, 2, 3)), nullptr);
}

TEST_F(FlightsTest, BindingsAreComparedBeforeAnythingElse) {
  const Lead leader = lead(1, bound_to(1, 2));
  const Seat first = seat(1, bound_to(1, 2)), second = seat(1, bound_to(1, 2));
  for (const Follow how : {Follow::Wait, Follow::Reject}) {
    EXPECT_EQ(refusal(1, bound_to(9, 2), how).why, Refused::CallerDiffers);
    EXPECT_EQ(refusal(1, bound_to(9, 9), how).why, Refused::CallerDiffers);
    EXPECT_EQ(refusal(1, bound_to(1, 9), how).why, Refused::PayloadDiffers);
  }
}

TEST_F(FlightsTest, ADuplicateThatDoesNotWaitTakesNoSeat) {
  Lead leader = lead();
  leader.announce(reference_of('b'));
  for (std::size_t i = 0; i < 2 * kFollowersMax; ++i) {
    const auto refused = refusal(1, {}, Follow::Reject);
    EXPECT_EQ(refused.why, Refused::Duplicate);
    EXPECT_EQ(refused.sight.reference->view(), std::string(32, 'b'));
    EXPECT_EQ(refused.sight.ends, ends);
  }
  EXPECT_NE(seat(), nullptr);
}

TEST_F(FlightsTest, AFlightHasAsManySeatsAsItHas) {
  const Lead leader = lead();
  const Seat first = seat(), second = seat();
  EXPECT_EQ(refusal().why, Refused::TooMany);
  EXPECT_EQ(refusal().why, Refused::TooMany);
  const Lead other = lead(2);
  EXPECT_NE(seat(2), nullptr) << "each flight has seats of its own";
}

TEST_F(FlightsTest, OneWhoseWaitIsOverGivesTheSeatBack) {
  Lead leader = lead();
  const auto patient = follow(seat());
  const auto hasty = follow(seat(), Clock::now());
  EXPECT_FALSE(loop.wait_for(hasty));
  EXPECT_FALSE(patient.has_ended());
  const auto next = follow(seat());
  EXPECT_EQ(refusal().why, Refused::TooMany);
  leader.land(answer("booked"));
  EXPECT_TRUE(loop.wait_for(patient));
  EXPECT_TRUE(loop.wait_for(next));
}

TEST_F(FlightsTest, AReferenceIsTheOneLastAnnounced) {
  Lead leader = lead();
  const Seat taken = seat();
  EXPECT_FALSE(flights.sight(taken).reference);
  EXPECT_EQ(flights.sight(taken).ends, ends);
  leader.announce(reference_of('a'));
  leader.announce(reference_of('b'));
  EXPECT_EQ(flights.sight(taken).reference->view(), std::string(32, 'b'));
  leader.land(answer("booked"));
  leader.announce(reference_of('c'));
  EXPECT_EQ(flights.sight(taken).reference->view(), std::string(32, 'b'));
}

TEST_F(FlightsTest, WhoeverAsksForItsKeyMakesAFlightAsStrictAsItself) {
  for (const Follow how : {Follow::Wait, Follow::Reject}) {
    auto joined = flights.join(key_of(1), bound_to(1, 2), Policy::Idempotent, how, ends);
    const Lead leader = std::get<Lead>(std::move(joined));
    EXPECT_EQ(leader.strictest_policy(), Policy::Idempotent);
    const auto equal = flights.join(key_of(1), bound_to(1, 2), Policy::Idempotent, how, ends);
    EXPECT_EQ(leader.strictest_policy(), Policy::Idempotent);
    const auto strict = flights.join(key_of(1), bound_to(1, 2), Policy::Effectful, how, ends);
    EXPECT_EQ(leader.strictest_policy(), Policy::Effectful);
    const auto weak = flights.join(key_of(1), bound_to(1, 2), Policy::Idempotent, how, ends);
    EXPECT_EQ(leader.strictest_policy(), Policy::Effectful);
  }
}

TEST_F(FlightsTest, WhoMayNotJoinAFlightDoesNotMakeItStricter) {
  auto joined = flights.join(key_of(1), bound_to(1, 2), Policy::Idempotent, Follow::Wait, ends);
  const Lead leader = std::get<Lead>(std::move(joined));
  for (const Bindings& other : {bound_to(9, 2), bound_to(1, 9)}) {
    const auto refused = flights.join(key_of(1), other, Policy::Effectful, Follow::Wait, ends);
    EXPECT_TRUE(std::holds_alternative<Flights::Refusal>(refused));
  }
  EXPECT_EQ(leader.strictest_policy(), Policy::Idempotent);
}

TEST(Landing, IsNoAnswerToAFollowerWhosePolicyIsStricter) {
  Landing refused;
  refused.problem.emplace().type = ProblemType::UpstreamTimeout;
  for (Landing landing : {answer("booked"), refused}) {
    landing.policy = Policy::Idempotent;
    EXPECT_TRUE(landing.holds_for(Policy::Idempotent));
    EXPECT_FALSE(landing.holds_for(Policy::Effectful));
    landing.policy = Policy::Effectful;
    EXPECT_TRUE(landing.holds_for(Policy::Idempotent));
    EXPECT_TRUE(landing.holds_for(Policy::Effectful));
  }
  Landing freed;
  freed.policy = Policy::Effectful;
  EXPECT_FALSE(freed.holds_for(Policy::Idempotent));
}

TEST_F(FlightsTest, AFollowerWakesOnItsOwnWorker) {
  Lead leader = lead();
  const auto follower = follow(seat());
  std::thread([&] { leader.land(answer("from elsewhere")); }).join();
  EXPECT_FALSE(follower.has_ended()) << "nobody ran the follower's worker yet";
  EXPECT_EQ((*loop.wait_for(follower))->response->body, "from elsewhere");
}

/// One worker's part of the storm: joins the same key again and again, lands what it leads.
Task<bool> storm(Flights& flights, Executor executor, std::atomic<int>& leaders,
                 std::atomic<int>& lost) {
  for (int i = 0; i < 500; ++i) {
    auto joined = flights.join(key_of(1), {}, Policy::Effectful, Follow::Wait, Clock::now() + 1h);
    if (auto* leading = std::get_if<Lead>(&joined)) {
      if (leaders.fetch_add(1) != 0) ++lost;  // Two leaders of one key at once.
      co_await asio::post(executor, kAwait);
      leaders.fetch_sub(1);
      leading->land(answer("done"));
    } else if (auto* taken = std::get_if<Seat>(&joined)) {
      const Landed landed = co_await flights.follow(executor, *taken, Clock::now() + 10s);
      if (!landed || (*landed)->response == nullptr) ++lost;
    }
  }
  co_return true;
}

TEST(FlightsStorm, WorkersOfTwoThreadsNeverLeadOneKeyAtOnceAndLoseNoAnswer) {
  Flights flights(1000);
  std::atomic<int> leaders{0};
  std::atomic<int> lost{0};
  const auto work = [&] {
    Loop loop;
    std::vector<testing::Started<bool>> storms;
    for (int i = 0; i < 4; ++i) {
      storms.push_back(loop.start(storm(flights, loop.executor(), leaders, lost)));
    }
    for (const auto& started : storms) EXPECT_TRUE(loop.wait_for(started));
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace semel::proxy
