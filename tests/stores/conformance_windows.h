#pragma once

// How long a record is kept when its route says something else today. Included by conformance.h.

#include "tests/stores/conformance.h"

namespace semel::testing {

TEST_P(StoreConformance, ANewStoreHasMadeKeysUnderNoRoute) {
  EXPECT_TRUE(run(store_->routes()).value().empty());
}

TEST_P(StoreConformance, TheRoutesLastAdoptedAreTold) {
  auto other = route_today(1h, 2h);
  other.name = "seat";
  other.policy = Policy::Idempotent;
  const std::vector<RouteTerms> both = {route_today(24h, std::nullopt), other};
  ASSERT_TRUE(run(store_->adopt_routes(both)).has_value());
  EXPECT_EQ(run(store_->routes()).value(), both);
  ASSERT_TRUE(run(store_->adopt_routes({other})).has_value());
  EXPECT_EQ(run(store_->routes()).value(), std::vector{other});
}

TEST_P(StoreConformance, ALongerRetentionOfTodayKeepsOlderRecords) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  const auto holder = granted(brief);
  record(holder, response_of(200, "once")).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(1h, std::nullopt)})).has_value());
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  ASSERT_TRUE(find(brief.key));
  EXPECT_EQ(find(brief.key)->expires_in, 1h - 60s);
  EXPECT_EQ(run(store_->list({})).value().records.size(), 1u);
  EXPECT_EQ(told<Completed>(brief).response->body, "once") << "whatever a call itself says";
  EXPECT_EQ(release(holder).value(), WriteReply::Stale) << "it is still there";
  clock_.advance(1h - 60s - 1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  told<Completed>(brief);
  clock_.advance(1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
  granted(brief);
}

TEST_P(StoreConformance, AShorterRetentionOfTodayTakesNothingAway) {
  record(granted(request_of(1, 1)), response_of(200, "once")).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(60s, 60s)})).has_value());
  clock_.advance(24h - 1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  auto brief = request_of(1, 2);
  brief.retention = 60s;
  told<Completed>(brief);
  clock_.advance(1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
}

TEST_P(StoreConformance, ALateAnswerIsTakenAsLongAsTheRouteOfTodayRemembers) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  brief.indeterminate_retention = 60s;
  const auto holder = granted(brief);
  mark(holder, IndeterminateReason::Timeout).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(1h, 1h)})).has_value());
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  ASSERT_EQ(record(holder, response_of(200, "late")).value(), WriteReply::Done);
  EXPECT_EQ(told<Completed>(brief).response->body, "late");
}

TEST_P(StoreConformance, AnUnknownOutcomeIsKeptForEverOnceItsRouteSaysSo) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  brief.indeterminate_retention = 60s;
  mark(granted(brief), IndeterminateReason::Timeout).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(60s, std::nullopt)})).has_value());
  for (const auto wait : {60s, std::chrono::seconds(24h * 3650)}) {
    clock_.advance(wait);
    EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
    told<Indeterminate>(brief);
    EXPECT_FALSE(find(brief.key)->expires_in);
  }
}

TEST_P(StoreConformance, ASilentIdempotentHolderIsKeptForItsLeaseAndItsWindow) {
  auto silent = request_of(1, 1);
  silent.policy = Policy::Idempotent;
  silent.indeterminate_retention = 60s;
  granted(silent);
  clock_.advance(30s + 60s - 1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  EXPECT_TRUE(find(silent.key));
  clock_.advance(1ms);
  const auto swept = run(store_->sweep(100)).value();
  EXPECT_EQ(swept.expired, 1u);
  EXPECT_EQ(swept.owner_lost, 0u);
  EXPECT_FALSE(find(silent.key));
}

TEST_P(StoreConformance, ASilentIdempotentHolderIsKeptForTheLongerWindowOfToday) {
  auto silent = request_of(1, 1);
  silent.policy = Policy::Idempotent;
  silent.indeterminate_retention = 60s;
  granted(silent);
  auto today = route_today(1h, 1h);
  today.policy = Policy::Idempotent;
  ASSERT_TRUE(run(store_->adopt_routes({today})).has_value());
  clock_.advance(30s + 1h - 1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  EXPECT_TRUE(find(silent.key));
  clock_.advance(1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
}

TEST_P(StoreConformance, ASilentIdempotentHolderOfARouteThatIsEffectfulNowIsAnUnknownOutcome) {
  for (const std::uint64_t n : {1, 2}) {
    auto silent = request_of(n, n);
    silent.policy = Policy::Idempotent;
    silent.indeterminate_retention = 60s;
    granted(silent);
  }
  ASSERT_TRUE(run(store_->adopt_routes({route_today(1h, std::nullopt)})).has_value());
  Resolution word;
  word.decision = Resolution::Decision::DidNotHappen;
  EXPECT_EQ(run(store_->resolve(request_of(1, 1).reference, word)).value(),
            ResolveReply::NotUnknown)
      << "its lease is alive";
  clock_.advance(30s);
  EXPECT_EQ(run(store_->resolve(request_of(1, 1).reference, word)).value(), ResolveReply::Done);
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().owner_lost, 1u);
  EXPECT_EQ(told<Indeterminate>(request_of(2, 3)).reason, IndeterminateReason::OwnerLost);
}

TEST_P(StoreConformance, WhatWasKeptLongerIsLetGoOnceNoRouteAsksForIt) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once")).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(24h, std::nullopt)})).has_value());
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  ASSERT_TRUE(run(store_->adopt_routes({})).has_value());
  EXPECT_FALSE(find(brief.key));
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
}

TEST_P(StoreConformance, TheWindowOfAnotherRouteOrOfAnUnkeyedOneKeepsNothing) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once")).value();
  auto other = route_today(24h, std::nullopt);
  other.name = "seat";
  auto unkeyed = route_today(24h, std::nullopt);
  unkeyed.policy = Policy::ReadOnly;
  ASSERT_TRUE(run(store_->adopt_routes({other, unkeyed})).has_value());
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
}

TEST_P(StoreConformance, ARecordThatIsKeptLongerIsStillForgottenOnRequest) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once")).value();
  ASSERT_TRUE(run(store_->adopt_routes({route_today(24h, std::nullopt)})).has_value());
  clock_.advance(60s);
  run(store_->sweep(100)).value();
  EXPECT_EQ(run(store_->forget("acme")).value(), 1u);
  EXPECT_FALSE(find(brief.key));
  granted(request_of(1, 2));
}

}  // namespace semel::testing
