#pragma once

// What operators and the housekeeping see, and what they erase. Included by conformance.h.

#include <algorithm>
#include <vector>

#include "tests/stores/conformance.h"

namespace semel::testing {

TEST_P(StoreConformance, FindShowsARecordByKeyAndByReference) {
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  clock_.advance(10s);
  const auto view = find(request.key);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->state, RecordView::State::InFlight);
  EXPECT_EQ(view->fence, holder.fence);
  EXPECT_EQ(view->tenant, "acme");
  EXPECT_EQ(view->route, "book");
  EXPECT_EQ(view->lease_left, 20s);
  EXPECT_FALSE(view->expires_in);
  record(holder, response_of(200, "shown")).value();
  const auto found = run(store_->find(request.reference));
  ASSERT_TRUE(found.value());
  EXPECT_EQ((*found)->key, request.key);
  EXPECT_EQ((*found)->state, RecordView::State::Completed);
  EXPECT_EQ((*found)->response->body, "shown");
  EXPECT_EQ((*found)->expires_in, 24h);
  EXPECT_EQ((*found)->changed - (*found)->created, 10s);
}

TEST_P(StoreConformance, FindShowsHowLongAnUnknownAttemptMayStillRun) {
  const auto silent = request_of(1, 1);
  mark(granted(silent), IndeterminateReason::Timeout).value();
  clock_.advance(10s);
  EXPECT_EQ(find(silent.key)->lease_left, 20s);
  const auto cut = request_of(2, 2);
  mark(granted(cut), IndeterminateReason::Cut).value();
  EXPECT_LE(find(cut.key)->lease_left, 0s) << "its connection is gone: nothing can arrive";
}

TEST_P(StoreConformance, AReferenceOfAnAttemptThatIsNoLongerCurrentFindsNothing) {
  const auto first = request_of(1, 1);
  release(granted(first)).value();
  granted(request_of(1, 2));
  EXPECT_FALSE(run(store_->find(first.reference)).value());
  EXPECT_EQ(resolve(first.reference, Resolution::Decision::Happened).value(),
            ResolveReply::NotFound);
}

TEST_P(StoreConformance, ListPagesThroughEveryMatchOnce) {
  for (std::uint64_t n = 0; n < 25; ++n) {
    auto request = request_of(n, n);
    if (n % 5 == 0) request.tenant = "other";
    const auto holder = granted(request);
    if (n % 2 == 0) mark(holder, IndeterminateReason::Timeout).value();
  }
  ListFilter filter;
  filter.limit = 4;
  filter.tenant = "acme";
  filter.state = RecordView::State::Indeterminate;
  std::vector<IdempotencyKey> seen;
  for (int pages = 0; pages < 10; ++pages) {
    const auto page = run(store_->list(filter)).value();
    EXPECT_LE(page.records.size(), 4u);
    for (const auto& view : page.records) {
      EXPECT_EQ(view.tenant, "acme");
      EXPECT_EQ(view.state, RecordView::State::Indeterminate);
      seen.push_back(view.key);
    }
    filter.after = page.next;
    if (page.next.empty()) break;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 10u);  // 13 even numbers below 25, less 0, 10 and 20.
}

TEST_P(StoreConformance, ForgetErasesWhatIsDoneAndEmptiesWhatIsOpen) {
  const auto done = request_of(1, 1);
  record(granted(done), response_of(200, "private")).value();
  const auto open = granted(request_of(2, 2));
  const auto unknown = request_of(3, 3);
  mark(granted(unknown), IndeterminateReason::Timeout).value();
  auto neighbour = request_of(4, 4);
  neighbour.tenant = "neighbour";
  record(granted(neighbour), response_of(200, "theirs")).value();

  EXPECT_EQ(run(store_->forget("acme")).value(), 3u);
  EXPECT_FALSE(find(done.key));
  told<Held>(request_of(2, 5));
  told<Indeterminate>(request_of(3, 6));
  EXPECT_EQ(told<Completed>(neighbour).response->body, "theirs");
  ListFilter theirs;
  theirs.tenant = "acme";
  EXPECT_TRUE(run(store_->list(theirs)).value().records.empty());

  ASSERT_EQ(record(open, response_of(200, "late and private")).value(), WriteReply::Done);
  const auto completed = told<Completed>(request_of(2, 7));
  EXPECT_EQ(completed.response->kept, BodyKept::NotKept);
  EXPECT_EQ(completed.response->status, 200);
  EXPECT_TRUE(completed.response->body.empty());
  EXPECT_TRUE(completed.response->fields.empty());
  EXPECT_EQ(run(store_->forget("acme")).value(), 0u);
}

TEST_P(StoreConformance, SweepErasesWhatExpiredAndMarksWhatWasLost) {
  for (std::uint64_t n = 0; n < 5; ++n) {
    record(granted(request_of(n, n)), response_of(200, "old")).value();
  }
  granted(request_of(10, 10));
  auto idempotent = request_of(11, 11);
  idempotent.policy = Policy::Idempotent;
  granted(idempotent);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  clock_.advance(30s);
  EXPECT_EQ(run(store_->sweep(100)).value().owner_lost, 1u);
  EXPECT_EQ(told<Indeterminate>(request_of(10, 12)).reason, IndeterminateReason::OwnerLost);
  clock_.advance(24h);
  EXPECT_EQ(told<Abandoned>(idempotent).policy, Policy::Idempotent);
  std::size_t expired = 0;
  for (int batches = 0; batches < 100; ++batches) {
    const auto report = run(store_->sweep(2)).value();
    EXPECT_LE(report.expired, 2u);
    expired += report.expired;
    if (!report.more) break;
  }
  EXPECT_EQ(expired, 5u);
  EXPECT_EQ(run(store_->health()).records, 2u);
}

TEST_P(StoreConformance, HealthCountsWhatIsUnknownAndSinceWhen) {
  EXPECT_FALSE(run(store_->health()).oldest_indeterminate);
  mark(granted(request_of(1, 1)), IndeterminateReason::Timeout).value();
  const auto since = clock_.clock().wall();
  clock_.advance(1h);
  const auto newest = granted(request_of(2, 2));
  mark(newest, IndeterminateReason::Timeout).value();
  const auto health = run(store_->health());
  EXPECT_TRUE(health.up);
  EXPECT_FALSE(health.durability.empty());
  EXPECT_EQ(health.records, 2u);
  EXPECT_EQ(health.indeterminate, 2u);
  EXPECT_EQ(health.oldest_indeterminate, since);
  EXPECT_EQ(health.last_fence, newest.fence);
}

TEST_P(StoreConformance, AClosedStoreAnswersWithAFault) {
  store_->close();
  const auto reply = claim(request_of(1, 1));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), Fault::StoreUnreachable);
  EXPECT_FALSE(run(store_->health()).up);
}

TEST_P(StoreConformance, AStoreThatLostNothingHasNothingToAcknowledge) {
  granted(request_of(1, 1));
  EXPECT_FALSE(run(store_->acknowledge()).value());
  EXPECT_FALSE(run(store_->health()).suspect);
  granted(request_of(2, 2));
}

}  // namespace semel::testing
