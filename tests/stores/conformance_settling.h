#pragma once

// How a claim ends, and which writers come too late. Included by conformance.h.

#include "tests/stores/conformance.h"

namespace semel::testing {

TEST_P(StoreConformance, ARecordedAnswerIsReplayedExactly) {
  const auto request = request_of(1, 1);
  const auto response = response_of(201, std::string("bytes\0and more", 14));
  ASSERT_EQ(record(granted(request), response).value(), WriteReply::Done);
  const auto completed = told<Completed>(request_of(1, 2));
  EXPECT_EQ(completed.reference, request.reference);
  EXPECT_EQ(*completed.response, *response);
}

TEST_P(StoreConformance, AnAnswerWithoutItsBodyStillCompletes) {
  ASSERT_EQ(record(granted(request_of(1, 1)), response_without_body(204)).value(),
            WriteReply::Done);
  const auto completed = told<Completed>(request_of(1, 2));
  EXPECT_EQ(completed.response->kept, BodyKept::NotKept);
  EXPECT_EQ(completed.response->status, 204);
}

TEST_P(StoreConformance, AWriteRepeatedAfterALostAnswerIsDoneAndChangesNothing) {
  const auto one = granted(request_of(1, 1));
  ASSERT_EQ(record(one, response_of(200, "first")).value(), WriteReply::Done);
  EXPECT_EQ(record(one, response_of(200, "second")).value(), WriteReply::Done);
  EXPECT_EQ(told<Completed>(request_of(1, 2)).response->body, "first");

  const auto two = granted(request_of(2, 3));
  ASSERT_EQ(release(two).value(), WriteReply::Done);
  EXPECT_EQ(release(two).value(), WriteReply::Done);

  const auto three = granted(request_of(3, 4));
  ASSERT_EQ(mark(three, IndeterminateReason::Timeout).value(), WriteReply::Done);
  EXPECT_EQ(mark(three, IndeterminateReason::Malformed).value(), WriteReply::Done);
  EXPECT_EQ(told<Indeterminate>(request_of(3, 5)).reason, IndeterminateReason::Timeout);
}

TEST_P(StoreConformance, AReleasedKeyIsFree) {
  ASSERT_EQ(release(granted(request_of(1, 1))).value(), WriteReply::Done);
  EXPECT_FALSE(find(request_of(1, 1).key));
  EXPECT_FALSE(told<Granted>(request_of(1, 2)).expired_before);
}

TEST_P(StoreConformance, AReleaseByTokenAloneIsEnough) {
  const auto request = request_of(1, 1);
  granted(request);
  Attempt unknown{request.key, request.token, Fence{}};
  ASSERT_EQ(release(unknown).value(), WriteReply::Done);
  granted(request_of(1, 2));
  EXPECT_EQ(release(unknown).value(), WriteReply::Stale);
}

TEST_P(StoreConformance, AWriterWithAnOldTokenOrFenceChangesNothing) {
  const auto holder = granted(request_of(1, 1));
  Attempt token = holder;
  token.token = id_of<ClaimToken>(77);
  Attempt fence = holder;
  fence.fence.value += 1;
  for (const auto& stale : {token, fence}) {
    EXPECT_EQ(record(stale, response_of(200, "no")).value(), WriteReply::Stale);
    EXPECT_EQ(release(stale).value(), WriteReply::Stale);
    EXPECT_EQ(mark(stale, IndeterminateReason::Cut).value(), WriteReply::Stale);
  }
  EXPECT_EQ(find(holder.key)->state, RecordView::State::InFlight);
}

TEST_P(StoreConformance, NothingThatWasNeverClaimedCanBeRecordedOrMarked) {
  const auto request = request_of(1, 1);
  const Attempt ghost{request.key, request.token, Fence{1}};
  EXPECT_EQ(record(ghost, response_of(200, "no")).value(), WriteReply::Stale);
  EXPECT_EQ(mark(ghost, IndeterminateReason::Cut).value(), WriteReply::Stale);
  EXPECT_FALSE(find(request.key));
}

TEST_P(StoreConformance, ACompletedRecordCanBeNeitherReleasedNorMarked) {
  const auto holder = granted(request_of(1, 1));
  record(holder, response_of(200, "done")).value();
  EXPECT_EQ(release(holder).value(), WriteReply::Stale);
  EXPECT_EQ(mark(holder, IndeterminateReason::Timeout).value(), WriteReply::Stale);
  told<Completed>(request_of(1, 2));
}

TEST_P(StoreConformance, AnUnknownOutcomeIsToldToEverybodyAndNeverForwarded) {
  const auto request = request_of(1, 1);
  ASSERT_EQ(mark(granted(request), IndeterminateReason::UpstreamStatus, 503).value(),
            WriteReply::Done);
  for (const auto wait : {0h, 1h, 24h * 3650}) {
    clock_.advance(wait);
    const auto unknown = told<Indeterminate>(request_of(1, 2));
    EXPECT_EQ(unknown.reference, request.reference);
    EXPECT_EQ(unknown.reason, IndeterminateReason::UpstreamStatus);
    EXPECT_EQ(unknown.upstream_status, 503);
  }
}

TEST_P(StoreConformance, LateNewsOfTheSameAttemptSettlesAnUnknownOutcome) {
  const auto answered = granted(request_of(1, 1));
  mark(answered, IndeterminateReason::Timeout).value();
  ASSERT_EQ(record(answered, response_of(200, "late")).value(), WriteReply::Done);
  EXPECT_EQ(told<Completed>(request_of(1, 2)).response->body, "late");

  const auto never_sent = granted(request_of(2, 3));
  mark(never_sent, IndeterminateReason::Timeout).value();
  ASSERT_EQ(release(never_sent).value(), WriteReply::Done);
  granted(request_of(2, 4));
}

TEST_P(StoreConformance, OnlyTheEndOfTheConnectionOrOfTheAnswerEndsAnAttempt) {
  std::uint64_t number = 0;
  const auto resolved_at_once = [&](IndeterminateReason reason) {
    number += 1;
    const auto request = request_of(number, number);
    mark(granted(request), reason).value();
    return resolve(request.reference, Resolution::Decision::DidNotHappen).value();
  };
  for (const auto reason : {IndeterminateReason::Cut, IndeterminateReason::UpstreamStatus,
                            IndeterminateReason::Unrecorded}) {
    EXPECT_EQ(resolved_at_once(reason), ResolveReply::Done) << name(reason);
  }
  // The tool said nothing, or nothing that can be read: it may be at work still.
  for (const auto reason : {IndeterminateReason::Timeout, IndeterminateReason::Malformed,
                            IndeterminateReason::Internal}) {
    EXPECT_EQ(resolved_at_once(reason), ResolveReply::AttemptAlive) << name(reason);
  }
}

TEST_P(StoreConformance, AReaderMayMarkOnlyWhenTheLeaseIsOver) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  EXPECT_EQ(mark(holder, IndeterminateReason::OwnerLost).value(), WriteReply::Stale);
  clock_.advance(30s);
  ASSERT_EQ(mark(holder, IndeterminateReason::OwnerLost).value(), WriteReply::Done);
  EXPECT_EQ(told<Indeterminate>(request_of(1, 2)).reason, IndeterminateReason::OwnerLost);
  ASSERT_EQ(record(holder, response_of(200, "it was alive")).value(), WriteReply::Done);
}

