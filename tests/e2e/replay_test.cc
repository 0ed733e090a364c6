#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/tool_lines.h"

namespace semel::testing {
namespace {

void expect_fresh(const Response& response) {
  EXPECT_EQ(name(response.end), "complete");
  EXPECT_EQ(response.header("Idempotency-Status"), "executed");
  EXPECT_EQ(response.header("Idempotent-Replayed"), std::nullopt);
}

void expect_replay_of(const Response& first, const Response& replay) {
  EXPECT_EQ(name(replay.end), "complete");
  EXPECT_EQ(replay.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(replay.header("Idempotency-Status"), "replayed");
  EXPECT_EQ(replay.header("Idempotency-Ref"), first.header("Idempotency-Ref"));
  EXPECT_EQ(replay.header("Cache-Control"), "no-store");
  EXPECT_EQ(replay.header("Retry-After"), std::nullopt);
  EXPECT_EQ(replay.status, first.status);
  EXPECT_EQ(replay.body, first.body);
}

TEST(Replay, ARetryThatIsSpelledOtherwiseIsTheSameBookingAndHasOneEffect) {
  struct Row {
    const char* name;
    const char* body;
  };
  constexpr Row kRows[] = {
      {"the same bytes", R"({"request_id":"r-1","flight":"BA117","seats":2,"name":"Zo\u00eb"})"},
      {"another request id", R"({"request_id":"x","flight":"BA117","seats":2,"name":"Zo\u00eb"})"},
      {"no request id", R"({"flight":"BA117","seats":2,"name":"Zo\u00eb"})"},
      {"other member order", R"({"name":"Zo\u00eb","seats":2,"flight":"BA117"})"},
      {"white space", "{ \"flight\" : \"BA117\",\n \"seats\" : 2, \"name\":\"Zo\\u00eb\" }"},
      {"2.0 for 2", R"({"flight":"BA117","seats":2.0,"name":"Zo\u00eb"})"},
      {"20e-1 for 2", R"({"flight":"BA117","seats":20e-1,"name":"Zo\u00eb"})"},
      {"UTF-8 for an escape", "{\"flight\":\"BA117\",\"seats\":2,\"name\":\"Zo\xC3\xAB\"}"},
      {"NFD for NFC", "{\"flight\":\"BA117\",\"seats\":2,\"name\":\"Zoe\xCC\x88\"}"},
  };
  Gateway gateway;
  const Response first = gateway.book(kRows[0].body);
  EXPECT_EQ(first.status, 200);
  expect_fresh(first);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    expect_replay_of(first, gateway.book(row.body));
  }
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Replay, ACallThatDiffersInWhatCountsIsAnotherCall) {
  struct Row {
    const char* name;
    const char* body;
    HeaderLines headers;
  };
  const Row rows[] = {
      {"another flight", R"({"flight":"BA118","seats":2,"name":"Zoe"})", {}},
      {"a string for a number", R"({"flight":"BA117","seats":"2","name":"Zoe"})", {}},
      {"null for a string", R"({"flight":"BA117","seats":2,"name":null})", {}},
      {"other case", R"({"flight":"BA117","seats":2,"name":"zoe"})", {}},
      {"another tenant", kBooking, {{"X-Tenant-Id", "other"}}},
      {"another run", kBooking, {{"X-Run-Id", "run-8"}}},
  };
  Gateway gateway;
  expect_fresh(gateway.book());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_fresh(gateway.book(row.body, row.headers));
  }
  EXPECT_EQ(gateway.upstream.effects(), 1 + static_cast<int>(std::size(rows)));
}

TEST(Replay, EveryStoredHeaderLineIsReplayedInOrderAndNothingElse) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers(201, R"({"id":"b-1"})",
                                              {{"Content-Type", "application/json; charset=utf-8"},
                                               {"Link", "</a>; rel=next"},
                                               {"X-Booking", "b-1"},
                                               {"Set-Cookie", "session=secret"},
                                               {"LINK", "</b>; rel=prev"},
                                               {"WWW-Authenticate", "Basic realm=x"},
                                               {"Proxy-Authenticate", "Basic realm=y"},
                                               {"Date", "Thu, 01 Jan 1970 00:00:00 GMT"},
                                               {"Server-Timing", "db;dur=1"},
                                               {"Alt-Svc", "h3=\":443\""},
                                               {"Connection", "X-Hop"},
                                               {"X-Hop", "1"},
                                               {"Keep-Alive", "timeout=60"},
                                               {"X-Empty", ""},
                                               {"Location", "/bookings/b-1"}}));
  const HeaderLines stored = {{"Content-Type", "application/json; charset=utf-8"},
                              {"Link", "</a>; rel=next"},
                              {"X-Booking", "b-1"},
                              {"LINK", "</b>; rel=prev"},
                              {"X-Empty", ""},
                              {"Location", "/bookings/b-1"}};
  const Response first = gateway.book();
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.header("Set-Cookie"), "session=secret") << "the first caller has it";
  EXPECT_EQ(first.header("WWW-Authenticate"), "Basic realm=x");
  EXPECT_EQ(first.header("X-Hop"), std::nullopt);
  for (int retry = 1; retry <= 3; ++retry) {
    SCOPED_TRACE("retry " + std::to_string(retry));
    const Response replay = gateway.book();
    expect_replay_of(first, replay);
    EXPECT_EQ(lines_of_the_tool(replay), stored);
    EXPECT_NE(replay.header("Date"), "Thu, 01 Jan 1970 00:00:00 GMT");
  }
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Replay, EveryKindOfBodyIsReplayedByteForByte) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  std::string large;
  while (large.size() < 300 * 1024) large += "0123456789abcdef-" + std::to_string(large.size());
  struct Row {
    const char* name;
    std::string answer;
    int status;
    std::string body;
    std::optional<std::string> encoding;
  };
  const Row rows[] = {
      {"binary", response_text(200, every_byte, {}), 200, every_byte, std::nullopt},
      {"gzip", response_text(200, "\x1f\x8b\x08\x00not text", {{"Content-Encoding", "gzip"}}), 200,
       "\x1f\x8b\x08\x00not text", "gzip"},
      {"empty", response_text(200, "", {}), 200, "", std::nullopt},
      {"204", response_text(204, "", {}), 204, "", std::nullopt},
      {"303 with Location", response_text(303, "", {{"Location", "/x"}}), 303, "", std::nullopt},
      {"chunked",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n"
       "X-Trailer: 1\r\n\r\n",
       200, "hello!", std::nullopt},
      {"300 KiB", response_text(200, large, {}), 200, large, std::nullopt},
  };
  Gateway gateway;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    gateway.upstream.script(commits_and_sends(row.answer, Then::Keep));
    const HeaderLines run = {{"X-Run-Id", row.name}};
    const Response first = gateway.book(kBooking, run);
    EXPECT_EQ(first.status, row.status);
    EXPECT_EQ(first.body, row.body);
    const Response replay = gateway.book(kBooking, run);
    expect_replay_of(first, replay);
    EXPECT_EQ(replay.header("Content-Encoding"), row.encoding);
  }
  EXPECT_EQ(gateway.upstream.requests(), static_cast<int>(std::size(rows)));
}

