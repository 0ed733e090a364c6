// What is refused, as which problem, and that the sentence names the place (spec 5, 8 and 10).
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/core/key_request.h"

namespace semel {
namespace {

using testing::KeyRequest;
using From = ValueSource::From;

KeyRequest booking() { return KeyRequest().json(R"({"flight":"BA117"})", {"/flight"}); }

struct Row {
  const char* name;
  std::function<void(KeyRequest&)> make;
  ProblemType type;
  const char* names;  ///< What the sentence must contain.
};

void expect_refused(const Row& row) {
  KeyRequest request = booking();
  row.make(request);
  const auto answer = request.derive();
  const auto* refusal = std::get_if<KeyRefusal>(&answer);
  ASSERT_NE(refusal, nullptr) << row.name;
  EXPECT_EQ(semel::row(refusal->type).slug, semel::row(row.type).slug) << row.name;
  EXPECT_NE(refusal->detail.find(row.names), std::string::npos)
      << row.name << ": " << refusal->detail;
  EXPECT_TRUE(refusal->detail.ends_with('.')) << refusal->detail;
}

TEST(KeyRefusal, EverySourceMustBePresentAndNotEmpty) {
  const auto with = [](From from, const char* text) {
    return [from, text](KeyRequest& r) { r.route.key.fields = {KeyRequest::source(from, text)}; };
  };
  const Row rows[] = {
      {"tenant absent", [](KeyRequest& r) { r.without("X-Tenant-Id"); },
       ProblemType::KeyUnderivable, "header X-Tenant-Id"},
      {"tenant empty", [](KeyRequest& r) { r.headers[0].second = " "; },
       ProblemType::KeyUnderivable, "header X-Tenant-Id"},
      {"run absent", [](KeyRequest& r) { r.without("X-Run-Id"); }, ProblemType::KeyUnderivable,
       "header X-Run-Id"},
      {"run empty", [](KeyRequest& r) { r.headers[1].second = ""; }, ProblemType::KeyUnderivable,
       "header X-Run-Id"},
      {"caller absent",
       [](KeyRequest& r) { r.route.key.caller = KeyRequest::source(From::Header, "X-Caller"); },
       ProblemType::KeyUnderivable, "header X-Caller"},
      {"member absent", [](KeyRequest& r) { r.body = R"({"flght":"BA117"})"; },
       ProblemType::KeyUnderivable, "body /flight"},
      {"member in another case only", [](KeyRequest& r) { r.body = R"({"Flight":"BA117"})"; },
       ProblemType::KeyUnderivable, "body /flight"},
      {"body empty", [](KeyRequest& r) { r.body.clear(); }, ProblemType::KeyUnderivable,
       "body /flight"},
      {"body empty without a type",
       [](KeyRequest& r) {
         r.body.clear();
         r.without("Content-Type");
       },
       ProblemType::KeyUnderivable, "body /flight"},
      {"query absent", with(From::Query, "q"), ProblemType::KeyUnderivable, "query q"},
      {"query empty",
       [](KeyRequest& r) {
         r.route.key.fields = {KeyRequest::source(From::Query, "q")};
         r.query = "q=1&q";
       },
       ProblemType::KeyUnderivable, "query q"},
      {"path param absent", with(From::PathParam, "id"), ProblemType::KeyUnderivable, "path id"},
      {"no TLS subject", with(From::TlsSubject, ""), ProblemType::KeyUnderivable, "tls subject"},
      {"no TLS uri", with(From::TlsUri, ""), ProblemType::KeyUnderivable, "tls uri"},
      {"no TLS dns", with(From::TlsDns, ""), ProblemType::KeyUnderivable, "tls dns"},
      {"no authorization", with(From::AuthorizationDigest, ""), ProblemType::KeyUnderivable,
       "authorization digest"},
      {"tenant is an object",
       [](KeyRequest& r) {
         r.body = R"({"flight":"BA117","t":{}})";
         r.route.key.tenant = KeyRequest::body_at("/t");
       },
       ProblemType::KeyUnderivable, "body /t"},
  };
  for (const Row& row : rows) expect_refused(row);
}

TEST(KeyRefusal, NullAndTheEmptyTextAreValuesOfABody) {
  for (const char* body : {R"({"flight":null})", R"({"flight":""})", R"({"flight":[]})"}) {
    KeyRequest request = booking();
    request.body = body;
    EXPECT_TRUE(request.is_keyed()) << body;
  }
}

TEST(KeyRefusal, ABodyThatTwoServersCouldReadInTwoWays) {
  const auto body = [](const char* text) { return [text](KeyRequest& r) { r.body = text; }; };
  const Row rows[] = {
      {"duplicate", body(R"({"flight":"A","flight":"B"})"), ProblemType::BodyAmbiguous,
       "a duplicate member name at byte 14"},
      {"duplicate that nobody named", body(R"({"flight":"A","x":{"a":1,"a":2}})"),
       ProblemType::BodyAmbiguous, "at byte 25"},
      {"case twin", body(R"({"flight":"A","Flight":"B"})"), ProblemType::BodyAmbiguous,
       "body /flight"},
      {"no object", body("[]"), ProblemType::BodyAmbiguous, "no object"},
      {"a text", body(R"("A")"), ProblemType::BodyAmbiguous, "no object"},
      {"trailing", body(R"({"flight":"A"} x)"), ProblemType::BodyAmbiguous, "at byte 15"},
      {"white space", body(" "), ProblemType::BodyAmbiguous, "at byte 1"},
      {"JSON that nobody reads",
       [](KeyRequest& r) {
         r.route.key.fields = {KeyRequest::source(From::Constant, "c")};
         r.body = "{";
       },
       ProblemType::BodyAmbiguous, "at byte 1"},
      {"case twin of a guard",
       [](KeyRequest& r) {
         r.body = R"({"flight":"A","Amount":5})";
         r.route.key.guards = {KeyRequest::body_at("/amount")};
       },
       ProblemType::BodyAmbiguous, "body /amount"},
      {"a form in another charset",
       [](KeyRequest& r) {
         r.headers.back().second = "application/x-www-form-urlencoded";
         r.body = "flight=%E9";
       },
       ProblemType::BodyAmbiguous, "invalid UTF-8 at byte 0"},
  };
  for (const Row& row : rows) expect_refused(row);
}

TEST(KeyRefusal, ATypeThatCannotBeKeyed) {
  const auto type = [](const char* value) {
    return [value](KeyRequest& r) { r.headers.back().second = value; };
  };
  const Row rows[] = {
      {"text", type("text/plain"), ProblemType::ContentType, "application/json"},
      {"latin1", type("application/json; charset=latin1"), ProblemType::ContentType, "UTF-8"},
      {"none", [](KeyRequest& r) { r.without("Content-Type"); }, ProblemType::ContentType,
       "application/json"},
      {"multipart with a pointer", type("multipart/form-data; boundary=x"),
       ProblemType::ContentType, "application/json"},
      {"guard alone",
       [](KeyRequest& r) {
         r.route.key.fields.clear();
         r.route.key.guards = {KeyRequest::body_at("/amount")};
         r.headers.back().second = "text/plain";
       },
       ProblemType::ContentType, "application/json"},
      {"multipart, whole request",
       [](KeyRequest& r) {
         r.route.key.fields.clear();
         r.headers.back().second = "multipart/form-data; boundary=x";
       },
       ProblemType::ContentType, "boundary"},
      {"multipart without a boundary under a client key",
       [](KeyRequest& r) {
         r.route.key.fields.clear();
         r.route.key.client_key = ClientKey::Required;
         r.headers.back().second = "multipart/form-data";
         r.header("Idempotency-Key", "k1");
       },
       ProblemType::ContentType, "boundary"},
      {"gzip", [](KeyRequest& r) { r.header("Content-Encoding", "gzip"); },
       ProblemType::ContentType, "Content-Encoding"},
      {"identity and gzip",
       [](KeyRequest& r) {
         r.header("Content-Encoding", "identity").header("content-encoding", "gzip");
       },
       ProblemType::ContentType, "Content-Encoding"},
  };
  for (const Row& row : rows) expect_refused(row);
  EXPECT_TRUE(booking().header("Content-Encoding", "Identity").is_keyed());
}

TEST(KeyRefusal, AnIdentityThatComesTwice) {
  const auto twice = [](const char* name) {
    return [name](KeyRequest& r) { r.header(name, "again"); };
  };
  const Row rows[] = {
      {"tenant", twice("x-tenant-id"), ProblemType::BadRequest, "X-Tenant-Id"},
      {"run", twice("X-RUN-ID"), ProblemType::BadRequest, "X-Run-Id"},
      {"type", twice("content-type"), ProblemType::BadRequest, "Content-Type"},
      {"client key",
       [](KeyRequest& r) { r.header("Idempotency-Key", "a").header("idempotency-key", "a"); },
       ProblemType::BadRequest, "Idempotency-Key"},
      {"caller",
       [](KeyRequest& r) {
         r.route.key.caller = KeyRequest::source(From::Header, "X-Caller");
         r.header("X-Caller", "a").header("X-Caller", "a");
       },
       ProblemType::BadRequest, "X-Caller"},
      {"tenant of the query",
       [](KeyRequest& r) {
         r.route.key.tenant = KeyRequest::source(From::Query, "t");
         r.query = "t=a&t=b";
       },
       ProblemType::BadRequest, "query t"},
      {"authorization",
       [](KeyRequest& r) {
         r.route.key.caller = KeyRequest::source(From::AuthorizationDigest);
         r.header("Authorization", "a").header("Authorization", "b");
       },
       ProblemType::BadRequest, "Authorization"},
      {"broken escape of the query",
       [](KeyRequest& r) {
         r.route.key.fields.clear();
         r.query = "a=%2";
       },
       ProblemType::BadRequest, "query"},
  };
  for (const Row& row : rows) expect_refused(row);
}

TEST(KeyRefusal, AClientKeyThatIsMissingOrMalformed) {
  const Row rows[] = {
      {"missing", [](KeyRequest& r) { r.route.key.client_key = ClientKey::Required; },
       ProblemType::KeyMissing, "Idempotency-Key"},
      {"malformed",
       [](KeyRequest& r) {
         r.route.key.client_key = ClientKey::Required;
         r.header("Idempotency-Key", "a b");
       },
       ProblemType::KeyMalformed, "Idempotency-Key"},
      {"malformed is not taken for absent",
       [](KeyRequest& r) {
         r.route.key.client_key = ClientKey::Optional;
         r.header("Idempotency-Key", "");
       },
       ProblemType::KeyMalformed, "Idempotency-Key"},
  };
  for (const Row& row : rows) expect_refused(row);
}

TEST(KeyRefusal, NoSentenceRepeatsWhatTheClientSent) {
  KeyRequest request = booking();
  request.body = R"({"flight":"s3cret","Flight":"s3cret"})";
  EXPECT_EQ(request.refusal().find("s3cret"), std::string::npos);
  request = booking();
  request.route.key.client_key = ClientKey::Required;
  request.header("Idempotency-Key", "s3cret s3cret");
  EXPECT_EQ(request.refusal().find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace semel
