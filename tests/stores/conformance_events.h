#pragma once

// Which transition has which event (docs/store-contract.md, "events").

#include "tests/stores/conformance.h"
#include "tests/stores/event_lines.h"

namespace semel::testing {

TEST_P(StoreConformance, AStoreWithoutALogTellsNothing) {
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  const auto told = run(store_->events({}));
  ASSERT_TRUE(told.has_value());
  const auto* page = std::get_if<EventPage>(&*told);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->events.empty());
  EXPECT_EQ(page->next, "") << "a log that is on always says where to go on";
}

TEST_P(StoreConformance, AnEventSaysWhatChangedAndWhoseItIs) {
  if (!begin_log()) GTEST_SKIP();
  ClaimRequest request = request_of(7, 1);
  request.tenant = "tenant \"ü\" 1";
  request.route = "cancel";
  request.policy = Policy::Idempotent;
  const Attempt attempt = granted(request);
  const auto events = all_events(*store_);
  ASSERT_EQ(events.size(), 1u);
  const TransitionEvent& event = events.front();
  EXPECT_EQ(event.kind, TransitionKind::Claimed);
  EXPECT_EQ(event.key, request.key);
  EXPECT_EQ(event.reference, request.reference);
  EXPECT_EQ(event.fence, attempt.fence);
  EXPECT_EQ(event.policy, Policy::Idempotent);
  EXPECT_EQ(event.tenant, request.tenant);
  EXPECT_EQ(event.route, request.route);
  EXPECT_FALSE(event.reason);
  EXPECT_FALSE(event.status);
  EXPECT_FALSE(event.happened);
}

TEST_P(StoreConformance, AClaimAndItsAnswerAreToldOnceEach) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt attempt = granted(request_of(1, 1));
  granted(request_of(1, 1));  // Asked again with the same token.
  told<Held>(request_of(1, 2));
  record(attempt, response_of(201, "ok"));
  record(attempt, response_of(201, "ok"));
  told<Completed>(request_of(1, 3));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "completed 1 201"}));
}

TEST_P(StoreConformance, AnAnswerWhoseBodyIsNotKeptIsToldWithItsStatus) {
  if (!begin_log()) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_without_body(200));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "completed 1 200"}));
}

TEST_P(StoreConformance, AReleaseIsToldOnce) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt attempt = granted(request_of(1, 1));
  release(attempt);
  release(attempt);
  granted(request_of(1, 2));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "released 1", "claimed 2"}));
}

TEST_P(StoreConformance, AnUnknownOutcomeIsToldWithItsReasonAndStatusOnce) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt timed_out = granted(request_of(1, 1));
  mark(timed_out, IndeterminateReason::Timeout);
  mark(timed_out, IndeterminateReason::Cut);
  told<Indeterminate>(request_of(1, 2));
  mark(granted(request_of(2, 3)), IndeterminateReason::UpstreamStatus, 503);
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "indeterminate 1 timeout", "claimed 3",
                                              "indeterminate 3 upstream_status 503"}));
}

TEST_P(StoreConformance, LateNewsOfAnUnknownOutcomeIsTold) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt answered = granted(request_of(1, 1));
  mark(answered, IndeterminateReason::Timeout);
  record(answered, response_of(201, "late"));
  const Attempt refused = granted(request_of(2, 2));
  mark(refused, IndeterminateReason::Timeout);
  release(refused);
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "indeterminate 1 timeout", "completed 1 201", "claimed 2",
                        "indeterminate 2 timeout", "released 2"}));
}

TEST_P(StoreConformance, AHolderThatFellSilentIsToldByWhoeverFindsIt) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt read = granted(request_of(1, 1));
  granted(request_of(2, 2));
  clock_.advance(31s);
  mark(read, IndeterminateReason::OwnerLost);
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "claimed 2", "indeterminate 1 owner_lost",
                        "indeterminate 2 owner_lost"}));
}

