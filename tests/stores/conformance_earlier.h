#pragma once

// Claims that name the key which their call had under an earlier key version. Included by
// conformance.h.

#include "tests/stores/conformance.h"

namespace semel::testing {

/// Attempt `attempt` for key 2, whose call had key 1 before.
inline ClaimRequest raised(std::uint64_t attempt) {
  ClaimRequest request = request_of(2, attempt);
  request.bindings.guards.bytes[0] = 9;  // The recipe of today guards something else.
  request.earlier = {{id_of<IdempotencyKey>(7), {}},
                     {id_of<IdempotencyKey>(1), request_of(1, 1).bindings}};
  return request;
}

TEST_P(StoreConformance, WhatStandsUnderAnEarlierKeyIsTheAnswerAndNothingIsTaken) {
  record(granted(request_of(1, 1)), response_of(200, "once")).value();
  EXPECT_EQ(told<Completed>(raised(2)).response->body, "once");
  EXPECT_FALSE(find(raised(2).key)) << "the new key was not taken";

  clock_.advance(24h);
  const auto holder = granted(raised(3));
  EXPECT_EQ(holder.key, raised(3).key) << "the old one's window has passed";
  record(holder, response_of(201, "again")).value();
  EXPECT_EQ(told<Completed>(raised(4)).response->status, 201);
}

TEST_P(StoreConformance, AnUnknownOutcomeUnderAnEarlierKeyIsNoPermission) {
  mark(granted(request_of(1, 1)), IndeterminateReason::Cut).value();
  EXPECT_EQ(told<Indeterminate>(raised(2)).reason, IndeterminateReason::Cut);
  EXPECT_FALSE(find(raised(2).key));
}

TEST_P(StoreConformance, AFreeEarlierKeyLeavesTheNewOneToBeTaken) {
  release(granted(request_of(1, 1))).value();
  granted(raised(2));
  EXPECT_FALSE(find(request_of(1, 1).key));
}

TEST_P(StoreConformance, TheBindingsOfAnEarlierKeyAreComparedWithThoseOfThen) {
  record(granted(request_of(1, 1)), response_of(200, "once")).value();
  auto other_payload = raised(2);
  other_payload.earlier[1].bindings.guards.bytes[0] = 8;
  told<PayloadDiffers>(other_payload);
  auto other_caller = raised(3);
  other_caller.earlier[1].bindings.caller.bytes[0] = 8;
  told<CallerDiffers>(other_caller);
}

TEST_P(StoreConformance, AHolderOfAnEarlierKeyIsWaitedForAndItsSilenceIsNoPermission) {
  granted(request_of(1, 1));
  EXPECT_GT(told<Held>(raised(2)).lease_left, 0ms);
  clock_.advance(31s);
  EXPECT_EQ(told<Held>(raised(3)).lease_left, 0ms);
  ASSERT_EQ(run(store_->sweep(100)).value().owner_lost, 1u);
  EXPECT_EQ(told<Indeterminate>(raised(4)).reason, IndeterminateReason::OwnerLost);
}

TEST_P(StoreConformance, ASilentHolderOfAnEarlierIdempotentKeyIsNotWaitedFor) {
  auto before = request_of(1, 1);
  before.policy = Policy::Idempotent;
  granted(before);
  clock_.advance(31s);
  auto now = raised(2);
  now.policy = Policy::Idempotent;
  granted(now);
}

}  // namespace semel::testing
