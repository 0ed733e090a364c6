#include "core/key_versions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/route_change.h"
#include "tests/core/key_request.h"

namespace semel {
namespace {

using From = ValueSource::From;

Route book(std::optional<int> version) {
  Route route;
  route.name = "book";
  route.methods = {"POST"};
  route.pattern = "/tools/{id}";
  route.segments = std::get<std::vector<PatternSegment>>(parse_pattern(route.pattern));
  route.policy = Policy::Effectful;
  route.key.tenant = ValueSource{From::Header, "X-Tenant-Id"};
  route.key.run = ValueSource{From::Header, "X-Run-Id"};
  route.key.fields = {{From::Body, "/flight"}};
  route.key_version = version;
  return route;
}

std::vector<RouteTerms> after(const std::vector<RouteTerms>& before, const Route& route) {
  return successors(before, {route});
}

TEST(KeyVersions, ARaisedOneKeepsWhatMadeTheKeysBefore) {
  Route raised = book(1);
  raised.key.fields.push_back({From::Body, "/seat"});
  const auto first = after({}, book(std::nullopt));
  EXPECT_TRUE(first[0].earlier.empty());
  const auto second = after(first, raised);
  ASSERT_EQ(second[0].earlier.size(), 1u);
  EXPECT_EQ(second[0].earlier[0].key, first[0].key);
  EXPECT_EQ(second[0].earlier[0].key_version, std::nullopt);
  EXPECT_EQ(after(second, raised), second) << "the next start changes nothing";
  const auto third = after(second, book(2));
  ASSERT_EQ(third[0].earlier.size(), 2u);
  EXPECT_EQ(third[0].earlier[0].key_version, 1);
  EXPECT_EQ(third[0].earlier[1].key_version, std::nullopt);
}

TEST(KeyVersions, AreReadBackAsTheyWereWritten) {
  const auto terms = after(after(after({}, book(std::nullopt)), book(1)), book(2));
  const auto read = decode_terms(encode_terms(terms));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, terms);
}

TEST(KeyVersions, ALowerOneForgetsThem) {
  EXPECT_TRUE(after(after(after({}, book(1)), book(2)), book(1))[0].earlier.empty());
}

TEST(KeyVersions, OfARouteThatWasNotEnforcedThereIsNothingToKeep) {
  Route watched = book(1);
  watched.mode = Mode::Shadow;
  EXPECT_TRUE(after(after({}, watched), book(2))[0].earlier.empty());
}

TEST(KeyVersions, ARaisedOneFreesNothingWhateverTheRecipeIs) {
  Route raised = book(2);
  raised.key.run.reset();
  raised.key.fields.clear();
  raised.key.client_key = ClientKey::Optional;
  EXPECT_TRUE(weakened(after({}, book(1)), {raised}).empty());
  raised.mode = Mode::Off;
  EXPECT_EQ(weakened(after({}, book(1)), {raised}).size(), 1u) << "other changes do";
}

TEST(KeyVersions, OneMoreThanCanBeLookedUpIsSaidAloud) {
  auto terms = after({}, book(1));
  for (int version = 2; version <= 5; ++version) {
    EXPECT_TRUE(weakened(terms, {book(version)}).empty()) << version;
    terms = after(terms, book(version));
  }
  ASSERT_EQ(terms[0].earlier.size(), kEarlierVersionsMax);
  const auto changes = weakened(terms, {book(6)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_NE(changes[0].sentence.find("the keys of version 1 are no longer looked up"),
            std::string::npos)
      << changes[0].sentence;
  EXPECT_EQ(after(terms, book(6))[0].earlier.size(), kEarlierVersionsMax);
}

/// One request, seen through a route.
struct Asked {
  explicit Asked(std::string body_text) : body(std::move(body_text)) {
    path.segments = {"tools", "7"};
  }
  KeyInputs through(const Route& route) {
    match = RouteMatch{&route, {{"id", "7"}}};
    KeyInputs inputs;
    inputs.method = "POST";
    inputs.path = &path;
    inputs.match = &match;
    inputs.headers = headers;
    inputs.body = body;
    return inputs;
  }
  std::string body;
  NormalPath path;
  RouteMatch match;
  std::vector<HeaderField> headers = {
      {"X-Tenant-Id", "acme"}, {"X-Run-Id", "run-7"}, {"Content-Type", "application/json"}};
};

Route raised_over(const Route& before, Route now) {
  std::vector<Route> routes = {std::move(now)};
  attach_earlier(successors(terms_of(std::vector<Route>{before}), routes), routes);
  return routes[0];
}

TEST(EarlierKeys, AreTheKeysThatTheRouteMadeBefore) {
  Asked asked(R"({"flight":"BA117","seat":2})");
  Route before = book(1);
  before.key.guards = {{From::Body, "/seat"}};
  const auto then = derive_key(asked.through(before));
  Route now = book(2);
  now.key.fields.push_back({From::PathParam, "id"});
  now.key.run.reset();
  const Route raised = raised_over(before, now);
  const auto keys = earlier_keys(asked.through(raised));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, std::get<DerivedKey>(then).key);
  EXPECT_EQ(keys[0].bindings, std::get<DerivedKey>(then).bindings);
  EXPECT_NE(keys[0].key, std::get<DerivedKey>(derive_key(asked.through(raised))).key);
}

TEST(EarlierKeys, ARequestThatHadNoneThenHasNoneNow) {
  Route before = book(1);
  before.key.fields = {{From::Body, "/seat"}};
  const Route raised = raised_over(before, book(2));
  Asked without_seat(R"({"flight":"BA117"})");
  EXPECT_TRUE(earlier_keys(without_seat.through(raised)).empty());

  Route elsewhere = book(1);
  elsewhere.pattern = "/tools/7/{what}";
  const Route moved = raised_over(elsewhere, book(2));
  Asked asked(R"({"flight":"BA117","seat":2})");
  EXPECT_TRUE(earlier_keys(asked.through(moved)).empty()) << "its path was another route's";
}

}  // namespace
}  // namespace semel
