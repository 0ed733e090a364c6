// Whole requests and responses of two corpora through gate, reader and chunk decoder together.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/proxy/verdict.h"
#include "tests/support/corpus.h"

namespace semel::proxy {
namespace {

using testing::judge_connection;
using testing::read_rows;

// What is chosen where the RFC leaves a choice (rows that say "either").
const std::map<std::string_view, std::string_view> kChosen{
    {"cl-leading-zero", "400"},
    {"cl-under-name", "400"},
    {"te-underscore", "400"},
    {"ck-lead0-many", "400"},
    {"ck-ext", "accept"},
    {"ck-trailer-cl", "accept"},
    {"ck-trailer-te", "accept"},
    {"ck-trailer-host", "accept"},
    {"ck-trailer-auth", "accept"},
    {"ck-1byte-flood", "accept"},
    {"ln-leading-crlf", "accept"},
    {"ln-leading-crlf-1000", "400"},
    {"rl-ver-1.2", "505"},
    {"rl-abs", "400"},
    {"rl-abs-mismatch", "400"},
    {"rl-8k", "414"},
    {"hd-200", "431"},
    {"hd-dup-key", "400"},
    {"hd-under-tenant", "400"},
    {"hd-conn-strip-tenant", "400"},
    {"hd-conn-host", "400"},
    {"hd-upgrade-ws", "accept"},
    {"hd-upgrade-h2c", "accept"},
    {"hd-max-forwards", "accept"},
    {"pl-bad-second", "accept 400"},
    {"pl-after-close", "accept"},
};

TEST(GateCorpus, EveryRequestOfOurOwnCorpusGetsItsVerdict) {
  GateRules rules;
  rules.headers_read = {"X-Tenant"};
  const auto rows = read_rows(SEMEL_SOURCE_DIR "/tests/proxy/corpus/http_requests.jsonl");
  ASSERT_EQ(rows.size(), 126u);
  for (const auto& row : rows) {
    const std::string& id = row["id"].text();
    SCOPED_TRACE(id + ", RFC " + row["ref"].text() + " " + row["note"].text());
    const std::string verdict = judge_connection(testing::to_bytes(row["raw"].text()), rules);
    const std::string& expected = row["expect"].text();
    if (expected == "accept") {
      EXPECT_EQ(verdict, id == "pl-two" ? "accept accept" : "accept");
    } else if (expected == "reject") {
      EXPECT_FALSE(verdict.starts_with("accept"));
    } else {
      ASSERT_TRUE(kChosen.contains(id));
      EXPECT_EQ(verdict, kChosen.at(id));
    }
  }
}

// The refusals that have a status of their own (RFC 9110 15.5.15, 15.6.2, 15.6.6; RFC 6585 5).
TEST(GateCorpus, RefusalsHaveTheStatusThatTheRfcNames) {
  const std::map<std::string_view, std::string_view> statuses{
      {"te-gzip", "501"},     {"te-gzip-chunked", "400"}, {"te-cl", "400"},
      {"rl-ver-2.0", "505"},  {"rl-ver-1.10", "400"},     {"rl-h2-preface", "505"},
      {"rl-connect", "501"},  {"rl-100k", "414"},         {"rl-method-long", "501"},
      {"hd-two-host", "400"}, {"rl-pct-nul", "400"},      {"tr-cut-header", "cut"},
      {"tr-cut-body", "cut"}, {"tr-empty", "cut"},        {"gb-random", "400"},
  };
  std::size_t seen = 0;
  for (const auto& row : read_rows(SEMEL_SOURCE_DIR "/tests/proxy/corpus/http_requests.jsonl")) {
    const auto status = statuses.find(row["id"].text());
    if (status == statuses.end()) continue;
    ++seen;
    EXPECT_EQ(judge_connection(testing::to_bytes(row["raw"].text()), {}), status->second)
        << status->first;
  }
  EXPECT_EQ(seen, statuses.size());
}

// Requests that llhttp takes and we refuse, each with the reason.
const std::map<std::string_view, std::string_view> kStricterRequests{
    {"Restarting when keep-alive is explicitly", "no Host in the second request"},
    {"Should parse multiple events", "no Host in the second request"},
    {"`Content-Length` with zeroes", "leading zeros, that some servers read as octal"},
    {"`Content-Length` with follow-up headers", "leading zeros, that some servers read as octal"},
    {"CONNECT request", "CONNECT is never served"},
    {"CONNECT request with CAPS", "CONNECT is never served"},
    {"CONNECT with body", "CONNECT is never served"},
    {"Underscore in hostname", "CONNECT is never served"},
    {"M-SEARCH request", "the target * is for OPTIONS only"},
    {"SOURCE request with ICE", "not HTTP"},
    {"OPTIONS request with RTSP", "not HTTP"},
    {"ANNOUNCE request with RTSP", "not HTTP"},
    {"No HTTP version", "HTTP/0.9"},
    {"curl GET", "a Host with sub-delims of RFC 3986"},
    {"Firefox GET", "a Host with sub-delims of RFC 3986"},
    {"POST with `chunked` as last transfer-encoding", "a fragment in the target"},
    {"POST with `chunked` as last transfer-encoding (multiple headers)",
     "a fragment in the target"},
    {"Fragment in URI", "a fragment in the target"},
    {"Quotes in URI", "a character outside RFC 3986"},
    {"Query URL with vertical bar character", "a character outside RFC 3986"},
    {"Host terminated by a query string", "absolute-form of another authority"},
    {"`host:port` terminated by a query string", "absolute-form of another authority"},
    {"`host:port` terminated by a space", "absolute-form of another authority"},
    {"`host:port` and basic auth", "absolute-form of another authority"},
};
// Requests that llhttp refuses and the gate lets through, each with the reason.
const std::map<std::string_view, std::string_view> kOtherRequests{
    {"No restart when keep-alive is off (1.0)", "what follows is never read: the session closes"},
    {"HTTP protocol and ANNOUNCE method", "any token is a method: the routes deny by default"},
    {"Invalid method", "any token is a method: the routes deny by default"},
};

/// The request with a Host, where the sample has none: else that alone would decide.
std::string with_host(std::string raw) {
  const std::size_t line_end = raw.find("\r\n", raw.starts_with("\r\n") ? 2 : 0);
  const bool has_host = raw.find("\nHost:") != std::string::npos ||
                        raw.find("\nhost:") != std::string::npos ||
                        raw.find("\nHOST:") != std::string::npos;
  if (!has_host && line_end != std::string::npos) raw.insert(line_end + 2, "Host: a\r\n");
  return raw;
}

TEST(GateCorpus, RequestsOfLlhttpPassOnlyWhereAStrictParserTakesThem) {
  const auto file = testing::corpora_folder() / "llhttp/requests.jsonl";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the llhttp corpus is not here";
  std::size_t requests = 0;
  for (const auto& row : read_rows(file)) {
    // Lenient modes (request-lenient-*) and request-finish, which is about a parser's API, are left
    // out.
    if (row["type"].text() != "request") continue;
    ++requests;
    const std::string& title = row["title"].text();
    SCOPED_TRACE(title);
    const std::string verdict = judge_connection(with_host(row["raw"].text()), {});
    if (row["llhttp"].text() == "accept") {
      // Samples of upgrades, and of heads alone, end within what would be a body or another
      // request.
      const bool is_refused = verdict.find_first_of("45") != std::string::npos;
      EXPECT_EQ(is_refused, kStricterRequests.contains(title)) << verdict;
    } else {
      EXPECT_EQ(verdict == "accept", kOtherRequests.contains(title)) << verdict;
    }
  }
  EXPECT_EQ(requests, 131u);
}

const std::map<std::string_view, std::string_view> kStricterResponses{
    {"HTTP 101 response with Upgrade and Content-Length header", "no upgrade was asked for"},
    {"HTTP 101 response with Upgrade and Transfer-Encoding header", "no upgrade was asked for"},
    {"RTSP response", "not HTTP"},
    {"ICE response", "not HTTP"},
    {"HTTP version 0.9", "not HTTP/1"},
    {"Response starting with CRLF", "an empty line before the status line"},
    {"`chunked` before other transfer-encoding", "a coding other than chunked"},
    {"multiple transfer-encoding where chunked is not the last one", "Transfer-Encoding repeated"},
    {"`chunkedchunked` transfer-encoding does not enable chunked enconding", "an unknown coding"},
};
const std::map<std::string_view, std::string_view> kOtherResponses{
    {"HTTP/1.1 with keep-alive disabled and 204 status", "what follows is never read"},
    {"HTTP/1.1 with keep-alive disabled, content-length", "what follows is never read"},
};

/// One response with its body: `accept`, `interim`, `cut` or `malformed`.
std::string judge_response(std::string_view raw) {
  ResponseHead head;
  const ResponseAnswer answer = read_response_head(raw, 0, "GET", head);
  if (std::holds_alternative<MalformedResponse>(answer)) return "malformed";
  if (std::holds_alternative<Interim>(answer)) return "interim";
  if (std::holds_alternative<NeedMore>(answer)) return "cut";
  raw.remove_prefix(head.head_bytes);
  std::string body;
  return head.framing == Framing::Chunked ? testing::decode_chunks(raw, body) : "accept";
}

TEST(GateCorpus, ResponsesOfLlhttpPassOnlyWhereAStrictParserTakesThem) {
  const auto file = testing::corpora_folder() / "llhttp/requests.jsonl";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the llhttp corpus is not here";
  std::size_t responses = 0;
  for (const auto& row : read_rows(file)) {
    if (row["type"].text() != "response") continue;
    ++responses;
    const std::string& title = row["title"].text();
    SCOPED_TRACE(title);
    const std::string verdict = judge_response(row["raw"].text());
    if (row["llhttp"].text() == "accept") {
      EXPECT_EQ(verdict == "malformed", kStricterResponses.contains(title)) << verdict;
    } else {
      EXPECT_EQ(verdict == "accept", kOtherResponses.contains(title)) << verdict;
    }
  }
  EXPECT_EQ(responses, 75u);
}

}  // namespace
}  // namespace semel::proxy
