#include "stores/event_span.h"

#include <gtest/gtest.h>

namespace semel {
namespace {

EventSpan span() {
  EventSpan span;
  span.log = "5e0c3b1f";
  span.trimmed = 7;
  span.last = 12;
  return span;
}

TEST(EventSpan, APositionIsTheNameOfTheLogAndANumber) {
  EXPECT_EQ(span().position(12), "5e0c3b1f-12");
}

TEST(EventSpan, WithoutAPositionReadingBeginsWithTheOldestThatIsKept) {
  const auto found = span().find("");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(std::get<std::uint64_t>(*found), 7u);
}

TEST(EventSpan, ReadingGoesOnBehindAPositionWhoseSuccessorIsKept) {
  for (const std::uint64_t number : {7u, 8u, 12u}) {
    const auto found = span().find("5e0c3b1f-" + std::to_string(number));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(std::get<std::uint64_t>(*found), number);
  }
}

TEST(EventSpan, BehindAnOlderPositionSomethingIsMissing) {
  for (const char* const old : {"5e0c3b1f-0", "5e0c3b1f-6"}) {
    const auto found = span().find(old);
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(std::holds_alternative<EventGap>(*found)) << old;
    EXPECT_EQ(std::get<EventGap>(*found).oldest, "5e0c3b1f-7");
  }
}

TEST(EventSpan, WhatTheLogNeverGaveIsNoPosition) {
  for (const char* const wrong :
       {"5e0c3b1f-13", "5e0c3b1f-99999999999999999999", "5e0c3b1f", "5e0c3b1f-", "5e0c3b1f-08",
        "5e0c3b1f--8", "5e0c3b1f-+8", "5e0c3b1f- 8", "5e0c3b1f-8 ", "5e0c3b1f8", "5e0c3b10-8", "8",
        "-8", "5E0C3B1F-8"}) {
    const auto found = span().find(wrong);
    ASSERT_TRUE(found.has_error()) << wrong;
    EXPECT_EQ(found.error(), Fault::RecordCorrupt) << wrong;
  }
}

}  // namespace
}  // namespace semel
