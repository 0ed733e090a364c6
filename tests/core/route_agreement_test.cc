#include "core/route_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/route_pattern.h"

namespace semel {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

Route route_of(std::string name, std::string pattern, Policy policy) {
  Route route;
  route.name = std::move(name);
  route.methods = {"POST"};
  route.pattern = std::move(pattern);
  route.segments = std::get<std::vector<PatternSegment>>(parse_pattern(route.pattern));
  route.policy = policy;
  if (is_keyed(policy)) route.key.tenant = ValueSource{ValueSource::From::Header, "X-Tenant-Id"};
  return route;
}

constexpr std::size_t kBook = 0, kPay = 1, kFare = 2, kPage = 3;

/// Two promised routes, one that is not, and a wildcard for the rest.
std::vector<Route> routes() {
  Route page = route_of("page", "/*", Policy::None);
  page.methods.clear();
  return {route_of("book", "/tools/book", Policy::Effectful),
          route_of("pay", "/tools/pay/{id}", Policy::Idempotent),
          route_of("fare", "/fares/*", Policy::ReadOnly), std::move(page)};
}

struct Row {
  const char* name;
  /// What another replica runs with.
  std::function<void(std::vector<Route>&)> change;
  std::vector<std::size_t> disagree;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class RouteAgreement : public ::testing::TestWithParam<Row> {};

TEST_P(RouteAgreement, IsWhatEveryReplicaHasToBeOf) {
  std::vector<Route> theirs = routes();
  GetParam().change(theirs);
  EXPECT_THAT(disagreeing(terms_of(theirs), routes()), ElementsAreArray(GetParam().disagree));
}

INSTANTIATE_TEST_SUITE_P(
    Of, RouteAgreement,
    ::testing::Values(
        Row{"equal", [](auto&) {}, {}},
        Row{"another_retention", [](auto& r) { r[kBook].retention *= 2; }, {}},
        Row{"other_timeouts", [](auto& r) { r[kBook].timeout *= 2; }, {}},
        Row{"weaker", [](auto& r) { r[kBook].policy = Policy::Idempotent; }, {kBook}},
        Row{"no_longer_promised", [](auto& r) { r[kBook].mode = Mode::Shadow; }, {kBook}},
        Row{"another_recipe", [](auto& r) { r[kPay].key.path = PathInKey::Route; }, {kPay}},
        Row{"a_raised_version", [](auto& r) { r[kPay].key_version = 1; }, {kPay}},
        Row{"other_guards",
            [](auto& r) { r[kBook].key.guards = {{ValueSource::From::Body, "/amount"}}; },
            {kBook}},
        Row{"now_promised", [](auto& r) { r[kFare].policy = Policy::Idempotent; }, {kFare}},
        Row{"promises_nothing_here_or_there",
            [](auto& r) { r[kFare] = route_of("fare", "/prices/*", Policy::None); },
            {}},
        Row{"a_promised_route_is_gone", [](auto& r) { r.erase(r.begin() + kPay); }, {kPay}},
        Row{"another_route_is_gone", [](auto& r) { r.erase(r.begin() + kFare); }, {}},
        // Its calls still come to the route of before here, and to the new one there.
        Row{"renamed", [](auto& r) { r[kBook].name = "reserve"; }, {kBook}},
        Row{"a_new_promise_that_the_wildcard_takes_here",
            [](auto& r) {
              r.insert(r.begin(), route_of("refund", "/tools/refund", Policy::Effectful));
            },
            {kPage}},
        Row{"a_new_promise_on_a_part_of_another",
            [](auto& r) {
              r.insert(r.begin(), route_of("vip", "/tools/pay/vip", Policy::Effectful));
            },
            {kPay}},
        Row{"a_new_promise_that_is_not_reached_there",
            [](auto& r) { r.push_back(route_of("late", "/fares/late", Policy::Effectful)); },
            {}},
        Row{"a_new_route_that_promises_nothing",
            [](auto& r) { r.insert(r.begin(), route_of("new", "/tools/new", Policy::None)); },
            {}},
        Row{"a_new_promise_of_another_method_that_the_wildcard_takes_here",
            [](auto& r) {
              Route put = route_of("put", "/tools/book", Policy::Effectful);
              put.methods = {"PUT"};
              r.insert(r.begin(), std::move(put));
            },
            {kPage}},
        Row{"a_new_promise_where_nothing_passes_here",
            [](auto& r) {
              r[kPage].policy = Policy::None;
              r.insert(r.begin(), route_of("dup", "/tools/book", Policy::Effectful));
            },
            {kBook}},
        Row{"the_order_alone", [](auto& r) { std::swap(r[kBook], r[kPay]); }, {}},
        Row{"nothing_is_remembered", [](auto& r) { r.clear(); }, {kBook, kPay}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RouteAgreementOfOurs, ARouteThatOnlyWatchesDiffersFromThePromiseThatItHasBecome) {
  std::vector<Route> ours = routes();
  ours[kBook].mode = Mode::Shadow;
  EXPECT_EQ(disagreeing(terms_of(routes()), ours), std::vector<std::size_t>{kBook});
  EXPECT_THAT(disagreeing(terms_of(ours), ours), IsEmpty());
  ours[kBook].name = "watched";
  EXPECT_EQ(disagreeing(terms_of(routes()), ours), std::vector<std::size_t>{kBook})
      << "it takes the requests of a promised route";
}

}  // namespace
}  // namespace semel
