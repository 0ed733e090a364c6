#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"
#include "tests/support/corpus.h"

namespace semel::testing {
namespace {

/// One row of corpus/upstream.jsonl: what a tool sends, and what becomes of an EFFECTFUL call.
struct Row {
  std::string id;
  std::string raw;
  std::string then;
  std::string verdict;
};

std::vector<Row> corpus() {
  std::vector<Row> rows;
  for (const Json& json : read_rows(SEMEL_SOURCE_DIR "/tests/e2e/corpus/upstream.jsonl")) {
    const Json& raw = json["raw"];
    rows.push_back({json["id"].text(), raw.kind() == Json::Kind::String ? to_bytes(raw.text()) : "",
                    json["then"].text(), json["effectful"].text()});
  }
  return rows;
}

/// Lets the tool behave as the row says. @return false for a word that is not known here.
bool play(const Row& row, ScriptedUpstream& upstream) {
  if (row.then == "keep") {
    upstream.script(commits_and_sends(row.raw, Then::Keep));
  } else if (row.then == "close" || row.then == "FIN" || row.then.starts_with("close after")) {
    upstream.script(commits_and_sends(row.raw, Then::Finish));
  } else if (row.then.starts_with("RST")) {
    upstream.script(commits_and_sends(row.raw, Then::Reset));
  } else if (row.then == "connection refused") {
    upstream.refuse();
  } else if (row.then == "close at accept") {
    upstream.at_accept(ScriptedUpstream::AtAccept::Finish);
  } else if (row.then == "1 byte a second") {
    upstream.script([raw = row.raw](Turn& turn) {
      turn.commit();
      turn.send(raw);
      turn.drip("0123456789", milliseconds{1'000});
    });
  } else if (row.then == "before the body is read") {
    upstream.answer_before_body();
    upstream.script(commits_and_sends(row.raw, Then::Keep));
  } else {
    return false;
  }
  return true;
}

void expect_completed(Gateway& gateway, const Row& row) {
  const Response first = gateway.call_tool("/tools/brief");
  EXPECT_EQ(first.header("Idempotency-Status"), "executed") << first.body;
  EXPECT_EQ(std::to_string(first.status), row.id == "204-body" ? "204" : "200");
  const Response replay = gateway.call_tool("/tools/brief");
  EXPECT_EQ(replay.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(replay.status, first.status);
  EXPECT_EQ(replay.body, first.body);
  EXPECT_EQ(replay.header("Set-Cookie"), std::nullopt);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

void expect_indeterminate(Gateway& gateway) {
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  expect_problem(gateway.call_tool("/tools/brief"), "indeterminate");
  EXPECT_LE(gateway.upstream.requests(), 1);
}

void expect_released_after(Gateway& gateway, int status) {
  EXPECT_EQ(gateway.call_tool("/tools/brief").status, status);
  gateway.upstream.script(commits_and_answers(201, "{}"));
  EXPECT_EQ(gateway.call_tool("/tools/brief").status, 201) << "the retry runs";
}

void judge(Gateway& gateway, const Row& row) {
  if (row.verdict.starts_with("COMPLETED") || row.verdict.starts_with("policy: COMPLETED")) {
    expect_completed(gateway, row);
  } else if (row.verdict == "released, 502") {
    expect_problem(gateway.call_tool("/tools/brief"), "upstream-unreachable");
    gateway.upstream.listen_again();
    EXPECT_EQ(gateway.call_tool("/tools/brief").status, 200) << "the retry runs";
  } else if (row.verdict.starts_with("released, relayed")) {
    expect_released_after(gateway, row.id == "early-413" ? 413 : 422);
  } else if (row.verdict.starts_with("INDETERMINATE unless")) {
    const Response first = gateway.call_tool("/tools/brief");
    EXPECT_TRUE(first.status == 409 || first.status == 502) << first.status;
    expect_problem(first, first.status == 409 ? "indeterminate" : "upstream-unreachable");
  } else if (row.verdict.starts_with("INDETERMINATE")) {
    expect_indeterminate(gateway);
  } else {
    ADD_FAILURE() << "a verdict without a judge: " << row.verdict;
  }
}

TEST(UpstreamCorpus, EveryKindOfAnswerIsJudgedRight) {
  const std::vector<Row> rows = corpus();
  ASSERT_EQ(rows.size(), 23U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.id);
    if (row.then == "sent before any request") continue;  // The test below.
    Gateway gateway;
    ASSERT_TRUE(play(row, gateway.upstream)) << row.then;
    judge(gateway, row);
  }
}

TEST(UpstreamCorpus, BytesThatCameBeforeTheRequestAreNeverItsAnswer) {
  // Row early-extra: the tool speaks on an idle connection, where the next request would read it.
  std::string evil;
  for (const Row& row : corpus()) {
    if (row.id == "early-extra") evil = row.raw;
  }
  ASSERT_FALSE(evil.empty());
  Gateway gateway;
  gateway.upstream.script([evil](Turn& turn) {
    turn.send(response_text(200, "good"));
    turn.wait(milliseconds{50});
    turn.send(evil);
    turn.commit();  // Tells the test that the bytes are on their way.
  });
  for (int round = 1; round <= 3; ++round) {
    SCOPED_TRACE(round);
    EXPECT_EQ(gateway.call_tool("/tools/fare").body, "good");
    ASSERT_TRUE(gateway.upstream.sees_effects(round));
  }
  EXPECT_EQ(gateway.upstream.connections(), 3) << "such a connection is dropped";
}

TEST(UpstreamCorpus, BytesBehindAnAnswerDoNotSpoilItButEndTheConnection) {
  Gateway gateway;
  gateway.upstream.script(
      commits_and_sends(response_text(200, "good") + response_text(200, "evil"), Then::Keep));
  for (int round = 1; round <= 3; ++round) {
    const Response first = gateway.book(kBooking, {{"X-Run-Id", std::to_string(round)}});
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, "good");
  }
  EXPECT_EQ(gateway.upstream.connections(), 3);
}

TEST(UpstreamCorpus, MoreAnswersThatAreNoAnswerToAnEffectfulCall) {
  struct Bad {
    const char* name;
    const char* raw;
    Then then;
  };
  constexpr Bad kRows[] = {
      {"101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
       Then::Keep},
      {"two lengths that agree",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", Then::Keep},
      {"two lengths that differ",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", Then::Keep},
      {"length and chunked",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Then::Keep},
      {"bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", Then::Finish},
      {"obs-fold", "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 2\r\n\r\n{}", Then::Keep},
      {"a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n{}", Then::Keep},
      {"no status line", "hello\r\n\r\n", Then::Finish},
      {"a bad chunk size",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n", Then::Keep},
      {"a chunk longer than its size",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n", Then::Keep},
      {"chunks without the last",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", Then::Finish},
      {"a close-framed body that is reset", "HTTP/1.1 200 OK\r\n\r\nhello", Then::Reset},
      {"half a body, then silence", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", Then::Hang},
      {"half a head, then silence", "HTTP/1.1 200 OK\r\nContent-", Then::Hang},
      {"17 interim answers",
       "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\n"
       "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\n"
       "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\n"
       "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\n"
       "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
       Then::Keep},
  };
  Gateway gateway;
  int number = 0;
  for (const Bad& row : kRows) {
    SCOPED_TRACE(row.name);
    gateway.upstream.script(commits_and_sends(row.raw, row.then));
    const HeaderLines run = {{"X-Run-Id", row.name}};
    expect_problem(gateway.call_tool("/tools/brief", kBooking, run), "indeterminate");
    gateway.upstream.script(commits_and_answers(200, "{}"));
    expect_problem(gateway.call_tool("/tools/brief", kBooking, run), "indeterminate");
    EXPECT_EQ(gateway.upstream.requests(), ++number);
  }
}

TEST(UpstreamCorpus, TheSameAnswersToAReadAreA502AndNothingOfThemIsRelayed) {
  Gateway gateway;
  for (const char* raw : {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
                          "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", "nonsense\r\n\r\n"}) {
    SCOPED_TRACE(raw);
    gateway.upstream.script(commits_and_sends(raw, Then::Finish));
    const Response answer = gateway.call_tool("/tools/fare");
    EXPECT_TRUE(answer.is_complete());
    EXPECT_EQ(answer.status, 502);
  }
}

}  // namespace
}  // namespace semel::testing
