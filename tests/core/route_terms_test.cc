#include "core/route_terms.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace semel {
namespace {

using From = ValueSource::From;

Route book() {
  Route route;
  route.name = "book";
  route.methods = {"POST", "PUT"};
  route.pattern = "/tools/{id}/book";
  route.policy = Policy::Effectful;
  route.key.tenant = ValueSource{From::Header, "X-Tenant-Id"};
  route.key.run = ValueSource{From::Header, "X-Run-Id"};
  route.key.fields = {{From::Body, "/flight"}, {From::Query, "seat"}};
  route.key.guards = {{From::Body, "/amount"}};
  route.key.caller = ValueSource{From::AuthorizationDigest, ""};
  route.key_version = 2;
  route.retention = std::chrono::hours(24);
  return route;
}

Route lookup() {
  Route route;
  route.name = "lookup";
  route.pattern = "/*";
  route.policy = Policy::ReadOnly;
  route.indeterminate_retention = std::chrono::hours(48);
  return route;
}

TEST(RouteTerms, AreReadBackAsTheyWereWritten) {
  const std::vector<RouteTerms> written = terms_of(std::vector<Route>{book(), lookup()});
  const auto read = decode_terms(encode_terms(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, written);
}

TEST(RouteTerms, OfNoRouteAreReadBackAsNone) {
  const auto read = decode_terms(encode_terms({}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST(RouteTerms, AreAFaultWhereAByteIsMissingChangedOrTooMany) {
  const std::string whole = encode_terms(terms_of(std::vector<Route>{book(), lookup()}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_terms(whole.substr(0, size))) << size << " bytes";
  }
  EXPECT_FALSE(decode_terms(whole + '\0'));
  std::string other_version = whole;
  other_version[0] = 2;
  EXPECT_FALSE(decode_terms(other_version));
}

TEST(RouteTerms, WhoseIdentityWasTouchedAreAFault) {
  const std::string whole = encode_terms(terms_of(std::vector<Route>{book()}));
  const std::size_t windows = 8 + 1 + 4;  // retention; never; no earlier version
  for (std::size_t at = 5; at < whole.size() - windows; ++at) {
    std::string touched = whole;
    touched[at] = static_cast<char>(touched[at] ^ 1);
    EXPECT_FALSE(decode_terms(touched)) << "byte " << at;
  }
}

TEST(RouteTerms, AHugeCountIsAFaultAndTakesNoRoom) {
  const std::string bytes("\x01\xff\xff\xff\xff", 5);
  const auto read = decode_terms(bytes);
  ASSERT_TRUE(read.has_error());
  EXPECT_EQ(read.error(), Fault::RecordCorrupt);
}

struct Spelling {
  const char* name;
  std::function<void(Route&)> change;
};

TEST(RouteTerms, AnotherSpellingOfTheSameRouteHasTheSameDigest) {
  const Spelling kSpellings[] = {
      {"methods in another order", [](Route& r) { r.methods = {"PUT", "POST"}; }},
      {"fields in another order",
       [](Route& r) { r.key.fields = {{From::Query, "seat"}, {From::Body, "/flight"}}; }},
      {"the case of a header", [](Route& r) { r.key.tenant->text = "x-tenant-id"; }},
      {"the word stable", [](Route& r) { r.key.run->stable = true; }},
      {"the upstream", [](Route& r) { r.upstream_name = "other"; }},
      {"a longer retention", [](Route& r) { r.retention *= 2; }},
  };
  for (const Spelling& spelling : kSpellings) {
    Route route = book();
    spelling.change(route);
    EXPECT_EQ(digest_of(terms_of(route)), digest_of(terms_of(book()))) << spelling.name;
  }
}

TEST(RouteTerms, WhateverDecidesAKeyOrItsRulesIsInTheDigest) {
  const Spelling kChanges[] = {
      {"name", [](Route& r) { r.name = "reserve"; }},
      {"policy", [](Route& r) { r.policy = Policy::Idempotent; }},
      {"mode", [](Route& r) { r.mode = Mode::Off; }},
      {"methods", [](Route& r) { r.methods.pop_back(); }},
      {"pattern", [](Route& r) { r.pattern = "/tools/{id}/reserve"; }},
      {"tenant", [](Route& r) { r.key.tenant->text = "X-Account"; }},
      {"run", [](Route& r) { r.key.run.reset(); }},
      {"fields", [](Route& r) { r.key.fields.pop_back(); }},
      {"the kind of a field", [](Route& r) { r.key.fields[1].from = From::Header; }},
      {"path", [](Route& r) { r.key.path = PathInKey::Route; }},
      {"guards", [](Route& r) { r.key.guards.clear(); }},
      {"caller", [](Route& r) { r.key.caller.reset(); }},
      {"client_key", [](Route& r) { r.key.client_key = ClientKey::Optional; }},
      {"key version", [](Route& r) { r.key_version = 3; }},
      {"no key version", [](Route& r) { r.key_version.reset(); }},
  };
  for (const Spelling& change : kChanges) {
    Route route = book();
    change.change(route);
    EXPECT_NE(digest_of(terms_of(route)), digest_of(terms_of(book()))) << change.name;
  }
}

}  // namespace
}  // namespace semel
