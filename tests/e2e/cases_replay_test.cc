// Reported cases of replays that were not what had been answered: docs/reported-cases.md tells each
// in a line.

#include "tests/e2e/cases.h"

namespace semel::testing {
namespace {

TEST(ReportedCases, REP_01_AHeaderLineWithACommaStaysOneLine) {
  Gateway gateway(one_route({}));
  const std::string cookie = "session=abc; Expires=Mon, 21 Oct 2030 07:28:00 GMT";
  const std::string disposition = "attachment; filename=\"a,b.txt\"";
  gateway.upstream.script(commits_and_answers(200, R"({"ok":1})",
                                              {{"Set-Cookie", cookie},
                                               {"Set-Cookie", "theme=dark"},
                                               {"Content-Disposition", disposition}}));
  const Response first = gateway.call(keyed_call("rep-01"));
  expect_executed(first, 200);
  EXPECT_EQ(first.all("Set-Cookie"), (std::vector<std::string>{cookie, "theme=dark"}));
  const Response replay = gateway.call(keyed_call("rep-01"));
  expect_same_answer(replay, first);
  EXPECT_EQ(replay.all("Content-Disposition"), std::vector{disposition});
  EXPECT_TRUE(replay.all("Set-Cookie").empty()) << "spec 8: a cookie is one answer's only";
}

TEST(ReportedCases, REP_03_AReplayKeepsStatusAndTypeAndInventsNone) {
  GatewayOptions options;
  CaseRoute erase;
  erase.match = "{methods: [DELETE], path: \"/posts/{id}\"}";
  CaseRoute create;
  create.match = "{methods: [POST], path: /posts}";
  options.routes = "routes:\n" + route_text("erase", erase) + route_text("create", create);
  Gateway gateway(options);
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.send(turn.request().method == "DELETE"
                  ? response_text(204, "", {})
                  : response_text(201, "<post/>", {{"Content-Type", "application/xml"}}));
  });
  const Request remove{"DELETE", "/posts/3", {{"Idempotency-Key", "rep-03-a"}}, {}};
  const Response removed = gateway.call(remove);
  expect_executed(removed, 204);
  const Response again = gateway.call(remove);
  expect_same_answer(again, removed);
  EXPECT_EQ(again.header("Content-Type"), std::nullopt);
  const Request post = keyed_call("rep-03-b", R"({"t":1})", "/posts");
  const Response created = gateway.call(post);
  expect_executed(created, 201);
  EXPECT_EQ(created.header("Content-Type"), "application/xml");
  expect_same_answer(gateway.call(post), created);
  EXPECT_EQ(gateway.upstream.requests(), 2);
}

/// `{"summary":"ok"}`, as gzip(1) packs it.
std::string gzipped() {
  static constexpr unsigned char kBytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                             0x03, 0xab, 0x56, 0x2a, 0x2e, 0xcd, 0xcd, 0x4d, 0x2c,
                                             0xaa, 0x54, 0xb2, 0x52, 0xca, 0xcf, 0x56, 0xaa, 0x05,
                                             0x00, 0xa7, 0x45, 0x41, 0xee, 0x10, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

TEST(ReportedCases, REP_05_ACompressedAnswerIsReplayedWithTheHeadersOfItsBytes) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers(200, gzipped(),
                                              {{"Content-Type", "application/json"},
                                               {"Content-Encoding", "gzip"},
                                               {"Vary", "Accept-Encoding"}}));
  const auto summary = [](const char* coding) {
    Request request = keyed_call("rep-05");
    request.headers.emplace_back("Accept-Encoding", coding);
    return request;
  };
  const Response first = gateway.call(summary("gzip"));
  expect_executed(first, 200);
  EXPECT_EQ(first.body, gzipped());
  // What was recorded is sent, whatever this caller would rather have (docs/http-surface.md).
  for (const char* coding : {"gzip", "identity"}) {
    SCOPED_TRACE(coding);
    const Response replay = gateway.call(summary(coding));
    expect_same_answer(replay, first);
    EXPECT_EQ(replay.header("Content-Encoding"), "gzip");
    EXPECT_EQ(replay.header("Vary"), "Accept-Encoding");
    EXPECT_EQ(replay.header("Content-Length"), std::to_string(gzipped().size()));
  }
  expect_one_effect(gateway);
}

