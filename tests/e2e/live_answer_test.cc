// Answers that flow while the tool still speaks: they reach the client piece by piece, they are
// kept or marked as not kept, and no kill leaves a client with a whole answer that nobody recorded.

#include "tests/e2e/cases.h"
#include "tests/e2e/faulty_disk.h"
#include "tests/e2e/framings.h"
#include "tests/e2e/tool_lines.h"

namespace semel::testing {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;

GatewayOptions keeping(const std::string& max_body) {
  CaseRoute route;
  route.more = "    record: {max_body: " + max_body + "}\n";
  GatewayOptions options = one_route(route);
  options.store = StoreKind::Sqlite;
  return options;
}

/// JSON of that size whose parts differ, so that no byte may be lost or doubled unseen.
std::string json_of(std::size_t size) {
  std::string text = "[0";
  for (int i = 1; text.size() < size - 12; ++i) text += "," + std::to_string(i);
  text.append(size - 1 - text.size(), ' ');
  return text + "]";
}

/// Bytes of all values without a pattern, always the same ones.
std::string binary_of(std::size_t size) {
  std::string bytes;
  for (std::uint32_t state = 1; bytes.size() < size;) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24U);
  }
  return bytes;
}

TEST(LiveAnswer, TenMebibytesReachTheClientWhileTheToolHoldsTheRest) {
  struct Row {
    const char* max_body;
    bool is_kept;
  };
  const std::string body = json_of(10 * kMebibyte);
  for (const Row& row : {Row{"16MiB", true}, {"1MiB", false}}) {
    for (const Framing framing : kFramings) {
      SCOPED_TRACE(std::string(name(framing)) + ", max_body " + row.max_body);
      Gateway gateway(keeping(row.max_body));
      gateway.upstream.script(commits_and_sends_in_steps(
          {.framing = framing, .bytes = {body.substr(0, 200'000), body.substr(200'000)}}));
      HttpClient client(gateway.semel.port(), milliseconds{60'000});
      client.send(keyed_call("long"));
      ASSERT_TRUE(client.sees("[0,1,2,3,4,5")) << "while the tool has not sent the rest";
      gateway.upstream.let_go();
      const Response first = client.read();
      expect_executed(first, 200);
      EXPECT_TRUE(first.body == body);
      gateway.semel.kill9();
      gateway.semel.start();
      const Response later = gateway.call(keyed_call("long"));
      if (row.is_kept) {
        EXPECT_EQ(later.header("Idempotency-Status"), "replayed");
        EXPECT_TRUE(later.body == body);
        EXPECT_EQ(later.header("Content-Type"), "application/json");
      } else {
        expect_problem(later, "result-not-kept");
        EXPECT_EQ(Json::parse(later.body)["original_status"].text(), "200");
      }
      expect_one_effect(gateway);
    }
  }
}

TEST(LiveAnswer, AnEventStreamFlowsEventByEventAndIsKeptOrMarkedAsNotKept) {
  struct Row {
    const char* max_body;
    bool is_kept;
  };
  for (const Row& row : {Row{"64KiB", true}, {"100B", false}}) {
    for (const Framing framing : {Framing::Chunked, Framing::ToTheEnd}) {
      SCOPED_TRACE(std::string(name(framing)) + ", max_body " + row.max_body);
      Gateway gateway(keeping(row.max_body));
      Pieces stream{.framing = framing,
                    .headers = {{"Content-Type", "text/event-stream"}},
                    .bytes = {},
                    .status = 201};
      for (int event = 1; event <= 20; ++event) {
        stream.bytes.push_back("data: event " + std::to_string(event) + ".\n\n");
      }
      gateway.upstream.script(commits_and_sends_in_steps(stream));
      HttpClient client(gateway.semel.port());
      client.send(keyed_call("events"));
      for (int event = 1; event <= 20; ++event) {
        ASSERT_TRUE(client.sees("event " + std::to_string(event) + "."))
            << "before the next one is sent";
        gateway.upstream.step();
      }
      const Response first = client.read();
      expect_executed(first, 201);
      EXPECT_EQ(first.body, stream.body());
      gateway.semel.restart();
      const Response later = gateway.call(keyed_call("events"));
      if (row.is_kept) {
        expect_same_answer(later, first);
      } else {
        expect_problem(later, "result-not-kept");
        EXPECT_EQ(Json::parse(later.body)["original_status"].text(), "201");
      }
      expect_one_effect(gateway);
    }
  }
}

TEST(LiveAnswer, AnEventStreamThatNeverEndsIsCutAtItsTimeoutAndNeverRunsAgain) {
  CaseRoute route;
  route.more = "    stream_timeout: 500ms\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    turn.drip(std::string(600, '.'), milliseconds{20});
  });
  const Response endless = gateway.call(keyed_call("endless"));
  EXPECT_EQ(endless.status, 200);
  EXPECT_EQ(name(endless.end), "cut");
  EXPECT_FALSE(endless.body.empty()) << "what came was passed on";
  expect_problem(gateway.call(keyed_call("endless")), "indeterminate");
  expect_one_effect(gateway);
}