TEST(Replay, AnIdempotentCallIsReplayedToo) {
  Gateway gateway;
  const Response first = gateway.call_tool("/tools/seat");
  expect_fresh(first);
  expect_replay_of(first, gateway.call_tool("/tools/seat"));
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(Replay, ABookingIsStillReplayedAfterARestartAndAfterAKillOnSqlite) {
  Gateway gateway({.store = StoreKind::Sqlite});
  gateway.upstream.script(
      commits_and_answers(201, R"({"id":"b-1"})", {{"X-A", "1"}, {"X-A", "2"}}));
  const Response first = gateway.book();
  EXPECT_EQ(first.status, 201);
  gateway.semel.restart();
  Response replay = gateway.book();
  expect_replay_of(first, replay);
  EXPECT_EQ(replay.all("X-A"), (std::vector<std::string>{"1", "2"}));
  gateway.semel.kill9();
  gateway.semel.start();
  replay = gateway.book();
  expect_replay_of(first, replay);
  EXPECT_EQ(replay.all("X-A"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(Replay, OnlySemelSpeaksOfIdempotencyAndItEchoesTheClientsKey) {
  Gateway gateway;
  gateway.upstream.script(commits_and_answers(200, "{}",
                                              {{"Idempotent-Replayed", "true"},
                                               {"Idempotency-Status", "lies"},
                                               {"Idempotency-Ref", "lies"},
                                               {"Idempotency-Key", "lies"},
                                               {"x-should-retry", "true"},
                                               {"stripe-should-retry", "true"}}));
  const HeaderLines key = {{"Idempotency-Key", "my-own-key"}};
  const Response first = gateway.book(kBooking, key);
  expect_fresh(first);
  EXPECT_EQ(first.header("Idempotency-Key"), "my-own-key");
  EXPECT_EQ(first.header("x-should-retry"), std::nullopt);
  EXPECT_EQ(first.header("stripe-should-retry"), std::nullopt);
  EXPECT_EQ(first.header("Idempotency-Ref").value_or("").size(), 32U);
  const Response replay = gateway.book(kBooking, key);
  expect_replay_of(first, replay);
  EXPECT_EQ(replay.header("Idempotency-Key"), "my-own-key");
  EXPECT_EQ(gateway.book().header("Idempotency-Key"), std::nullopt) << "there is none to echo";
}

TEST(Replay, AStricterCacheControlOfTheToolStands) {
  Gateway gateway;
  gateway.upstream.script(
      commits_and_answers(200, "{}", {{"Cache-Control", "private, no-store, must-revalidate"}}));
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.book().header("Cache-Control"), "private, no-store, must-revalidate");
  EXPECT_EQ(gateway.upstream.effects(), 1) << "no-store forbids caches, not the record";
}

}  // namespace
}  // namespace semel::testing
