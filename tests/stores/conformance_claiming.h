#pragma once

// Who gets a key, and what everybody else is told. Included by conformance.h.

#include <set>
#include <thread>
#include <vector>

#include "tests/stores/conformance.h"

namespace semel::testing {

TEST_P(StoreConformance, AFreeKeyIsGrantedAndTheNextCallerIsHeld) {
  const auto first = request_of(1, 1);
  EXPECT_GT(granted(first).fence.value, 0u);
  clock_.advance(10s);
  const auto held = told<Held>(request_of(1, 2));
  EXPECT_EQ(held.reference, first.reference);
  EXPECT_EQ(held.lease_left, 20s);
}

TEST_P(StoreConformance, FencesRiseStrictlyAndAReleaseGivesNoneBack) {
  std::uint64_t last = 0;
  for (std::uint64_t attempt = 1; attempt <= 20; ++attempt) {
    const auto holder = granted(request_of(attempt % 3, attempt));
    EXPECT_GT(holder.fence.value, last);
    last = holder.fence.value;
    ASSERT_EQ(release(holder).value(), WriteReply::Done);
  }
}

TEST_P(StoreConformance, AskingAgainWithTheSameTokenFindsOnesOwnClaim) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  const auto again = granted(request);
  EXPECT_EQ(again.fence, holder.fence);
}

TEST_P(StoreConformance, AClaimThatComesTooLateIsRefusedAndTakesNothing) {
  auto late = request_of(1, 1);
  late.not_after = 5ms;
  clock_.pass_at_each_reading(10ms);
  const auto reply = claim(late);
  clock_.pass_at_each_reading(0ns);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), Fault::StoreUnreachable);
  EXPECT_FALSE(find(late.key));
  granted(request_of(1, 2));
}

TEST_P(StoreConformance, AnotherCallerIsToldNothingInAnyState) {
  const auto stranger = [](std::uint64_t key) {
    auto request = request_of(key, 99);
    request.bindings.caller.bytes[0] = 7;
    request.bindings.guards.bytes[0] = 7;  // The caller is compared first.
    return request;
  };
  granted(request_of(1, 1));
  told<CallerDiffers>(stranger(1));
  record(granted(request_of(2, 2)), response_of(200, "secret")).value();
  told<CallerDiffers>(stranger(2));
  mark(granted(request_of(3, 3)), IndeterminateReason::Timeout).value();
  told<CallerDiffers>(stranger(3));
  granted(request_of(4, 4));
  clock_.advance(31s);
  told<CallerDiffers>(stranger(4));
}

TEST_P(StoreConformance, AnotherPayloadIsRefusedInAnyState) {
  auto guard = request_of(1, 98);
  guard.bindings.guards.bytes[5] = 1;
  auto fingerprint = request_of(1, 99);
  fingerprint.bindings.fingerprint.bytes[5] = 1;
  const auto first = request_of(1, 1);
  const auto holder = granted(first);
  EXPECT_EQ(told<PayloadDiffers>(guard).reference, first.reference);
  EXPECT_EQ(told<PayloadDiffers>(fingerprint).reference, first.reference);
  mark(holder, IndeterminateReason::Timeout).value();
  told<PayloadDiffers>(guard);
  record(holder, response_of(200, "done")).value();
  told<PayloadDiffers>(guard);
  told<PayloadDiffers>(fingerprint);
}

TEST_P(StoreConformance, BindingsOfAnExpiredRecordBindNobody) {
  record(granted(request_of(1, 1)), response_of(200, "old")).value();
  clock_.advance(24h);
  auto other = request_of(1, 2);
  other.bindings.caller.bytes[0] = 9;
  EXPECT_TRUE(told<Granted>(other).expired_before);
}