TEST(ReportedCases, REP_07_EachEventReachesTheClientBeforeTheNextIsSent) {
  constexpr int kEvents = 6;
  Gateway gateway(one_route({}));
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    for (int event = 1; event <= kEvents; ++event) {
      turn.wait_for_step(event);
      turn.send("data: event " + std::to_string(event) + "\n\n");
    }
    turn.finish();
  });
  HttpClient client(gateway.semel.port());
  client.send(keyed_call("rep-07"));
  ASSERT_TRUE(client.sees("\r\n\r\n"));
  for (int event = 1; event <= kEvents; ++event) {
    gateway.upstream.step();
    // The last event's last byte waits for the record, so it is looked for without its end.
    ASSERT_TRUE(client.sees("data: event " + std::to_string(event))) << "before the next one";
  }
  const Response whole = client.read();
  EXPECT_EQ(name(whole.end), "complete");
  EXPECT_TRUE(whole.body.ends_with("data: event 6\n\n"));
  const Response replay = gateway.call(keyed_call("rep-07"));
  expect_same_answer(replay, whole);
  expect_one_effect(gateway);
}

TEST(ReportedCases, REP_08_AnAnswerTooLargeToKeepIsNoReasonToRunAgain) {
  CaseRoute route;
  route.more = "    record: {max_body: 64KiB}\n";
  Gateway gateway(one_route(route));
  const std::string large(1024 * 1024, 'e');
  gateway.upstream.script(commits_and_answers(201, large));
  const Response first = gateway.call(keyed_call("rep-08"));
  expect_executed(first, 201);
  EXPECT_TRUE(first.body == large);
  const Response second = gateway.call(keyed_call("rep-08"));
  expect_problem(second, "result-not-kept");
  EXPECT_EQ(Json::parse(second.body)["original_status"].text(), "201");
  expect_one_effect(gateway);
}

TEST(ReportedCases, REP_10_TheReplayMarkerIsSemelsAloneAndStandsOnce) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers(
      201, R"({"id":1})", {{"Idempotent-Replayed", "false"}, {"Idempotency-Replayed", "false"}}));
  const Response first = gateway.call(keyed_call("rep-10"));
  expect_executed(first, 201);
  const Response second = gateway.call(keyed_call("rep-10"));
  expect_same_answer(second, first);
  EXPECT_EQ(second.all("Idempotent-Replayed"), std::vector<std::string>{"true"});
}

TEST(ReportedCases, REP_12_APreflightGoesThroughAndIsNeverClaimed) {
  CaseRoute route;
  route.match = "{methods: [POST, PUT, DELETE], path: /api/v1/statuses}";
  Gateway gateway(one_route(route));
  gateway.upstream.script([](Turn& turn) {
    if (turn.request().method == "OPTIONS") {
      return turn.send(
          response_text(204, "", {{"Access-Control-Allow-Headers", "Idempotency-Key"}}));
    }
    turn.commit();
    turn.send(response_text(200, R"({"id":1})"));
  });
  const Request preflight{"OPTIONS",
                          "/api/v1/statuses",
                          {{"Origin", "https://app.test"},
                           {"Access-Control-Request-Method", "POST"},
                           {"Access-Control-Request-Headers", "idempotency-key,content-type"}},
                          {}};
  for (int time = 1; time <= 2; ++time) {
    SCOPED_TRACE(time);
    const Response allowed = gateway.call(preflight);
    EXPECT_EQ(allowed.status, 204);
    EXPECT_EQ(allowed.header("Access-Control-Allow-Headers"), "Idempotency-Key");
    EXPECT_EQ(allowed.header("Idempotency-Status"), std::nullopt);
    EXPECT_EQ(gateway.upstream.requests(), time) << "forwarded, not replayed";
  }
  EXPECT_EQ(gateway.upstream.last_received().all("Access-Control-Request-Method"),
            std::vector<std::string>{"POST"});
  EXPECT_EQ(gateway.semel.metric("semel_key_source_total"), 0);
  expect_executed(gateway.call(keyed_call("rep-12", R"({"status":"hi"})", "/api/v1/statuses")),
                  200);
  EXPECT_EQ(gateway.upstream.requests(), 3);
}

}  // namespace
}  // namespace semel::testing
