#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

/// A head that announces so many bytes.
std::string head_of(std::size_t length) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

/// The effect happens; the head is sent at once and eight pieces follow, each after `pause`.
Script commits_and_trickles(std::size_t length, milliseconds pause) {
  return [length, pause](Turn& turn) {
    constexpr std::size_t kPieces = 8;
    turn.commit();
    turn.send(head_of(length));
    for (std::size_t i = 0; i < kPieces; ++i) {
      turn.wait(pause);
      turn.send(std::string(length / kPieces, 'x'));
    }
  };
}

GatewayOptions with_stream_timeout(const std::string& stream_timeout) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    timeout: 20s
    stream_timeout: )" +
                   stream_timeout + kToolKey;
  return options;
}

TEST(LongAnswer, HasOneStreamTimeoutFromItsHeadToItsLastByte) {
  struct Row {
    const char* name;
    std::size_t length;
  };
  // What is collected first, to 64 KiB, and what flows then do not each have a second.
  for (const Row& row : {Row{"over 64 KiB", 160'000}, {"within 64 KiB", 8'000}}) {
    SCOPED_TRACE(row.name);
    Gateway gateway(with_stream_timeout("1s"));
    gateway.upstream.script(commits_and_trickles(row.length, milliseconds{200}));
    const Response cut = gateway.book();
    EXPECT_FALSE(cut.is_complete() && cut.status == 200) << "1.6 s are more than a second";
    gateway.upstream.script(commits_and_answers(200, "{}"));
    expect_problem(gateway.book(), "indeterminate");
    EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total", {{"reason", "timeout"}}), 1);
    EXPECT_EQ(gateway.upstream.requests(), 1);
  }
}

TEST(LongAnswer, IsSettledWithinTheLeaseAlthoughItsClientTakesNothing) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    dispatch_by: 1s
    timeout: 1s
    stream_timeout: 1s
    settle: 500ms
    lease_margin: 3s)" +
                   std::string(kToolKey);
  Gateway gateway(options);
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    // More than any socket buffer takes while the client does not read.
    turn.send(head_of(32 * 1024 * 1024));
    turn.send(std::string(32 * 1024 * 1024, 'x'));
  });
  HttpClient stalled(gateway.semel.port());
  stalled.send(Gateway::tool_request("/tools/book"));
  ASSERT_TRUE(stalled.sees("\r\n\r\n"));
  // The next call is answered once the first is settled: its client was cut, its effect is known.
  expect_problem(gateway.book(), "result-not-kept");
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_total"), 0);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(LongAnswer, ThatTricklesWithinItsTimeArrivesWholeAndIsReplayed) {
  constexpr std::size_t kLength = 160'000;
  Gateway gateway(with_stream_timeout("20s"));
  gateway.upstream.script(commits_and_trickles(kLength, milliseconds{20}));
  const Response first = gateway.book();
  EXPECT_EQ(name(first.end), "complete");
  EXPECT_EQ(first.header("Idempotency-Status"), "executed");
  EXPECT_TRUE(first.body == std::string(kLength, 'x'));
  const Response replay = gateway.book();
  EXPECT_EQ(replay.header("Idempotency-Status"), "replayed");
  EXPECT_TRUE(replay.body == first.body);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(LongAnswer, ThatIsCutIsCountedAsWhatItIsNotAsExecuted) {
  struct Row {
    const char* path;
    const char* route;
    const char* outcome;
    const char* next;  ///< `Idempotency-Status` of the next call.
  };
  constexpr Row kRows[] = {
      {"/tools/seat", "seat", "failed", "executed"},
      {"/tools/book", "book", "indeterminate", "indeterminate"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.route);
    Gateway gateway;
    gateway.upstream.script(
        commits_and_sends(head_of(200'000) + std::string(100'000, 'x'), Then::Finish));
    const Response cut = gateway.call_tool(row.path);
    EXPECT_EQ(name(cut.end), "cut");
    EXPECT_LT(cut.body.size(), 200'000U);
    const auto counted = [&](const char* outcome) {
      return gateway.semel.metric("semel_requests_total",
                                  {{"route", row.route}, {"outcome", outcome}});
    };
    EXPECT_TRUE(eventually([&] { return counted(row.outcome) == 1; }));
    EXPECT_EQ(counted("executed"), 0);
    EXPECT_EQ(gateway.upstream.requests(), 1) << "a byte was relayed: nothing is retried";
    gateway.upstream.script(commits_and_answers(200, "{}"));
    EXPECT_EQ(gateway.call_tool(row.path).header("Idempotency-Status"), row.next);
  }
}

TEST(LongAnswer, ReachesAPromptClientWholeWhereNothingLateIsAwaited) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    settle: 0s)" + std::string(kToolKey);
  Gateway gateway(options);
  gateway.upstream.script(commits_and_answers(200, std::string(4'000'000, 'x')));
  const Response whole = gateway.book();
  EXPECT_EQ(name(whole.end), "complete") << "full buffers are no slow client";
  EXPECT_EQ(whole.body.size(), 4'000'000U);
}

}  // namespace
}  // namespace semel::testing
