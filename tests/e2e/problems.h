#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/support/http_message.h"
#include "tests/support/json.h"

namespace semel::testing {

/// One row of spec 8: what a refusal says beside its sentence.
struct ProblemRow {
  std::string_view slug;
  int status;
  int retry_after_min;  ///< 0: no Retry-After at all.
  int retry_after_max;
  std::optional<bool> should_retry;  ///< Absent: neither of the two headers.
};

inline constexpr ProblemRow kProblemRows[] = {
    {"in-flight", 409, 1, 30, true},
    {"indeterminate", 409, 0, 0, false},
    {"result-not-kept", 409, 0, 0, false},
    {"key-missing", 400, 0, 0, false},
    {"key-malformed", 400, 0, 0, false},
    {"key-underivable", 400, 0, 0, false},
    {"body-ambiguous", 400, 0, 0, false},
    {"path-ambiguous", 400, 0, 0, false},
    {"key-reused", 422, 0, 0, false},
    {"caller-mismatch", 403, 0, 0, false},
    {"no-route", 404, 0, 0, false},
    {"method", 405, 0, 0, false},
    {"content-type", 415, 0, 0, false},
    {"body-too-large", 413, 0, 0, false},
    {"request-timeout", 408, 0, 0, std::nullopt},
    {"store-unavailable", 503, 1, 5, true},
    {"store-suspect", 503, 1, 5, true},
    {"overloaded", 503, 1, 5, true},
    {"draining", 503, 1, 5, true},
    {"internal", 500, 0, 0, true},
    {"upstream-unreachable", 502, 1, 1, true},
    {"upstream-timeout", 504, 0, 0, true},
    {"too-many-waiters", 429, 1, 30, true},
    {"quota", 429, 1, 60, true},
};

inline const ProblemRow& problem_row(std::string_view slug) {
  for (const ProblemRow& row : kProblemRows) {
    if (row.slug == slug) return row;
  }
  throw std::logic_error("spec 8 has no row " + std::string(slug));
}

/// The last segment of the problem's type; the body itself where there is none, for the failure
/// text.
inline std::string problem_slug(const Response& response) {
  const std::string type = Json::parse(response.body)["type"].text();
  const std::size_t slash = type.rfind("/problems/");
  return slash == std::string::npos ? std::to_string(response.status) + " " + response.body
                                    : type.substr(slash + 10);
}

/// Expects the header lines that spec 8 gives to this row, no more and no less.
inline void expect_retry_words(const Response& response, const ProblemRow& row) {
  std::optional<std::string> word;
  if (row.should_retry) word = *row.should_retry ? "true" : "false";
  EXPECT_EQ(response.header("x-should-retry"), word);
  EXPECT_EQ(response.header("stripe-should-retry"), word);
  const std::optional<std::string> after = response.header("Retry-After");
  if (row.retry_after_min == 0) {
    EXPECT_EQ(after, std::nullopt);
  } else {
    ASSERT_TRUE(after) << "no Retry-After";
    EXPECT_GE(std::stoi(*after), row.retry_after_min);
    EXPECT_LE(std::stoi(*after), row.retry_after_max);
  }
}

/// Expects the whole problem of spec 8: status, header lines and every member that it always has.
inline void expect_problem(const Response& response, std::string_view slug) {
  SCOPED_TRACE("problem " + std::string(slug));
  const ProblemRow& row = problem_row(slug);
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.status, row.status);
  ASSERT_EQ(problem_slug(response), slug);
  EXPECT_EQ(response.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(response.header("Cache-Control"), "no-store");
  expect_retry_words(response, row);
  const Json body = Json::parse(response.body);
  EXPECT_FALSE(body["title"].text().empty());
  EXPECT_EQ(body["title"].kind(), Json::Kind::String);
  EXPECT_EQ(body["status"].text(), std::to_string(row.status));
  EXPECT_EQ(body["detail"].kind(), Json::Kind::String);
  const char* const retryable = !row.should_retry ? "absent" : *row.should_retry ? "true" : "false";
  EXPECT_EQ(body["retryable"].text(), retryable);
  EXPECT_EQ(body["error"].kind(), Json::Kind::Object);
  for (const char* member : {"type", "code", "message"}) {
    EXPECT_EQ(body["error"][member].kind(), Json::Kind::String) << member;
  }
}

/// Expects which policy and route the problem names, and whether it says that a byte may have left.
inline void expect_verdict(const Response& response, std::string_view policy,
                           std::string_view route, std::string_view dispatched) {
  const Json body = Json::parse(response.body);
  EXPECT_EQ(body["policy"].text(), policy);
  EXPECT_EQ(body["route"].text(), route);
  EXPECT_EQ(body["dispatched"].text(), dispatched);
}

/// Expects a reference of 32 hex digits, the same in the body and in the header.
inline void expect_reference(const Response& response) {
  const std::string reference = Json::parse(response.body)["reference"].text();
  EXPECT_EQ(reference.size(), 32U) << reference;
  EXPECT_EQ(reference.find_first_not_of("0123456789abcdef"), std::string::npos) << reference;
  EXPECT_EQ(response.header("Idempotency-Ref"), reference);
}

}  // namespace semel::testing