TEST_P(StoreConformance, AClaimThatTakesAnothersPlaceIsAClaimLikeAnyOther) {
  if (!begin_log()) GTEST_SKIP();
  ClaimRequest first = request_of(1, 1);
  ClaimRequest second = request_of(1, 2);
  first.policy = second.policy = Policy::Idempotent;
  const Attempt abandoned = granted(first);
  clock_.advance(31s);
  ASSERT_TRUE(std::holds_alternative<Granted>(*run(store_->supersede(second, abandoned))));
  granted(request_of(2, 3));
  ClaimRequest disowning = request_of(2, 4);
  disowning.disowned = {request_of(2, 3).token};
  granted(disowning);
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "claimed 2", "claimed 3", "claimed 4"}));
}

TEST_P(StoreConformance, WhatAnOperatorSaysIsToldAsHisWord) {
  if (!begin_log()) GTEST_SKIP();
  mark(granted(request_of(1, 1)), IndeterminateReason::Cut);
  resolve(request_of(1, 1).reference, Resolution::Decision::Happened, response_of(201, "ok"));
  resolve(request_of(1, 1).reference, Resolution::Decision::Happened);  // Known by now.
  mark(granted(request_of(2, 2)), IndeterminateReason::Cut);
  resolve(request_of(2, 2).reference, Resolution::Decision::DidNotHappen);
  granted(request_of(2, 3));
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "indeterminate 1 cut", "resolved 1 happened", "claimed 2",
                        "indeterminate 2 cut", "resolved 2 did_not_happen", "claimed 3"}));
}

TEST_P(StoreConformance, AWordTooEarlyIsNotToldAndOneOnASilentClaimIs) {
  if (!begin_log()) GTEST_SKIP();
  mark(granted(request_of(1, 1)), IndeterminateReason::Timeout);
  resolve(request_of(1, 1).reference, Resolution::Decision::DidNotHappen);  // Alive.
  granted(request_of(2, 2));
  clock_.advance(31s);
  resolve(request_of(2, 2).reference, Resolution::Decision::DidNotHappen);
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "indeterminate 1 timeout", "claimed 2",
                                              "resolved 2 did_not_happen"}));
}

TEST_P(StoreConformance, AnAnswerAgainstAnOperatorsWordIsToldWhereItCounts) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt alone = granted(request_of(1, 1));
  mark(alone, IndeterminateReason::Cut);
  resolve(request_of(1, 1).reference, Resolution::Decision::DidNotHappen);
  record(alone, response_of(201, "after all"));
  const Attempt replaced = granted(request_of(2, 2));
  mark(replaced, IndeterminateReason::Cut);
  resolve(request_of(2, 2).reference, Resolution::Decision::DidNotHappen);
  granted(request_of(2, 3));
  record(replaced, response_of(201, "too late"));
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "indeterminate 1 cut", "resolved 1 did_not_happen",
                        "completed 1 201", "claimed 2", "indeterminate 2 cut",
                        "resolved 2 did_not_happen", "claimed 3"}));
}

TEST_P(StoreConformance, WhatChangesNothingIsNotTold) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt attempt = granted(request_of(1, 1));
  const Attempt stranger{attempt.key, id_of<ClaimToken>(99), attempt.fence};
  const Attempt elsewhere{id_of<IdempotencyKey>(99), attempt.token, attempt.fence};
  for (const Attempt& stale : {stranger, elsewhere}) {
    record(stale, response_of(500, "stale"));
    mark(stale, IndeterminateReason::Cut);
    release(stale);
  }
  ClaimRequest other_caller = request_of(1, 2);
  other_caller.bindings.caller.bytes[0] = 9;
  told<CallerDiffers>(other_caller);
  ClaimRequest other_payload = request_of(1, 3);
  other_payload.bindings.fingerprint.bytes[0] = 9;
  told<PayloadDiffers>(other_payload);
  mark(attempt, IndeterminateReason::OwnerLost);  // Its lease is alive.
  resolve(id_of<Reference>(99), Resolution::Decision::Happened);
  resolve(request_of(1, 1).reference, Resolution::Decision::Happened);  // Not unknown.
  ASSERT_TRUE(std::holds_alternative<Held>(*run(store_->supersede(request_of(1, 4), attempt))));
  clock_.advance(31s);
  told<Abandoned>(request_of(1, 5));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1"}));
}

}  // namespace semel::testing
