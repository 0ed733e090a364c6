// The transition log from outside: spec 11 and docs/http-surface.md, "The transition log".
#include <gtest/gtest.h>

#include <set>

#include "tests/e2e/event_reader.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

GatewayOptions with_log(StoreKind store, const std::string& kept = "{}") {
  GatewayOptions options;
  options.store = store;
  options.more = "events: " + kept + "\n";
  return options;
}

std::vector<std::string> kinds_of(const std::vector<Json>& events) {
  std::vector<std::string> kinds;
  for (const Json& event : events) kinds.push_back(event["kind"].text());
  return kinds;
}

HeaderLines run_number(int number) { return {{"X-Run-Id", "run-" + std::to_string(number)}}; }

/// A gateway whose tool books whatever it is asked for.
struct Booking : OperatedGateway {
  explicit Booking(GatewayOptions options) : OperatedGateway(std::move(options)) {
    gateway.upstream.script(commits_and_answers(201, "booked"));
  }
};

class EventLog : public ::testing::TestWithParam<StoreKind> {};

TEST_P(EventLog, TellsWhatBecameOfEachCallInItsOrder) {
  Booking operated(with_log(GetParam()));
  const Response booked = operated.gateway.book();
  ASSERT_EQ(booked.status, 201);
  EXPECT_EQ(operated.gateway.book().header("Idempotency-Status"), "replayed");
  const std::string unknown = operated.make_unknown("/tools/quick", run_number(8));
  ASSERT_EQ(operated.set_free(unknown).status, 200);
  const std::vector<Json> events = logged_events(operated);
  ASSERT_EQ(kinds_of(events), (std::vector<std::string>{"claimed", "completed", "claimed",
                                                        "indeterminate", "resolved"}));
  EXPECT_EQ(events[0]["reference"].text(), booked.header("Idempotency-Ref"));
  EXPECT_EQ(events[1]["reference"].text(), booked.header("Idempotency-Ref"));
  EXPECT_EQ(events[1]["status"].text(), "201");
  EXPECT_EQ(events[1]["tenant"].text(), "acme");
  EXPECT_EQ(events[1]["route"].text(), "book");
  EXPECT_EQ(events[1]["policy"].text(), "EFFECTFUL");
  EXPECT_EQ(events[1]["key"].text(), events[0]["key"].text());
  EXPECT_EQ(events[1]["key"].text().substr(0, 8),
            operated.gateway.semel.access_log(2).at(0)["key"].text());
  EXPECT_EQ(events[3]["reference"].text(), unknown);
  EXPECT_EQ(events[3]["reason"].text(), "timeout");
  EXPECT_EQ(events[4]["decision"].text(), "did_not_happen");
}

TEST_P(EventLog, IsForOperatorsOnly) {
  Booking operated(with_log(GetParam()));
  for (const char* const accept : {"application/json", "text/event-stream"}) {
    const Response refused =
        operated.ask("GET", "/v1/events", {}, {{"Authorization", "Bearer x"}, {"Accept", accept}});
    EXPECT_EQ(refused.status, 401);
  }
  EXPECT_EQ(operated.ask("POST", "/v1/events").status, 405);
  EXPECT_EQ(operated.ask("GET", "/v1/events?from=1").status, 400);
}

TEST_P(EventLog, IsOffUnlessItIsAskedFor) {
  GatewayOptions options;
  options.store = GetParam();
  Booking operated(std::move(options));
  EXPECT_EQ(operated.gateway.book().status, 201);
  const Response page = operated.ask("GET", "/v1/events");
  EXPECT_EQ(page.status, 404);
  EXPECT_NE(Json::parse(page.body)["detail"].text().find("transition log is off"),
            std::string::npos);
}

TEST_P(EventLog, WhatIsNoLongerKeptIsGoneAndTheAnswerSaysWhereItGoesOn) {
  Booking operated(with_log(GetParam(), "{max_events: 2}"));
  ASSERT_EQ(operated.gateway.book(kBooking, run_number(1)).status, 201);
  const std::string first = logged_events(operated).at(0)["position"].text();
  for (int n = 2; n <= 4; ++n) {
    ASSERT_EQ(operated.gateway.book(kBooking, run_number(n)).status, 201);
  }
  Response gone;
  ASSERT_TRUE(eventually([&] {
    gone = operated.ask("GET", "/v1/events?after=" + first);
    return gone.status == 410;
  }));
  EXPECT_EQ(problem_slug(gone), "events-gone");
  EXPECT_EQ(
      operated
          .ask("GET", "/v1/events", {}, {{"Accept", "text/event-stream"}, {"Last-Event-ID", first}})
          .status,
      410);
  ASSERT_TRUE(eventually([&] { return logged_events(operated).size() == 2; }));
  gone = operated.ask("GET", "/v1/events?after=" + first);
  const std::string oldest = Json::parse(gone.body)["oldest"].text();
  EXPECT_EQ(kinds_of(logged_events(operated, oldest)),
            (std::vector<std::string>{"claimed", "completed"}));
}

TEST_P(EventLog, AStreamTellsWhatThereIsAndThenWhatComes) {
  Booking operated(with_log(GetParam()));
  ASSERT_EQ(operated.gateway.book(kBooking, run_number(1)).status, 201);
  EventReader reader(operated);
  EXPECT_NE(reader.head().find("200 OK"), std::string::npos) << reader.head();
  EXPECT_NE(reader.head().find("text/event-stream"), std::string::npos) << reader.head();
  EXPECT_EQ(reader.next().kind, "claimed");
  EXPECT_EQ(reader.next().kind, "completed");
  const Response second = operated.gateway.book(kBooking, run_number(2));
  const SentEvent claimed = reader.next();
  EXPECT_EQ(claimed.kind, "claimed");
  EXPECT_EQ(claimed.object["reference"].text(), second.header("Idempotency-Ref"));
  EXPECT_EQ(claimed.object["position"].text(), claimed.id);
  EXPECT_EQ(reader.next().kind, "completed");
}

