// What is in a key and what is not (spec 5): two requests are compared, never one against a
// constant.
#include "core/key.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tests/core/key_request.h"
#include "tests/support/corpus.h"

namespace semel {
namespace {

using testing::Json;
using testing::KeyRequest;
using From = ValueSource::From;

constexpr const char* kBody = R"({"flight":"BA117","amount":12.5,"request_id":"a1"})";

KeyRequest booking() { return KeyRequest().json(kBody, {"/flight"}); }
KeyRequest whole_request() { return KeyRequest().json(kBody); }

struct Change {
  const char* name;
  std::function<void(KeyRequest&)> make;
};

TEST(Key, EveryComponentMakesAnotherKey) {
  const Change changes[] = {
      {"tenant", [](KeyRequest& r) { r.headers[0].second = "other"; }},
      {"run", [](KeyRequest& r) { r.headers[1].second = "run-8"; }},
      {"run none", [](KeyRequest& r) { r.route.key.run.reset(); }},
      {"operation", [](KeyRequest& r) { r.route.name = "rebook"; }},
      {"method", [](KeyRequest& r) { r.method = "PUT"; }},
      {"path", [](KeyRequest& r) { r.path.segments[1] = "rebook"; }},
      {"path cut elsewhere", [](KeyRequest& r) { r.path.segments = {"toolsbook"}; }},
      {"path: route", [](KeyRequest& r) { r.route.key.path = PathInKey::Route; }},
      {"key version", [](KeyRequest& r) { r.route.key_version = 1; }},
      {"named field", [](KeyRequest& r) { r.body = R"({"flight":"BA118"})"; }},
      {"another field named",
       [](KeyRequest& r) { r.route.key.fields.push_back(KeyRequest::body_at("/amount")); }},
      {"the same value from elsewhere",
       [](KeyRequest& r) { r.route.key.fields = {KeyRequest::source(From::Constant, "BA117")}; }},
  };
  const std::string base = booking().verdict();
  for (const Change& change : changes) {
    KeyRequest request = booking();
    change.make(request);
    ASSERT_TRUE(request.is_keyed()) << change.name << ": " << request.refusal();
    EXPECT_NE(request.verdict(), base) << change.name;
  }
}

TEST(Key, WhatIsNotNamedDoesNotCount) {
  const Change changes[] = {
      {"another member", [](KeyRequest& r) { r.body = R"({"flight":"BA117","request_id":"b2"})"; }},
      {"a header", [](KeyRequest& r) { r.header("X-Request-Id", "1"); }},
      {"a condition", [](KeyRequest& r) { r.header("If-Match", "\"v1\""); }},
      {"the query", [](KeyRequest& r) { r.query = "a=1"; }},
      {"the caller",
       [](KeyRequest& r) {
         r.header("X-Caller", "me");
         r.route.key.caller = KeyRequest::source(From::Header, "X-Caller");
       }},
      {"a guard",
       [](KeyRequest& r) { r.route.key.guards.push_back(KeyRequest::body_at("/amount")); }},
      {"the client's own key", [](KeyRequest& r) { r.header("Idempotency-Key", "k1"); }},
      {"the pattern", [](KeyRequest& r) { r.route.pattern = "/tools/{tool}"; }},
  };
  const std::string base = booking().verdict();
  for (const Change& change : changes) {
    KeyRequest request = booking();
    change.make(request);
    EXPECT_EQ(request.verdict(), base) << change.name;
  }
}

TEST(Key, WithoutFieldsTheWholeRequestCounts) {
  const Change changes[] = {
      {"any member", [](KeyRequest& r) { r.body = R"({"flight":"BA117","amount":12.5})"; }},
      {"the query", [](KeyRequest& r) { r.query = "a=1"; }},
      {"an empty query", [](KeyRequest& r) { r.query = ""; }},
      {"If-Match", [](KeyRequest& r) { r.header("If-Match", "\"v1\""); }},
      {"Range", [](KeyRequest& r) { r.header("range", "bytes=0-1"); }},
      {"no body", [](KeyRequest& r) { r.body.clear(); }},
      {"another type", [](KeyRequest& r) { r.headers.back().second = "text/plain"; }},
  };
  const std::string base = whole_request().verdict();
  for (const Change& change : changes) {
    KeyRequest request = whole_request();
    change.make(request);
    ASSERT_TRUE(request.is_keyed()) << change.name << ": " << request.refusal();
    EXPECT_NE(request.verdict(), base) << change.name;
  }
}

TEST(Key, WithoutFieldsSpellingStillDoesNotCount) {
  KeyRequest spaced = whole_request();
  spaced.body = R"({ "request_id":"a1", "amount":1250e-2, "\u0066light":"BA117" })";
  EXPECT_EQ(spaced.verdict(), whole_request().verdict());
  KeyRequest traced = whole_request();
  traced.header("traceparent", "00-1-2-01").header("X-If-Match", "1").header("If", "x");
  EXPECT_EQ(traced.verdict(), whole_request().verdict());

  KeyRequest query = whole_request();
  query.query = "a=%7e&b=%2f";
  KeyRequest spelled = whole_request();
  spelled.query = "a=~&b=%2F";
  EXPECT_EQ(query.verdict(), spelled.verdict());
  query.header("If-Match", "1").header("Range", "2");
  spelled.header("RANGE", "2").header("if-match", "1");
  EXPECT_EQ(query.verdict(), spelled.verdict());
}

TEST(Key, FieldsAreASetWhateverTheirOrderInTheConfiguration) {
  const KeyRequest forth = KeyRequest().json(kBody, {"/flight", "/amount", "/request_id"});
  const KeyRequest back = KeyRequest().json(kBody, {"/request_id", "/flight", "/amount"});
  ASSERT_TRUE(forth.is_keyed());
  EXPECT_EQ(forth.verdict(), back.verdict());
}

TEST(Key, AHeaderNameCountsInLowerCase) {
  KeyRequest upper = booking().header("X-PART", "1");
  upper.route.key.fields.push_back(KeyRequest::source(From::Header, "X-Part"));
  KeyRequest lower = booking().header("x-part", " 1\t");
  lower.route.key.fields.push_back(KeyRequest::source(From::Header, "x-part"));
  ASSERT_TRUE(upper.is_keyed());
  EXPECT_EQ(upper.verdict(), lower.verdict());
}

TEST(Key, ARepeatedQueryValueIsAnArray) {
  const auto with_query = [](std::string query) {
    KeyRequest request = booking();
    request.route.key.fields.push_back(KeyRequest::source(From::Query, "q"));
    request.query = std::move(query);
    return request.verdict();
  };
  EXPECT_EQ(with_query("q=a+b"), with_query("z=9&%71=a%20b"));
  EXPECT_NE(with_query("q=a&q=b"), with_query("q=b&q=a"));
  EXPECT_NE(with_query("q=a&q=b"), with_query("q=ab"));
  EXPECT_NE(with_query("q=a"), with_query("q=A"));
}

TEST(Key, AFormAndItsJsonAreOneCall) {
  KeyRequest form;
  form.body = "flight=BA117&x=1";
  form.header("Content-Type", "application/x-www-form-urlencoded");
  form.route.key.fields.push_back(KeyRequest::body_at("/flight"));
  ASSERT_TRUE(form.is_keyed());
  EXPECT_EQ(form.verdict(), booking().verdict());
}

TEST(Key, AMultipartUnderAClientKeyIsTheSameOnEveryAttempt) {
  const auto upload = [](const std::string& boundary, const std::string& part) {
    KeyRequest request;
    request.route.key.client_key = ClientKey::Optional;
    request.header("Idempotency-Key", "k1");
    request.header("Content-Type", "multipart/form-data; boundary=" + boundary);
    request.body = "--" + boundary + "\r\n\r\n" + part + "\r\n--" + boundary + "--\r\n";
    return request.key();
  };
  EXPECT_EQ(upload("aaa", "1").bindings, upload("zzzz", "1").bindings);
  EXPECT_NE(upload("aaa", "1").bindings, upload("aaa", "2").bindings);
  EXPECT_EQ(upload("aaa", "1").key, upload("aaa", "2").key);
}

KeyRequest with_client_key(std::string key) {
  KeyRequest request = whole_request();
  request.route.key.client_key = ClientKey::Optional;
  return request.header("Idempotency-Key", std::move(key));
}

TEST(ClientsOwnKey, ReplacesRunAndArguments) {
  const DerivedKey base = with_client_key("k1").key();
  EXPECT_EQ(base.source, KeySource::Client);
  EXPECT_EQ(base.client_key, "k1");
  const Change same[] = {
      {"quoted", [](KeyRequest& r) { r.headers.back().second = "\"k1\""; }},
      {"run", [](KeyRequest& r) { r.headers[1].second = "run-8"; }},
      {"no run", [](KeyRequest& r) { r.without("X-Run-Id"); }},
      {"body", [](KeyRequest& r) { r.body = "{}"; }},
      {"query", [](KeyRequest& r) { r.query = "a=1"; }},
      {"path", [](KeyRequest& r) { r.path.segments[1] = "rebook"; }},
  };
  for (const Change& change : same) {
    KeyRequest request = with_client_key("k1");
    change.make(request);
    EXPECT_EQ(request.verdict(), to_hex(base.key)) << change.name;
  }
  const Change other[] = {
      {"another key", [](KeyRequest& r) { r.headers.back().second = "k2"; }},
      {"tenant", [](KeyRequest& r) { r.headers[0].second = "other"; }},
      {"operation", [](KeyRequest& r) { r.route.name = "rebook"; }},
      {"method", [](KeyRequest& r) { r.method = "PUT"; }},
  };
  for (const Change& change : other) {
    KeyRequest request = with_client_key("k1");
    change.make(request);
    ASSERT_TRUE(request.is_keyed()) << change.name;
    EXPECT_NE(request.verdict(), to_hex(base.key)) << change.name;
  }
}

TEST(ClientsOwnKey, TheFingerprintIsPathQueryAndPayload) {
  const FingerprintDigest base = with_client_key("k1").key().bindings.fingerprint;
  EXPECT_NE(base, FingerprintDigest{});
  const Change other[] = {
      {"body", [](KeyRequest& r) { r.body = "{}"; }},
      {"query", [](KeyRequest& r) { r.query = "a=1"; }},
      {"path", [](KeyRequest& r) { r.path.segments[1] = "rebook"; }},
  };
  for (const Change& change : other) {
    KeyRequest request = with_client_key("k1");
    change.make(request);
    EXPECT_NE(request.key().bindings.fingerprint, base) << change.name;
  }
  KeyRequest spelled = with_client_key("k1");
  spelled.body = R"({"request_id":"a1","flight":"BA117","amount":12.50})";
  spelled.headers[1].second = "run-8";
  EXPECT_EQ(spelled.key().bindings.fingerprint, base);

  KeyRequest by_route = with_client_key("k1");
  by_route.route.key.path = PathInKey::Route;
  KeyRequest elsewhere = by_route;
  elsewhere.path.segments[1] = "rebook";
  EXPECT_EQ(by_route.key().bindings, elsewhere.key().bindings);
}

TEST(ClientsOwnKey, WithFieldsOnlyTheNamedOnesAreFingerprinted) {
  KeyRequest request = with_client_key("k1");
  request.route.key.fields.push_back(KeyRequest::body_at("/flight"));
  KeyRequest regenerated = request;
  regenerated.body = R"({"flight":"BA117","request_id":"b2"})";
  EXPECT_EQ(request.key().bindings, regenerated.key().bindings);
  regenerated.body = R"({"flight":"BA118"})";
  EXPECT_NE(request.key().bindings, regenerated.key().bindings);
}

TEST(ClientsOwnKey, OptionalFallsBackToTheDerivedOne) {
  KeyRequest request = whole_request();
  request.route.key.client_key = ClientKey::Optional;
  EXPECT_EQ(request.key().source, KeySource::Derived);
  EXPECT_EQ(request.verdict(), whole_request().verdict());
  EXPECT_EQ(request.key().bindings.fingerprint, FingerprintDigest{});
}

TEST(ClientsOwnKey, IsKeptForTheEchoWhereItIsNotHonoured) {
  EXPECT_EQ(booking().header("Idempotency-Key", "\"k1\"").key().client_key, "k1");
  const DerivedKey malformed = booking().header("Idempotency-Key", "a b").key();
  EXPECT_EQ(malformed.client_key, "");
  EXPECT_EQ(malformed.source, KeySource::Derived);
}

TEST(ClientsOwnKey, IsNoDerivedKeyThatLooksAlike) {
  KeyRequest derived;
  derived.route.key.run.reset();
  derived.route.key.fields = {KeyRequest::source(From::Constant, "k1")};
  KeyRequest client;
  client.route.key.client_key = ClientKey::Required;
  client.header("Idempotency-Key", "k1");
  EXPECT_NE(derived.verdict(), client.verdict());
}

TEST(KeyBindings, AnAbsentGuardIsAValue) {
  const auto guards = [](std::string body) {
    KeyRequest request = KeyRequest().json(std::move(body), {"/flight"});
    request.route.key.guards = {KeyRequest::body_at("/amount"),
                                KeyRequest::source(From::Header, "X-Price")};
    return request.key().bindings.guards;
  };
  EXPECT_EQ(guards(R"({"flight":"A"})"), guards(R"({"flight":"B"})"));
  EXPECT_NE(guards(R"({"flight":"A"})"), GuardDigest{});
  EXPECT_NE(guards(R"({"flight":"A"})"), guards(R"({"flight":"A","amount":null})"));
  EXPECT_NE(guards(R"({"flight":"A","amount":1})"), guards(R"({"flight":"A","amount":2})"));
  EXPECT_EQ(guards(R"({"flight":"A","amount":1})"), guards(R"({"flight":"A","amount":1.0})"));
}

TEST(KeyBindings, AnEmptyGuardHeaderIsNotAnAbsentOne) {
  KeyRequest request = booking();
  request.route.key.guards = {KeyRequest::source(From::Header, "X-Price")};
  const Bindings absent = request.key().bindings;
  EXPECT_NE(request.header("X-Price", "").key().bindings, absent);
}

TEST(KeyBindings, TheCallerIsDigestedWhereTheRecipeBindsOne) {
  EXPECT_EQ(booking().key().bindings.caller, CallerDigest{});
  const auto caller = [](std::string value) {
    KeyRequest request = booking().header("X-Caller", std::move(value));
    request.route.key.caller = KeyRequest::source(From::Header, "X-Caller");
    return request.key().bindings.caller;
  };
  EXPECT_NE(caller("a"), CallerDigest{});
  EXPECT_NE(caller("a"), caller("b"));
  EXPECT_EQ(caller("a"), caller("a"));
}

TEST(KeyTenant, IsToldAsBytesWhereverItComesFrom) {
  EXPECT_EQ(booking().key().tenant, "acme");
  KeyRequest request =
      KeyRequest().json(R"({"t":"\u0065\u0301","n":7.0,"flight":"A"})", {"/flight"});
  request.route.key.tenant = KeyRequest::body_at("/t");
  EXPECT_EQ(request.key().tenant, "\xC3\xA9");
  request.route.key.tenant = KeyRequest::body_at("/n");
  EXPECT_EQ(request.key().tenant, "7");
  request.route.key.tenant = KeyRequest::source(From::Constant, "one");
  EXPECT_EQ(request.key().tenant, "one");
  request.route.key.tenant = KeyRequest::source(From::TlsUri);
  request.tls.uri = "spiffe://acme";
  EXPECT_EQ(request.key().tenant, "spiffe://acme");
}

/// One row of the corpus with the key fields that some side of it has, as its recipe would name
/// them.
KeyRequest pair_request(const std::string& body, const std::vector<std::string>& pointers) {
  return KeyRequest().json(body, pointers);
}

TEST(KeyPairs, EveryPairIsAsTheCorpusSays) {
  const auto file = testing::corpora_folder() / "own/keypairs.jsonl";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent";
  int rows = 0;
  for (const Json& row : testing::read_rows(file)) {
    ++rows;
    const std::string a = testing::to_bytes(row["a"].text());
    const std::string label = a + " | " + row["why"].text();
    const bool reject = row["rel"].text() == "reject";
    const std::string b = reject ? a : testing::to_bytes(row["b"].text());
    std::vector<std::string> pointers;
    for (const std::string name : {"flight", "amount", "meta"}) {
      const bool named = a.find(name) != a.npos || b.find(name) != b.npos;
      if (named) pointers.push_back("/" + name);
    }
    // A body that names no field at all is judged by the field that every booking has.
    if (pointers.empty()) pointers.push_back("/flight");
    const std::string first = pair_request(a, pointers).verdict();
    if (reject) {
      EXPECT_EQ(first, a.empty() ? "key-underivable" : "body-ambiguous") << label;
    } else {
      ASSERT_TRUE(pair_request(a, pointers).is_keyed()) << label;
      ASSERT_TRUE(pair_request(b, pointers).is_keyed()) << label;
      EXPECT_EQ(first == pair_request(b, pointers).verdict(), row["rel"].text() == "same") << label;
    }
  }
  EXPECT_EQ(rows, 54);
}

}  // namespace
}  // namespace semel
