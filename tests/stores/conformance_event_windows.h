#pragma once

// Which events the end of a window has (docs/store-contract.md, "events").

#include "tests/stores/conformance.h"
#include "tests/stores/event_lines.h"

namespace semel::testing {

TEST_P(StoreConformance, AWindowThatEndsIsToldByTheSweep) {
  if (!begin_log()) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  clock_.advance(24h + 1s);
  sweep_all(*store_);
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "completed 1 201", "expired 1"}));
}

TEST_P(StoreConformance, AWindowThatEndsIsToldBeforeTheClaimThatFindsIt) {
  if (!begin_log()) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  clock_.advance(24h + 1s);
  granted(request_of(1, 2));
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "completed 1 201", "expired 1", "claimed 2"}));
}

TEST_P(StoreConformance, AnUnknownOutcomeWhoseWindowEndsIsToldToo) {
  if (!begin_log()) GTEST_SKIP();
  ClaimRequest unknown = request_of(1, 1);
  unknown.indeterminate_retention = 48h;
  mark(granted(unknown), IndeterminateReason::Cut);
  ClaimRequest silent = request_of(2, 2);
  silent.policy = Policy::Idempotent;
  silent.indeterminate_retention = 48h;
  granted(silent);
  clock_.advance(48h + 31s);
  sweep_all(*store_);
  auto lines = event_lines(*store_);
  ASSERT_EQ(lines.size(), 5u);
  std::sort(lines.begin() + 3, lines.end());  // Two keys: in either order.
  EXPECT_EQ(lines, (EventLines{"claimed 1", "indeterminate 1 cut", "claimed 2", "expired 1",
                               "expired 2"}));
}

TEST_P(StoreConformance, AKeyThatAnOperatorFreedIsGoneAlreadyWhenItsWindowEnds) {
  if (!begin_log()) GTEST_SKIP();
  mark(granted(request_of(1, 1)), IndeterminateReason::Cut);
  resolve(request_of(1, 1).reference, Resolution::Decision::DidNotHappen);
  clock_.advance(24h + 1s);
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_),
            (EventLines{"claimed 1", "indeterminate 1 cut", "resolved 1 did_not_happen"}));
}

}  // namespace semel::testing