TEST_P(EventLog, AReaderThatComesBackAgainAndAgainUnderLoadMissesNothing) {
  Booking operated(with_log(GetParam()));
  constexpr int kCallers = 4;
  constexpr int kCalls = 60;
  std::vector<std::future<void>> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.push_back(std::async(std::launch::async, [&, caller] {
      for (int n = 0; n < kCalls; ++n) {
        static_cast<void>(operated.gateway.book(kBooking, run_number(1'000 * caller + n)));
      }
    }));
  }
  std::vector<std::string> seen;
  std::string last;
  while (seen.size() < 2 * kCallers * kCalls) {
    EventReader reader(operated, last);
    if (reader.head().find("503") != std::string::npos) {
      // The places of readers that went away come free a moment later.
      std::this_thread::sleep_for(milliseconds{20});
      continue;
    }
    for (int n = 0; n < 25 && seen.size() < 2 * kCallers * kCalls; ++n) {
      SentEvent event = reader.next();
      ASSERT_NE(event.id, "") << "after " << seen.size();
      last = event.id;
      seen.push_back(std::move(event.id));
    }
    reader.reset();
  }
  for (auto& caller : callers) caller.get();
  std::vector<std::string> kept;
  for (const Json& event : logged_events(operated)) kept.push_back(event["position"].text());
  EXPECT_EQ(seen, kept);
}

TEST_P(EventLog, AReaderThatReadsNothingHoldsUpNobody) {
  Booking operated(with_log(GetParam()));
  EventReader idle(operated);
  for (int n = 0; n < 50; ++n) {
    ASSERT_EQ(operated.gateway.book(kBooking, run_number(n)).status, 201);
  }
  EXPECT_EQ(logged_events(operated).size(), 100u);
  EventReader reader(operated);
  for (int n = 0; n < 100; ++n) ASSERT_NE(reader.next().id, "");
}

TEST_P(EventLog, StreamsAreCountedAndTheirPlacesComeFreeAgain) {
  Booking operated(with_log(GetParam()));
  const auto begins = [&] {
    EventReader reader(operated);
    return reader.head().find("200 OK") != std::string::npos;
  };
  std::vector<std::unique_ptr<EventReader>> readers;
  for (int n = 0; n < 16; ++n) readers.push_back(std::make_unique<EventReader>(operated));
  EXPECT_NE(readers.back()->head().find("200 OK"), std::string::npos);
  EXPECT_FALSE(begins()) << "one too many";
  EXPECT_EQ(operated.ask("GET", "/v1/events").status, 200) << "a page is no stream";
  readers.pop_back();
  EXPECT_TRUE(eventually(begins));
}

TEST_P(EventLog, AStreamEndsWellWithTheProcessOnceAllIsTold) {
  Booking operated(with_log(GetParam()));
  HttpClient reader(operated.port());
  reader.send({"GET",
               "/v1/events",
               {{"Host", "127.0.0.1:" + std::to_string(operated.port())},
                {"Authorization", "Bearer " + operated.token()},
                {"Accept", "text/event-stream"}},
               {}});
  ASSERT_TRUE(reader.sees("\r\n\r\n"));
  operated.gateway.upstream.script(commits_and_answers_after(milliseconds{300}, 201, "booked"));
  std::future<Response> call = operated.gateway.begin("/tools/book");
  ASSERT_TRUE(operated.gateway.upstream.sees_effects(1));
  operated.gateway.semel.sigterm();
  EXPECT_EQ(call.get().status, 201);
  const Response stream = reader.read("GET");
  EXPECT_TRUE(stream.is_complete()) << stream.reason;
  EXPECT_TRUE(stream.is_chunked);
  EXPECT_EQ(stream.header("Content-Type"), "text/event-stream");
  EXPECT_NE(stream.body.find("event: completed\n"), std::string::npos) << stream.body;
  const auto exit = operated.gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, EventLog, ::testing::Values(StoreKind::Memory, StoreKind::Sqlite),
                         [](const auto& store) {
                           return store.param == StoreKind::Memory ? "memory" : "sqlite";
                         });

TEST(EventLogFile, APositionIsGoodAfterARestart) {
  Booking operated(with_log(StoreKind::Sqlite));
  ASSERT_EQ(operated.gateway.book(kBooking, run_number(1)).status, 201);
  EventReader reader(operated);
  const std::string seen = reader.next().id;
  operated.gateway.semel.restart();
  ASSERT_EQ(operated.gateway.book(kBooking, run_number(2)).status, 201);
  EventReader again(operated, seen);
  EXPECT_EQ(again.next().kind, "completed");
  EXPECT_EQ(again.next().kind, "claimed");
}

TEST(EventLogFile, AForgottenTenantIsInNoEvent) {
  Booking operated(with_log(StoreKind::Sqlite));
  ASSERT_EQ(operated.gateway.book().status, 201);
  ASSERT_EQ(operated.gateway.book(kBooking, {{"X-Tenant-Id", "globex"}}).status, 201);
  ASSERT_EQ(operated.ask("DELETE", "/v1/tenants/acme/records").status, 200);
  const std::vector<Json> events = logged_events(operated);
  EXPECT_EQ(events.size(), 2u);
  for (const Json& event : events) EXPECT_EQ(event["tenant"].text(), "globex");
}

}  // namespace
}  // namespace semel::testing