TEST(LiveAnswer, AToolThatNeverPausesIsCutAtItsTimeoutToo) {
  CaseRoute route;
  route.more = "    stream_timeout: 300ms\n    settle: 300ms\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    // More than a slow machine passes on in the time, and never a moment without a byte.
    const std::string much(1 << 20, '.');
    for (int piece = 0; piece < 20'000; ++piece) turn.send(much);
  });
  const Response endless = gateway.call(keyed_call("endless"));
  EXPECT_EQ(name(endless.end), "cut");
  expect_problem(gateway.call(keyed_call("endless")), "indeterminate");
  EXPECT_TRUE(eventually([&] { return gateway.upstream.open_connections() == 0; }));
  expect_one_effect(gateway);
}

TEST(LiveAnswer, AClientThatLeavesAStreamLeavesItToBeRecorded) {
  Gateway gateway(keeping("64KiB"));
  const Pieces stream{.framing = Framing::Chunked,
                      .headers = {{"Content-Type", "text/event-stream"}},
                      .bytes = {"data: first\n\n", "data: last\n\n"}};
  gateway.upstream.script(commits_and_sends_in_steps(stream));
  HttpClient client(gateway.semel.port());
  client.send(keyed_call("left"));
  ASSERT_TRUE(client.sees("data: first"));
  client.reset();
  gateway.upstream.let_go();
  expect_replay(gateway.call(keyed_call("left")), 200, stream.body());
  expect_one_effect(gateway);
}

