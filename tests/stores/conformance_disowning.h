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

TEST_P(StoreConformance, AReleaseUndoesAClaimThatWasAskedForJustBefore) {
  for (std::uint64_t n = 0; n < 50; ++n) {
    const auto request = request_of(n, n);
    const Attempt unanswered{request.key, request.token, Fence{}};
    const LentContext worker;
    std::optional<Result<ClaimReply>> claimed;
    std::optional<Result<WriteReply>> released;
    // A store may have more going there than the two: its worker ends with them.
    const auto stop_at_last = [&](const std::exception_ptr&) {
      if (claimed && released) worker->stop();
    };
    asio::co_spawn(*worker, keep(store_->claim(request), claimed), stop_at_last);
    asio::co_spawn(*worker, keep(store_->release(unanswered), released), stop_at_last);
    worker->run();
    ASSERT_TRUE(std::holds_alternative<Granted>(claimed->value()));
    ASSERT_EQ(released->value(), WriteReply::Done);
    ASSERT_FALSE(find(request.key)) << "a claim that nobody waits for stands";
  }
}

TEST_P(StoreConformance, TheSameTokenAskedAgainIsToldHowItsAttemptEnded) {
  const auto marked = request_of(1, 1);
  mark(granted(marked), IndeterminateReason::Timeout).value();
  told<Indeterminate>(marked);

  const auto recorded = request_of(2, 2);
  record(granted(recorded), response_of(200, "done")).value();
  told<Completed>(recorded);

  const auto silent = request_of(3, 3);
  granted(silent);
  clock_.advance(31s);
  told<Abandoned>(silent);

  const auto released = request_of(4, 4);
  const auto first = granted(released);
  release(first).value();
  const auto again = granted(released);
  EXPECT_GT(again.fence, first.fence) << "a released key is free, for its own token too";
  EXPECT_EQ(release(first).value(), WriteReply::Stale);
}

TEST_P(StoreConformance, ATakeOverThatComesTooLateIsRefusedAndTakesNothing) {
  auto first = request_of(1, 1);
  first.policy = Policy::Idempotent;
  const auto holder = granted(first);
  clock_.advance(31s);
  auto late = request_of(1, 2);
  late.policy = Policy::Idempotent;
  late.not_after = 5ms;
  clock_.pass_at_each_reading(10ms);
  const auto reply = run(store_->supersede(late, holder));
  clock_.pass_at_each_reading(0ns);
  EXPECT_EQ(reply.error(), Fault::StoreUnreachable);
  EXPECT_EQ(find(first.key)->fence, holder.fence);
}

}  // namespace semel::testing
