#pragma once

// Claims whose answer never came, and the next claim of the same process. Included by
// conformance.h.

#include "tests/stores/conformance.h"

namespace semel::testing {

TEST_P(StoreConformance, AProcessTakesThePlaceOfItsOwnDisownedClaim) {
  const auto disowned = granted(request_of(1, 1));
  auto next = request_of(1, 2);
  next.disowned = {request_of(9, 9).token, disowned.token};
  const auto holder = granted(next);
  EXPECT_GT(holder.fence, disowned.fence);
  // What the first one still sends comes too late for it and must not touch the second.
  EXPECT_EQ(release(disowned).value(), WriteReply::Stale);
  EXPECT_EQ(release({disowned.key, disowned.token, Fence{}}).value(), WriteReply::Stale);
  EXPECT_EQ(record(holder, response_of(200, "once")).value(), WriteReply::Done);
}

TEST_P(StoreConformance, ADisownedClaimWhoseLeaseEndedInSilenceIsTakenToo) {
  const auto disowned = granted(request_of(1, 1));
  clock_.advance(31s);
  auto next = request_of(1, 2);
  next.disowned = {disowned.token};
  granted(next);

  const auto swept = granted(request_of(2, 3));
  clock_.advance(31s);
  ASSERT_EQ(run(store_->sweep(100)).value().owner_lost, 2u);
  auto after = request_of(2, 4);
  after.disowned = {swept.token};
  const auto reply = claim(after);
  ASSERT_TRUE(reply.has_value() && std::holds_alternative<Granted>(*reply));
  EXPECT_FALSE(std::get<Granted>(*reply).expired_before);
}

TEST_P(StoreConformance, AnotherOutcomeOfADisownedTokenStands) {
  const auto told_unknown = granted(request_of(1, 1));
  ASSERT_EQ(mark(told_unknown, IndeterminateReason::Timeout).value(), WriteReply::Done);
  auto next = request_of(1, 2);
  next.disowned = {told_unknown.token};
  told<Indeterminate>(next);

  const auto answered = granted(request_of(2, 3));
  ASSERT_EQ(record(answered, response_of(200, "kept")).value(), WriteReply::Done);
  auto again = request_of(2, 4);
  again.disowned = {answered.token};
  told<Completed>(again);
}

}  // namespace semel::testing
