// What `semel explain` shows: the same key, and every step on the way to it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/core/key_request.h"

namespace semel {
namespace {

using testing::KeyRequest;
using From = ValueSource::From;
using Lines = std::vector<std::pair<std::string, std::string>>;

KeyExplanation explained(const KeyRequest& request) {
  return std::get<KeyExplanation>(request.explain());
}

TEST(KeyExplanation, NamesEveryComponent) {
  KeyRequest request = KeyRequest().json(
      R"({"flight":"BA117","amount":12.50,"meta":{"b":1,"a":[true]}})", {"/meta", "/flight"});
  request.route.key.fields.push_back(KeyRequest::source(From::Header, "X-Part"));
  request.route.key.guards.push_back(KeyRequest::body_at("/amount"));
  request.header("X-Part", "one");
  const KeyExplanation explanation = explained(request);
  EXPECT_EQ(explanation.kind, "derived");
  EXPECT_EQ(explanation.tenant, "acme");
  EXPECT_EQ(explanation.run, "run-7");
  EXPECT_EQ(explanation.operation, "book");
  EXPECT_EQ(explanation.method, "POST");
  EXPECT_EQ(explanation.path, (std::vector<std::string>{"tools", "book"}));
  EXPECT_EQ(explanation.arguments, (Lines{{"body /flight", R"("BA117")"},
                                          {"body /meta", R"({"a":[true],"b":1})"},
                                          {"header X-Part", "6f6e65"}}));
  ASSERT_EQ(explanation.bindings.size(), 1u);
  EXPECT_EQ(explanation.bindings[0].first, "guards");
  EXPECT_EQ(explanation.bindings[0].second, to_hex(request.key().bindings.guards));
  EXPECT_EQ(explanation.derived.key, request.key().key);
}

TEST(KeyExplanation, ShowsTheWholeRequestWhereItCounts) {
  KeyRequest request = KeyRequest().json(R"({ "b":2.0, "a":"x" })");
  request.header("Range", "r1").header("range", "r2");
  request.query = "q=%7e";
  EXPECT_EQ(explained(request).arguments, (Lines{{"whole body", R"({"a":"x","b":2})"},
                                                 {"query", "713d7e"},
                                                 {"header range", "7231 7232"}}));
  request = KeyRequest();
  EXPECT_EQ(explained(request).arguments, (Lines{{"whole body", "absent"}, {"query", "absent"}}));
  request.body = "raw";
  EXPECT_EQ(explained(request).arguments, (Lines{{"whole body", "726177"}, {"query", "absent"}}));
}

TEST(KeyExplanation, ShowsTheClientsKeyAndItsFingerprint) {
  KeyRequest request = KeyRequest().header("Idempotency-Key", "\"k1\"");
  request.route.key.client_key = ClientKey::Required;
  request.route.key.path = PathInKey::Route;
  const KeyExplanation explanation = explained(request);
  EXPECT_EQ(explanation.kind, "client");
  EXPECT_FALSE(explanation.run);
  EXPECT_EQ(explanation.path, std::vector<std::string>{"/tools/book"});
  EXPECT_EQ(explanation.arguments, (Lines{{"header Idempotency-Key", "\"k1\""}}));
  ASSERT_EQ(explanation.bindings.size(), 1u);
  EXPECT_EQ(explanation.bindings[0].first, "fingerprint");
}

TEST(KeyExplanation, ARefusalIsTheSameAsWithoutExplanation) {
  const KeyRequest request = KeyRequest().json("{");
  const auto answer = request.explain();
  const auto* refusal = std::get_if<KeyRefusal>(&answer);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->detail, request.refusal());
}

}  // namespace
}  // namespace semel
