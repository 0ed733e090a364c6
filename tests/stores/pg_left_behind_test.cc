#include "stores/pg_left_behind.h"

#include <gtest/gtest.h>

namespace semel::testing {
namespace {

PgRow at_work(const PgBackend& backend, const char* wait = "SyncRep") {
  return {pg_int8(backend.pid), pg_int8(backend.started), PgValue(wait)};
}

TEST(PgLeftBehind, OneLaneWatchesForAllThatWaitAndTheOthersDialFreely) {
  PgLeftBehind left;
  left.leave(1, {11, 100});
  left.leave(2, {12, 100});
  EXPECT_TRUE(left.may_dial(0));
  EXPECT_TRUE(left.may_dial(2));
  EXPECT_TRUE(left.may_dial(2)) << "who watches goes on";
  EXPECT_FALSE(left.may_dial(1));
  left.stop_watching(1);
  EXPECT_FALSE(left.may_dial(1)) << "it was not the one";
  left.stop_watching(2);
  EXPECT_TRUE(left.may_dial(1));
}

TEST(PgLeftBehind, WhatTheServerHasNoMoreAtWorkIsForgotten) {
  PgLeftBehind left;
  left.leave(1, {11, 100});
  left.leave(2, {12, 100});
  left.note(left.all(), PgRows{{at_work({12, 100})}});
  EXPECT_FALSE(left.has(1));
  EXPECT_TRUE(left.has(2));
  EXPECT_NE(left.trouble(2).find("SyncRep"), std::string::npos);
  left.note(left.all(), PgRows{});
  EXPECT_FALSE(left.has(2));
  EXPECT_EQ(left.trouble(2), "");
}

TEST(PgLeftBehind, APidThatWasGivenAgainIsAnother) {
  PgLeftBehind left;
  left.leave(1, {11, 100});
  left.note(left.all(), PgRows{{at_work({11, 101})}});
  EXPECT_FALSE(left.has(1));
}

TEST(PgLeftBehind, WhatCameWhileTheServerWasAskedStays) {
  PgLeftBehind left;
  left.leave(1, {11, 100});
  const auto asked = left.all();
  left.leave(2, {12, 100});
  left.note(asked, PgRows{});
  EXPECT_FALSE(left.has(1));
  EXPECT_TRUE(left.has(2));
}

TEST(PgLeftBehind, OfTwoThatALaneLeavesTheFirstOneCounts) {
  PgLeftBehind left;
  left.leave(1, {11, 100});
  left.leave(1, {12, 100});
  EXPECT_EQ(left.all().at(1), (PgBackend{11, 100}));
}

}  // namespace
}  // namespace semel::testing
