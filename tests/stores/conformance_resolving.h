#pragma once

// What operators say about unknown outcomes, and what a late answer does to it. Included by
// conformance.h.

#include "tests/stores/conformance.h"

namespace semel::testing {

using Decision = Resolution::Decision;

TEST_P(StoreConformance, AnOperatorWhoSawItHappenCompletesTheRecord) {
  const auto with = request_of(1, 1);
  mark(granted(with), IndeterminateReason::Timeout).value();
  ASSERT_EQ(resolve(with.reference, Decision::Happened, response_of(200, "seen")).value(),
            ResolveReply::Done);
  EXPECT_EQ(told<Completed>(request_of(1, 2)).response->body, "seen");

  const auto without = request_of(2, 3);
  mark(granted(without), IndeterminateReason::Timeout).value();
  ASSERT_EQ(resolve(without.reference, Decision::Happened).value(), ResolveReply::Done);
  const auto completed = told<Completed>(request_of(2, 4));
  EXPECT_EQ(completed.response->kept, BodyKept::NotKept);
  EXPECT_EQ(completed.response->status, 0);
}

TEST_P(StoreConformance, DidNotHappenWaitsForTheLeaseAndThenFreesTheKey) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  mark(holder, IndeterminateReason::Timeout).value();
  EXPECT_EQ(resolve(request.reference, Decision::DidNotHappen).value(), ResolveReply::AttemptAlive);
  clock_.advance(30s);
  ASSERT_EQ(resolve(request.reference, Decision::DidNotHappen).value(), ResolveReply::Done);
  EXPECT_FALSE(find(request.key));
  EXPECT_FALSE(told<Granted>(request_of(1, 2)).expired_before);
  EXPECT_EQ(record(holder, response_of(200, "too late")).value(), WriteReply::StaleAgainstWord);
}

TEST_P(StoreConformance, AnOwnerThatSawTheConnectionEndSparesTheOperatorTheWait) {
  const auto at_once = request_of(1, 1);
  mark(granted(at_once), IndeterminateReason::Cut).value();
  EXPECT_EQ(resolve(at_once.reference, Decision::DidNotHappen).value(), ResolveReply::Done);

  const auto later_on = request_of(2, 2);
  const auto holder = granted(later_on);
  mark(holder, IndeterminateReason::Timeout).value();
  EXPECT_EQ(resolve(later_on.reference, Decision::DidNotHappen).value(),
            ResolveReply::AttemptAlive);
  mark(holder, IndeterminateReason::Cut).value();
  EXPECT_EQ(resolve(later_on.reference, Decision::DidNotHappen).value(), ResolveReply::Done);
}

TEST_P(StoreConformance, ALateAnswerContradictsAnOperatorWhileNobodyClaimed) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  mark(holder, IndeterminateReason::Cut).value();
  ASSERT_EQ(resolve(request.reference, Decision::DidNotHappen).value(), ResolveReply::Done);
  ASSERT_EQ(record(holder, response_of(200, "it did")).value(), WriteReply::DoneAgainstWord);
  EXPECT_EQ(told<Completed>(request_of(1, 2)).response->body, "it did");
  EXPECT_EQ(run(store_->health()).resolutions_contradicted, 1u);
}

TEST_P(StoreConformance, ALateAnswerAfterTheNextClaimIsCountedAndChangesNothing) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  mark(holder, IndeterminateReason::Cut).value();
  ASSERT_EQ(resolve(request.reference, Decision::DidNotHappen).value(), ResolveReply::Done);
  const auto next = granted(request_of(1, 2));
  EXPECT_EQ(record(holder, response_of(200, "it did")).value(), WriteReply::StaleAgainstWord);
  EXPECT_EQ(run(store_->health()).resolutions_contradicted, 1u);
  EXPECT_EQ(find(request.key)->fence, next.fence);
}

TEST_P(StoreConformance, OnlyAnUnknownOutcomeCanBeResolved) {
  const auto open = request_of(1, 1);
  const auto holder = granted(open);
  EXPECT_EQ(resolve(open.reference, Decision::Happened).value(), ResolveReply::NotUnknown);
  record(holder, response_of(200, "done")).value();
  EXPECT_EQ(resolve(open.reference, Decision::DidNotHappen).value(), ResolveReply::NotUnknown);
}

TEST_P(StoreConformance, AnOperatorMayResolveASilentClaimThatNobodyMarked) {
  const auto request = request_of(1, 1);
  granted(request);
  clock_.advance(30s);
  EXPECT_EQ(resolve(request.reference, Decision::DidNotHappen).value(), ResolveReply::Done);
  granted(request_of(1, 2));
}

}  // namespace semel::testing
