#include "core/problem.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "core/json_text.h"
#include "tests/support/json.h"

namespace semel {
namespace {

using testing::Json;

struct SpecRow {
  ProblemType type;
  int status;
  std::string_view slug;
  RetryVeto retry;
};

// The table of spec 8, then the byte gate's refusals of spec 10, typed in by hand.
constexpr std::array kSpec{
    SpecRow{ProblemType::InFlight, 409, "in-flight", RetryVeto::Retry},
    SpecRow{ProblemType::Indeterminate, 409, "indeterminate", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::ResultNotKept, 409, "result-not-kept", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::KeyMissing, 400, "key-missing", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::KeyMalformed, 400, "key-malformed", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::KeyUnderivable, 400, "key-underivable", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::BodyAmbiguous, 400, "body-ambiguous", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::PathAmbiguous, 400, "path-ambiguous", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::KeyReused, 422, "key-reused", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::CallerMismatch, 403, "caller-mismatch", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::NoRoute, 404, "no-route", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::Method, 405, "method", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::ContentType, 415, "content-type", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::BodyTooLarge, 413, "body-too-large", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::RequestTimeout, 408, "request-timeout", RetryVeto::Silent},
    SpecRow{ProblemType::StoreUnavailable, 503, "store-unavailable", RetryVeto::Retry},
    SpecRow{ProblemType::StoreSuspect, 503, "store-suspect", RetryVeto::Retry},
    SpecRow{ProblemType::Overloaded, 503, "overloaded", RetryVeto::Retry},
    SpecRow{ProblemType::Draining, 503, "draining", RetryVeto::Retry},
    SpecRow{ProblemType::UpstreamUnreachable, 502, "upstream-unreachable", RetryVeto::Retry},
    SpecRow{ProblemType::UpstreamTimeout, 504, "upstream-timeout", RetryVeto::Retry},
    SpecRow{ProblemType::UpstreamFailed, 502, "upstream-failed", RetryVeto::Retry},
    SpecRow{ProblemType::TooManyWaiters, 429, "too-many-waiters", RetryVeto::Retry},
    SpecRow{ProblemType::Quota, 429, "quota", RetryVeto::Retry},
    SpecRow{ProblemType::Internal, 500, "internal", RetryVeto::Retry},
    SpecRow{ProblemType::BadRequest, 400, "bad-request", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::UriTooLong, 414, "uri-too-long", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::HeadersTooLarge, 431, "headers-too-large", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::NotImplemented, 501, "not-implemented", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::HttpVersion, 505, "http-version", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::ExpectationFailed, 417, "expectation-failed", RetryVeto::DoNotRetry},
    // The admin listener's (spec 6 and 11).
    SpecRow{ProblemType::Unauthorized, 401, "unauthorized", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::ForeignOrigin, 403, "foreign-origin", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::Misdirected, 421, "misdirected", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::NoRecord, 404, "no-record", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::NotCurrent, 409, "not-current", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::NotIndeterminate, 409, "not-indeterminate", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::AttemptAlive, 409, "attempt-alive", RetryVeto::Retry},
    SpecRow{ProblemType::RecordUnreadable, 500, "record-unreadable", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::ReloadRefused, 409, "reload-refused", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::EventsGone, 410, "events-gone", RetryVeto::DoNotRetry},
    SpecRow{ProblemType::EventUnreadable, 500, "event-unreadable", RetryVeto::DoNotRetry},
};

TEST(ProblemTable, SaysWhatTheSpecificationSays) {
  for (const SpecRow& spec : kSpec) {
    SCOPED_TRACE(spec.slug);
    const ProblemRow& ours = row(spec.type);
    EXPECT_EQ(ours.status, spec.status);
    EXPECT_EQ(ours.slug, spec.slug);
    EXPECT_EQ(ours.retry, spec.retry);
  }
}

TEST(ProblemTable, GivesAModelOneSentenceToActOn) {
  std::set<std::string_view> sentences;
  for (const SpecRow& spec : kSpec) {
    SCOPED_TRACE(spec.slug);
    const std::string_view detail = row(spec.type).detail;
    ASSERT_FALSE(detail.empty());
    EXPECT_TRUE(detail.back() == '.');
    EXPECT_TRUE(sentences.insert(detail).second) << "two problems share a sentence";
    EXPECT_FALSE(row(spec.type).title.empty());
  }
}

TEST(ProblemTable, UnknownOutcomeIsNeverAServerErrorAndNeverRetried) {
  // Clients and SDKs re-run on 5xx; they stop on 409 with both vetoes (spec 8).
  EXPECT_EQ(row(ProblemType::Indeterminate).status, 409);
  EXPECT_EQ(row(ProblemType::Indeterminate).detail,
            "The outcome of this call is unknown: it may have taken effect. Do not call it again.");
}

TEST(ProblemTable, EveryTypeHasItsPlaceInTheUsersPage) {
  std::ifstream stream(SEMEL_SOURCE_DIR "/docs/http-surface.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  for (const SpecRow& spec : kSpec) {
    EXPECT_TRUE(page.find("\n### " + std::string(spec.slug) + "\n") != std::string::npos)
        << "docs/http-surface.md has no heading for " << spec.slug;
  }
}

TEST(ProblemBody, HasTheMembersOfRfc9457AndOurs) {
  Problem problem;
  problem.type = ProblemType::Indeterminate;
  problem.reference = "00112233445566778899aabbccddeeff";
  problem.dispatched = true;
  problem.policy = Policy::Effectful;
  problem.route = "book";
  problem.upstream_status = 502;
  const Json body = Json::parse(render_body(problem));
  EXPECT_EQ(body["type"].text(), "/problems/indeterminate");
  EXPECT_EQ(body["title"].text(), "Outcome unknown");
  EXPECT_EQ(body["status"].text(), "409");
  EXPECT_EQ(body["status"].kind(), Json::Kind::Number);
  EXPECT_EQ(body["reference"].text(), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(body["retryable"].text(), "false");
  EXPECT_EQ(body["dispatched"].text(), "true");
  EXPECT_EQ(body["policy"].text(), "EFFECTFUL");
  EXPECT_EQ(body["route"].text(), "book");
  EXPECT_EQ(body["upstream_status"].text(), "502");
  EXPECT_TRUE(body["original_status"].is_absent());
}

TEST(ProblemBody, CarriesAnErrorObjectForStripesSdk) {
  for (const SpecRow& spec : kSpec) {
    SCOPED_TRACE(spec.slug);
    Problem problem;
    problem.type = spec.type;
    const Json body = Json::parse(render_body(problem));
    ASSERT_EQ(body["error"].kind(), Json::Kind::Object);
    const std::set<std::string> words{"api_error", "idempotency_error", "invalid_request_error"};
    EXPECT_TRUE(words.contains(body["error"]["type"].text())) << body["error"]["type"].text();
    EXPECT_EQ(body["error"]["code"].text(), spec.slug);
    EXPECT_EQ(body["error"]["message"].text(), body["detail"].text());
  }
}

TEST(ProblemBody, LeavesOutWhatIsNotKnown) {
  Problem problem;
  problem.type = ProblemType::NoRoute;
  const Json body = Json::parse(render_body(problem));
  for (const char* member : {"reference", "dispatched", "policy", "route", "upstream_status"}) {
    EXPECT_TRUE(body[member].is_absent()) << member;
  }
  EXPECT_EQ(body["retryable"].text(), "false");
}

TEST(ProblemBody, SaysWhereWhatIsKeptBegins) {
  Problem problem;
  problem.type = ProblemType::EventsGone;
  EXPECT_TRUE(Json::parse(render_body(problem))["oldest"].is_absent());
  problem.oldest = "5e0c3b1f-17";
  EXPECT_EQ(Json::parse(render_body(problem))["oldest"].text(), "5e0c3b1f-17");
}

TEST(ProblemBody, SaysNothingOfRetriesWhereTheSpecificationHasADash) {
  Problem problem;
  problem.type = ProblemType::RequestTimeout;
  EXPECT_TRUE(Json::parse(render_body(problem))["retryable"].is_absent());
}

TEST(ProblemBody, AFailedUpstreamIsRetryableOnlyWhereAPolicySaysSo) {
  Problem problem;
  problem.type = ProblemType::UpstreamFailed;
  problem.policy = Policy::ReadOnly;
  EXPECT_EQ(retry_veto(problem), RetryVeto::Retry);
  problem.policy = Policy::Idempotent;
  EXPECT_EQ(retry_veto(problem), RetryVeto::Retry);
  problem.policy = Policy::None;
  EXPECT_EQ(retry_veto(problem), RetryVeto::Silent);
  problem.policy = Policy::Effectful;
  EXPECT_EQ(retry_veto(problem), RetryVeto::DoNotRetry);
  problem.type = ProblemType::UpstreamTimeout;
  EXPECT_EQ(retry_veto(problem), RetryVeto::DoNotRetry);
  problem.type = ProblemType::UpstreamUnreachable;  // proof that nothing was sent
  EXPECT_EQ(retry_veto(problem), RetryVeto::Retry);
}

TEST(ProblemBody, EscapesAndMendsBytesOfTheUser) {
  Problem problem;
  problem.type = ProblemType::KeyUnderivable;
  problem.detail = std::string("header \"X\\Y\" is \xC3(\n\x01\x7F\x00.", 23);
  problem.route = "caf\xC3\xA9";
  const std::string text = render_body(problem);
  EXPECT_NE(text.find(R"(header \"X\\Y\" is )"
                      "\xEF\xBF\xBD"
                      R"((\n\u0001\u007f\u0000.)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"route\":\"caf\xC3\xA9\""), std::string::npos) << text;
}

struct BrokenText {
  const char* name;
  std::string_view bytes;
  std::string_view json;
};

TEST(JsonText, ReplacesEachMaximalBrokenPartOnce) {
  using namespace std::literals;
  // Unicode 15, table 3-8 and its neighbours: "U+FFFD Substitution of Maximal Subparts".
  const BrokenText rows[] = {
      {"non-shortest form", "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"sv,
       "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"sv},
      {"ill-formed surrogates", "\xED\xA0\x80"sv, "\uFFFD\uFFFD\uFFFD"sv},
      {"above the last code point", "\xF4\x91\x92\x93\xFF"sv, "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"sv},
      {"truncated", "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"sv, "\uFFFD\uFFFD\uFFFD\uFFFDA"sv},
      {"well-formed to the edges", "\xDF\xBF\xEF\xBF\xBF\xF4\x8F\xBF\xBF"sv,
       "\xDF\xBF\xEF\xBF\xBF\xF4\x8F\xBF\xBF"sv},
  };
  for (const BrokenText& row : rows) {
    std::string out;
    append_json_string(out, row.bytes);
    EXPECT_EQ(out, "\"" + std::string(row.json) + "\"") << row.name;
  }
}

}  // namespace
}  // namespace semel