TEST_P(StoreConformance, AnOwnerMayStillRecordAfterItsLeaseWhileNobodyMarked) {
  const auto holder = granted(request_of(1, 1));
  clock_.advance(5min);
  ASSERT_EQ(record(holder, response_of(200, "slow")).value(), WriteReply::Done);
  told<Completed>(request_of(1, 2));
}

TEST_P(StoreConformance, RetentionCountsFromTheLastTransition) {
  const auto holder = granted(request_of(1, 1));
  clock_.advance(20s);
  record(holder, response_of(200, "kept")).value();
  clock_.advance(24h - 1ms);
  told<Completed>(request_of(1, 2));
  clock_.advance(1ms);
  EXPECT_FALSE(find(holder.key));
  EXPECT_TRUE(told<Granted>(request_of(1, 3)).expired_before);
}

TEST_P(StoreConformance, AnUnknownOutcomeExpiresOnlyWhereTheRouteSaysSo) {
  auto bounded = request_of(1, 1);
  bounded.indeterminate_retention = 48h;
  mark(granted(bounded), IndeterminateReason::Timeout).value();
  mark(granted(request_of(2, 2)), IndeterminateReason::Timeout).value();
  clock_.advance(48h - 1s);
  told<Indeterminate>(bounded);
  clock_.advance(1s);
  told<Indeterminate>(request_of(2, 3));
  EXPECT_TRUE(told<Granted>(bounded).expired_before);
}

TEST_P(StoreConformance, AJumpOfTheWallClockMovesNoWindow) {
  record(granted(request_of(1, 1)), response_of(200, "kept")).value();
  const auto holder = granted(request_of(2, 2));
  clock_.jump_wall(48h);
  told<Completed>(request_of(1, 3));
  told<Held>(request_of(2, 4));
  clock_.jump_wall(-96h);
  told<Completed>(request_of(1, 5));
  clock_.advance(24h);
  told<Granted>(request_of(1, 6));
  EXPECT_EQ(find(holder.key)->state, RecordView::State::InFlight);
}

}  // namespace semel::testing
