#pragma once

// Events as lines that a test can compare: `completed 1 201` is of attempt number 1.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stores/store.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {

using EventLines = std::vector<std::string>;

/// One page behind `after`. The test fails where there is none.
inline EventPage event_page(Store& store, std::string after = {}, std::size_t limit = 1000) {
  EventFilter filter;
  filter.after = std::move(after);
  filter.limit = limit;
  auto told = run(store.events(std::move(filter)));
  EventPage* page = told ? std::get_if<EventPage>(&*told) : nullptr;
  EXPECT_TRUE(page) << (told ? "a gap" : std::string(name(told.error())));
  return page ? std::move(*page) : EventPage{};
}

/// All that the log holds behind `after`, read in pages of that size.
inline std::vector<TransitionEvent> all_events(Store& store, std::string after = {},
                                               std::size_t limit = 1000) {
  std::vector<TransitionEvent> events;
  for (;;) {
    EventPage page = event_page(store, after, limit);
    EXPECT_LE(page.events.size(), limit);
    if (page.events.empty()) return events;
    EXPECT_EQ(page.next, page.events.back().position);
    after = page.next;
    std::move(page.events.begin(), page.events.end(), std::back_inserter(events));
  }
}

/// The attempt's number that request_of() made this reference of.
inline std::uint64_t attempt_of(const Reference& reference) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    number |= std::uint64_t{reference.bytes[8 + i]} << (8 * i);
  }
  return number - 1'000'000;
}

inline std::string line_of(const TransitionEvent& event) {
  std::string line(name(event.kind));
  line += ' ' + std::to_string(attempt_of(event.reference));
  if (event.reason) line.append(1, ' ').append(name(*event.reason));
  if (event.status) line += ' ' + std::to_string(*event.status);
  if (event.happened) line += *event.happened ? " happened" : " did_not_happen";
  return line;
}

inline std::vector<std::string> lines_of(const std::vector<TransitionEvent>& events) {
  std::vector<std::string> lines;
  std::transform(events.begin(), events.end(), std::back_inserter(lines), line_of);
  return lines;
}

inline std::vector<std::string> event_lines(Store& store, std::string after = {}) {
  return lines_of(all_events(store, std::move(after)));
}

/// Until there is nothing left to do.
inline void sweep_all(Store& store) {
  for (;;) {
    const auto swept = run(store.sweep(1000));
    ASSERT_TRUE(swept.has_value());
    if (!swept->more) return;
  }
}

}  // namespace semel::testing
