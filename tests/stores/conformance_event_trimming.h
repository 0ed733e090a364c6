#pragma once

// What the transition log keeps no longer, and what its readers are told then
// (docs/store-contract.md, "events").

#include "tests/stores/conformance.h"
#include "tests/stores/event_lines.h"

namespace semel::testing {

TEST_P(StoreConformance, WhatIsMoreThanTheLogKeepsIsAGapForWhoHasNotReadIt) {
  EventRetention kept;
  kept.count = 3;
  if (!begin_log(kept)) GTEST_SKIP();
  granted(request_of(1, 1));
  const std::string behind_first = event_page(*store_).events.at(0).position;
  for (std::uint64_t key = 2; key <= 6; ++key) granted(request_of(key, key));
  sweep_all(*store_);
  const EventLines newest{"claimed 4", "claimed 5", "claimed 6"};
  EXPECT_EQ(event_lines(*store_), newest) << "without `after`: from the oldest that is kept";
  EventFilter filter;
  filter.after = behind_first;
  const auto told = run(store_->events(filter));
  ASSERT_TRUE(told.has_value());
  const auto* gap = std::get_if<EventGap>(&*told);
  ASSERT_TRUE(gap) << "2 and 3 are missing";
  EXPECT_EQ(event_lines(*store_, gap->oldest), newest);
}

TEST_P(StoreConformance, WhoHasReadAllThatWasTrimmedMissesNothing) {
  EventRetention kept;
  kept.count = 2;
  if (!begin_log(kept)) GTEST_SKIP();
  for (std::uint64_t key = 1; key <= 2; ++key) granted(request_of(key, key));
  const std::string read = event_page(*store_).next;
  for (std::uint64_t key = 3; key <= 4; ++key) granted(request_of(key, key));
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_, read), (EventLines{"claimed 3", "claimed 4"}));
}

TEST_P(StoreConformance, WhatIsOlderThanTheLogKeepsIsAGap) {
  EventRetention kept;
  kept.age = 1h;
  if (!begin_log(kept)) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  const std::string behind_first = event_page(*store_, "", 1).next;
  sweep_all(*store_);
  EXPECT_EQ(event_lines(*store_, behind_first), (EventLines{"completed 1 201"}));
  clock_.advance(2h);
  sweep_all(*store_);
  EventFilter filter;
  filter.after = behind_first;
  auto told = run(store_->events(filter));
  ASSERT_TRUE(told.has_value());
  const auto* gap = std::get_if<EventGap>(&*told);
  ASSERT_TRUE(gap);
  EXPECT_EQ(event_page(*store_, gap->oldest).next, gap->oldest) << "there is none left";
  granted(request_of(2, 2));
  EXPECT_EQ(event_lines(*store_, gap->oldest), (EventLines{"claimed 2"}));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 2"}));
}

TEST_P(StoreConformance, WhatIsNoPositionOfThisStoreIsRefused) {
  if (!begin_log()) GTEST_SKIP();
  granted(request_of(1, 1));
  const std::string of_the_other = event_page(*store_).next;
  ASSERT_TRUE(begin_log({}, "another"));
  granted(request_of(1, 1));
  const std::string ours = event_page(*store_).next;
  for (const std::string& wrong :
       {of_the_other, std::string("garbage"), std::string("0"), std::string("-1"), ours + "0000000",
        ours + "x", " " + ours, std::string(300, '9'), std::string("\0", 1)}) {
    EventFilter filter;
    filter.after = wrong;
    const auto told = run(store_->events(filter));
    ASSERT_TRUE(told.has_error()) << '"' << wrong << '"';
    EXPECT_EQ(told.error(), Fault::RecordCorrupt) << '"' << wrong << '"';
  }
}

TEST_P(StoreConformance, APositionOutlivesTheProcess) {
  if (!begin_log()) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  const std::string read = event_page(*store_, "", 1).next;
  if (!restart_with_log()) GTEST_SKIP();
  EXPECT_EQ(event_lines(*store_, read), (EventLines{"completed 1 201"}));
  EXPECT_EQ(event_lines(*store_), (EventLines{"claimed 1", "completed 1 201"}));
}

TEST_P(StoreConformance, APositionIsNeverGivenTwice) {
  EventRetention kept;
  kept.age = 1h;
  if (!begin_log(kept)) GTEST_SKIP();
  granted(request_of(1, 1));
  const std::string read = event_page(*store_).next;
  clock_.advance(2h);
  sweep_all(*store_);  // The claim is told to be abandoned; what was before is gone.
  clock_.advance(2h);
  sweep_all(*store_);
  if (!restart_with_log(kept)) GTEST_SKIP();
  EventFilter filter;
  filter.after = read;
  const auto told = run(store_->events(filter));
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(std::holds_alternative<EventGap>(*told)) << "the abandonment was not read";
  granted(request_of(2, 2));
  const auto events = all_events(*store_);
  ASSERT_EQ(lines_of(events), (EventLines{"claimed 2"}));
  EXPECT_NE(events[0].position, read);
}

TEST_P(StoreConformance, ForgettingATenantForgetsItsEvents) {
  if (!begin_log()) GTEST_SKIP();
  const std::string begin = event_page(*store_).next;
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  const Attempt open = granted(request_of(2, 2));
  ClaimRequest others = request_of(3, 3);
  others.tenant = "globex";
  granted(others);
  ASSERT_TRUE(run(store_->forget("acme")).has_value());
  EXPECT_EQ(event_lines(*store_, begin), (EventLines{"claimed 3"}))
      << "what was forgotten is no gap";
  record(open, response_of(201, "late"));
  const auto events = all_events(*store_);
  ASSERT_EQ(lines_of(events), (EventLines{"claimed 3", "completed 2 201"}));
  EXPECT_EQ(events[0].tenant, "globex");
  EXPECT_EQ(events[1].tenant, "") << "a forgotten tenant has no name any more";
}

TEST_P(StoreConformance, WhoReadBeforeATenantWasForgottenGoesOn) {
  if (!begin_log()) GTEST_SKIP();
  record(granted(request_of(1, 1)), response_of(201, "ok"));
  const std::string read = event_page(*store_).next;
  ASSERT_TRUE(run(store_->forget("acme")).has_value());
  EXPECT_EQ(event_lines(*store_, read), EventLines{});
  if (!restart_with_log()) GTEST_SKIP();
  ClaimRequest others = request_of(2, 2);
  others.tenant = "globex";
  record(granted(others), response_of(201, "ok"));
  EXPECT_EQ(event_lines(*store_, read), (EventLines{"claimed 2", "completed 2 201"}));
}

}  // namespace semel::testing