TEST(LiveAnswer, ALongBinaryAnswerWithRepeatedLinesIsReplayedExactly) {
  const std::string body = binary_of(300'000);
  const HeaderLines lines = {{"Content-Type", "application/octet-stream"},
                             {"X-Part", "b, a"},
                             {"Content-Encoding", "gzip"},
                             {"x-part", "a"},
                             {"X-Other", ""},
                             {"X-Part", "b, a"}};
  for (const Framing framing : kFramings) {
    SCOPED_TRACE(name(framing));
    Gateway gateway(keeping("1MiB"));
    gateway.upstream.let_go();
    gateway.upstream.script(commits_and_sends_in_steps(
        {.framing = framing, .headers = lines, .bytes = {body}, .status = 203}));
    const Response first = gateway.call(keyed_call("binary"));
    expect_executed(first, 203);
    EXPECT_TRUE(first.body == body);
    EXPECT_EQ(lines_of_the_tool(first), lines);
    gateway.semel.kill9();
    gateway.semel.start();
    const Response replay = gateway.call(keyed_call("binary"));
    EXPECT_EQ(replay.header("Idempotency-Status"), "replayed");
    EXPECT_EQ(replay.status, 203);
    EXPECT_TRUE(replay.body == body);
    EXPECT_EQ(lines_of_the_tool(replay), lines);
    expect_one_effect(gateway);
  }
}

/// What a retry after a kill may be told: what the first caller had, or that nobody knows.
void expect_never_again(Gateway& gateway, const Request& request, const Response& first,
                        const std::string& body) {
  const Response retry = gateway.call(request);
  if (first.is_complete()) {
    EXPECT_EQ(retry.header("Idempotency-Status"), "replayed")
        << "a whole answer was given, so its record is there";
  }
  if (retry.status == 200) {
    EXPECT_EQ(retry.header("Idempotency-Status"), "replayed");
    EXPECT_TRUE(retry.body == body);
  } else {
    expect_problem(retry, "indeterminate");
  }
  expect_one_effect(gateway);
}

TEST(LiveAnswer, AKillWhileTheToolStillSpeaksLeavesNoWholeAnswer) {
  const std::string body = json_of(150'000);
  // Below 64 KiB nothing has left yet; above it the client has a part; last, all but one byte.
  for (const std::size_t sent : {std::size_t{0}, std::size_t{10}, std::size_t{65'535},
                                 std::size_t{65'536}, std::size_t{100'000}, body.size() - 1}) {
    for (const Framing framing : kFramings) {
      SCOPED_TRACE(std::string(name(framing)) + ", killed at byte " + std::to_string(sent));
      Gateway gateway(keeping("1MiB"));
      gateway.upstream.script(commits_and_sends_in_steps(
          {.framing = framing, .bytes = {body.substr(0, sent), body.substr(sent)}}));
      HttpClient client(gateway.semel.port());
      client.send(keyed_call("killed"));
      ASSERT_TRUE(gateway.upstream.sees_effects(1));
      if (sent > 65'536) ASSERT_TRUE(client.sees("[0,1,2"));
      gateway.semel.kill9();
      const Response cut = client.read();
      EXPECT_EQ(name(cut.end), "cut");
      EXPECT_LT(cut.body.size(), body.size());
      gateway.upstream.let_go();
      gateway.semel.start();
      expect_problem(gateway.call(keyed_call("killed")), "indeterminate");
      expect_one_effect(gateway);
    }
  }
}

TEST(LiveAnswer, TheLastByteWaitsForTheDiskAndAKillBeforeItLeavesNoWholeAnswer) {
  const std::string body = json_of(150'000);
  const std::string all_but_a_few = body.substr(body.size() - 40, 30);
  for (const Framing framing : kFramings) {
    SCOPED_TRACE(name(framing));
    const FaultyDisk disk;
    GatewayOptions options = keeping("1MiB");
    options.environment = disk.environment();
    Gateway gateway(options);
    gateway.upstream.script(
        [&, send = commits_and_sends_in_steps({.framing = framing, .bytes = {body}})](Turn& turn) {
          disk.hang();
          send(turn);
        });
    gateway.upstream.let_go();
    HttpClient client(gateway.semel.port());
    client.send(keyed_call("withheld"));
    ASSERT_TRUE(client.sees(all_but_a_few)) << "the tool has said all, the disk has not";
    gateway.semel.kill9();
    const Response cut = client.read();
    EXPECT_EQ(name(cut.end), "cut");
    disk.heal();
    gateway.semel.start();
    expect_never_again(gateway, keyed_call("withheld"), cut, body);
  }
}

TEST(LiveAnswer, AnOldClientWhoseAnswerEndsWithTheConnectionLacksTheLastByteAfterAKill) {
  // HTTP/1.0 knows no chunks: the end of a killed process looks like the end of the answer.
  const std::string body = json_of(150'000);
  for (const Framing framing : kFramings) {
    SCOPED_TRACE(name(framing));
    const FaultyDisk disk;
    GatewayOptions options = keeping("1MiB");
    options.environment = disk.environment();
    Gateway gateway(options);
    gateway.upstream.script(
        [&, send = commits_and_sends_in_steps({.framing = framing, .bytes = {body}})](Turn& turn) {
          disk.hang();
          send(turn);
        });
    gateway.upstream.let_go();
    std::string old = text_of(keyed_call("old"));
    old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
    HttpClient client(gateway.semel.port());
    client.send(old);
    ASSERT_TRUE(client.sees(body.substr(body.size() - 40, 30)));
    gateway.semel.kill9();
    const Response cut = client.read();
    EXPECT_EQ(cut.status, 200);
    EXPECT_LT(cut.body.size(), body.size());
    disk.heal();
    gateway.semel.start();
    const Response retry = gateway.call(keyed_call("old"));
    EXPECT_NE(retry.header("Idempotency-Status"), "executed");
    expect_one_effect(gateway);
  }
}

TEST(LiveAnswer, AKillAtTheMomentOfTheLastByteLeavesNoAnswerWithoutARecord) {
  const std::string body = json_of(100'000);
  const std::string all_but_a_few = body.substr(body.size() - 40, 30);
  for (const Framing framing : kFramings) {
    for (int round = 1; round <= 5; ++round) {
      SCOPED_TRACE(std::string(name(framing)) + ", round " + std::to_string(round));
      Gateway gateway(keeping("1MiB"));
      gateway.upstream.let_go();
      gateway.upstream.script(commits_and_sends_in_steps({.framing = framing, .bytes = {body}}));
      HttpClient client(gateway.semel.port());
      client.send(keyed_call("raced"));
      ASSERT_TRUE(client.sees(all_but_a_few));
      gateway.semel.kill9();
      const Response first = client.read();
      gateway.semel.start();
      expect_never_again(gateway, keyed_call("raced"), first, body);
    }
  }
}

}  // namespace
}  // namespace semel::testing