TEST_P(StoreConformance, ASilentEffectfulHolderIsAbandonedAndNeverReplaced) {
  const auto first = request_of(1, 1);
  const auto holder = granted(first);
  clock_.advance(30s);
  const auto abandoned = told<Abandoned>(request_of(1, 2));
  EXPECT_EQ(abandoned.token, first.token);
  EXPECT_EQ(abandoned.fence, holder.fence);
  EXPECT_EQ(abandoned.reference, first.reference);
  EXPECT_EQ(abandoned.policy, Policy::Effectful);
  const auto reply = run(store_->supersede(request_of(1, 3), holder));
  EXPECT_TRUE(std::holds_alternative<Abandoned>(reply.value()));
  clock_.advance(24h * 365);
  told<Abandoned>(request_of(1, 4));
}

TEST_P(StoreConformance, ASilentIdempotentHolderIsSuperseded) {
  auto first = request_of(1, 1);
  first.policy = Policy::Idempotent;
  auto second = request_of(1, 2);
  second.policy = Policy::Idempotent;
  const auto holder = granted(first);
  const auto early = run(store_->supersede(second, holder));
  EXPECT_TRUE(std::holds_alternative<Held>(early.value()));
  clock_.advance(30s);
  EXPECT_EQ(told<Abandoned>(second).policy, Policy::Idempotent);
  const auto reply = run(store_->supersede(second, holder));
  const auto* grant = std::get_if<Granted>(&reply.value());
  ASSERT_TRUE(grant);
  EXPECT_GT(grant->fence, holder.fence);
  EXPECT_EQ(record(holder, response_of(200, "late")).value(), WriteReply::Stale);
  // Whoever comes second finds the new holder, and the new holder finds itself.
  auto third = request_of(1, 3);
  third.policy = Policy::Idempotent;
  EXPECT_TRUE(std::holds_alternative<Held>(run(store_->supersede(third, holder)).value()));
  const auto again = run(store_->supersede(second, holder));
  ASSERT_TRUE(std::holds_alternative<Granted>(again.value()));
  EXPECT_EQ(std::get<Granted>(again.value()).fence, grant->fence);
}

TEST_P(StoreConformance, TheStricterOfBothPoliciesGoverns) {
  auto loose = request_of(1, 1);
  loose.policy = Policy::Idempotent;
  const auto holder = granted(loose);
  clock_.advance(30s);
  const auto strict = request_of(1, 2);
  EXPECT_EQ(told<Abandoned>(strict).policy, Policy::Effectful);
  const auto reply = run(store_->supersede(strict, holder));
  EXPECT_TRUE(std::holds_alternative<Abandoned>(reply.value()));
}

TEST_P(StoreConformance, TheLongerOfBothRetentionsGoverns) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once")).value();
  clock_.advance(60s);
  EXPECT_EQ(told<Completed>(request_of(1, 2)).response->body, "once");
  EXPECT_TRUE(told<Granted>(brief).expired_before);
}

TEST_P(StoreConformance, ManyThreadsClaimOneKeyAndExactlyOneIsGranted) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::atomic<int> grants{0};
    std::atomic<int> held{0};
    std::vector<std::thread> threads;
    for (std::uint64_t n = 0; n < 8; ++n) {
      threads.emplace_back([&, n] {
        const auto reply = claim(request_of(round, 100 * round + n));
        if (reply && std::holds_alternative<Granted>(*reply)) grants += 1;
        if (reply && std::holds_alternative<Held>(*reply)) held += 1;
      });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(grants, 1);
    ASSERT_EQ(held, 7);
  }
}

TEST_P(StoreConformance, ManyThreadsOnManyKeysNeverShareAFence) {
  constexpr std::uint64_t kThreads = 6;
  constexpr std::uint64_t kEach = 40;
  std::vector<std::vector<std::uint64_t>> fences(kThreads);
  std::vector<std::thread> threads;
  for (std::uint64_t n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const auto request = request_of(n * kEach + i, n * kEach + i);
        const auto reply = claim(request);
        if (!reply || !std::holds_alternative<Granted>(*reply)) return;
        fences[n].push_back(std::get<Granted>(*reply).fence.value);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& of_one : fences) all.insert(of_one.begin(), of_one.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
}

}  // namespace semel::testing
