#pragma once

// The transition log as its readers meet it: pages, positions, order
// (docs/store-contract.md, "events").

#include <map>

#include "tests/stores/conformance.h"
#include "tests/stores/event_lines.h"

namespace semel::testing {

TEST_P(StoreConformance, PagesOfOneEventShowEachOnce) {
  if (!begin_log()) GTEST_SKIP();
  for (std::uint64_t key = 1; key <= 5; ++key) {
    record(granted(request_of(key, key)), response_of(201, "ok"));
  }
  const auto at_once = all_events(*store_);
  ASSERT_EQ(at_once.size(), 10u);
  const auto one_by_one = all_events(*store_, "", 1);
  ASSERT_EQ(one_by_one.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(one_by_one[i].position, at_once[i].position);
    EXPECT_EQ(line_of(one_by_one[i]), line_of(at_once[i]));
    EXPECT_FALSE(at_once[i].position.empty());
    EXPECT_TRUE(std::all_of(at_once[i].position.begin(), at_once[i].position.end(), [](char c) {
      return c > ' ' && c < '\x7f';
    })) << "a position is visible ASCII without spaces";
  }
}

TEST_P(StoreConformance, APageOfNoneOrOfAMillionIsOneOfOneOrOfAThousand) {
  if (!begin_log()) GTEST_SKIP();
  for (std::uint64_t key = 1; key <= 1001; ++key) granted(request_of(key, key));
  EXPECT_EQ(event_page(*store_, "", 0).events.size(), 1u);
  EXPECT_EQ(event_page(*store_, "", 1'000'000).events.size(), 1000u);
}

TEST_P(StoreConformance, WhoHasReadAllGoesOnWhereItWas) {
  if (!begin_log()) GTEST_SKIP();
  const EventPage before_all = event_page(*store_);
  EXPECT_TRUE(before_all.events.empty());
  EXPECT_NE(before_all.next, "");
  const Attempt attempt = granted(request_of(1, 1));
  const EventPage first = event_page(*store_, before_all.next);
  ASSERT_EQ(lines_of(first.events), (EventLines{"claimed 1"}));
  const EventPage nothing_new = event_page(*store_, first.next);
  EXPECT_TRUE(nothing_new.events.empty());
  EXPECT_EQ(nothing_new.next, first.next);
  record(attempt, response_of(201, "ok"));
  EXPECT_EQ(event_lines(*store_, nothing_new.next), (EventLines{"completed 1 201"}));
}

TEST_P(StoreConformance, OfOneKeyEventsStandInTheOrderInWhichTheyHappened) {
  if (!begin_log()) GTEST_SKIP();
  constexpr std::uint64_t kKeys = 7;
  constexpr std::uint64_t kRounds = 5;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<Attempt> open;
    for (std::uint64_t key = 1; key <= kKeys; ++key) {
      open.push_back(granted(request_of(key, 100 * key + round)));
    }
    for (const Attempt& attempt : open) {
      if (round + 1 == kRounds) mark(attempt, IndeterminateReason::Timeout);
      if (round + 1 < kRounds) release(attempt);
    }
  }
  std::map<IdempotencyKey, EventLines> by_key;
  for (const TransitionEvent& event : all_events(*store_, "", 3)) {
    by_key[event.key].push_back(line_of(event));
  }
  ASSERT_EQ(by_key.size(), kKeys);
  for (std::uint64_t key = 1; key <= kKeys; ++key) {
    EventLines expected;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::string attempt = std::to_string(100 * key + round);
      expected.push_back("claimed " + attempt);
      expected.push_back(round + 1 < kRounds ? "released " + attempt
                                             : "indeterminate " + attempt + " timeout");
    }
    EXPECT_EQ(by_key[id_of<IdempotencyKey>(key)], expected);
  }
}

TEST_P(StoreConformance, EventsTellTheTimeByTheStoresClock) {
  if (!begin_log()) GTEST_SKIP();
  const Attempt attempt = granted(request_of(1, 1));
  clock_.advance(10s);
  record(attempt, response_of(201, "ok"));
  const auto events = all_events(*store_);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE(events[1].at - events[0].at, 10s);
  EXPECT_LT(events[1].at - events[0].at, 1h);
}

}  // namespace semel::testing
