// The transition log as programs read it, over a memory store whose clock the test moves.
#include "proxy/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/event_json.h"
#include "stores/open.h"
#include "tests/proxy/scripted_store.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"
#include "tests/support/json.h"

namespace semel::proxy {
namespace {

using semel::testing::Json;
using semel::testing::request_of;
using semel::testing::response_of;
using semel::testing::run;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class Events : public ::testing::Test {
 protected:
  Events() { open(EventRetention{}); }
  ~Events() override {
    feed_.reset();
    store_->close();
  }

  void open(std::optional<EventRetention> kept) {
    MemoryOptions options;
    options.events = kept;
    store_ = open_store(options, clock_.clock());
    feed_.emplace(*store_);
  }
  Attempt claimed(std::uint64_t number) {
    const ClaimRequest request = request_of(number, number);
    const auto reply = run(store_->claim(request));
    return {request.key, request.token, std::get<Granted>(reply.value()).fence};
  }
  void complete(std::uint64_t number) {
    const Attempt attempt = claimed(number);
    static_cast<void>(run(store_->record(attempt, response_of(201, "ok"))));
  }

  PageReply ask(const std::string& query = {},
                std::vector<std::pair<std::string, std::string>> fields = {}) {
    PageRequest request;
    request.method = "GET";
    request.path = "/v1/events";
    request.query = query;
    request.fields = std::move(fields);
    PageTarget target = *read_page_target(request.path, request.query);
    return run(feed_->answer(std::move(request), std::move(target)));
  }
  PageReply stream(const std::string& query = {}, const std::string& last_id = {}) {
    std::vector<std::pair<std::string, std::string>> fields{{"Accept", "text/event-stream"}};
    if (!last_id.empty()) fields.emplace_back("Last-Event-ID", last_id);
    return ask(query, std::move(fields));
  }
  Json page(const std::string& query = {}) {
    const PageReply reply = ask(query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.content_type, "application/json");
    EXPECT_FALSE(reply.stream);
    return Json::parse(reply.body);
  }
  static std::string slug_of(const PageReply& reply) {
    EXPECT_EQ(reply.content_type, "application/problem+json");
    return Json::parse(reply.body)["type"].text();
  }
  static std::string piece_of(const PageReply& reply) {
    EXPECT_TRUE(reply.stream);
    return reply.stream ? run(reply.stream->next()).value_or("the end") : "no stream";
  }

  semel::testing::MovedClock clock_;
  std::unique_ptr<Store> store_;
  std::optional<EventFeed> feed_;
};

TEST(EventJson, SaysWhatHappenedToWhichKey) {
  TransitionEvent event;
  event.position = "5e0c3b1f-17";
  event.kind = TransitionKind::Indeterminate;
  for (std::uint8_t i = 0; i < 32; ++i) event.key.bytes[i] = i;
  for (std::uint8_t i = 0; i < 16; ++i)
    event.reference.bytes[i] = static_cast<std::uint8_t>(0xF0 + i);
  event.fence = Fence{42};
  event.policy = Policy::Effectful;
  event.tenant = "a \"tenant\"\n";
  event.route = "book";
  event.reason = IndeterminateReason::UpstreamStatus;
  event.status = 503;
  event.at = std::chrono::system_clock::time_point(1'764'528'749'123ms);
  std::string out;
  append_event(out, event);
  EXPECT_EQ(out,
            R"({"position":"5e0c3b1f-17","kind":"indeterminate","at":"2025-11-30T18:52:29.123Z",)"
            R"("key":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",)"
            R"("reference":"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff","fence":42,"policy":"EFFECTFUL",)"
            R"("tenant":"a \"tenant\"\n","route":"book","reason":"upstream_status",)"
            R"("upstream_status":503})");
  std::string sent;
  append_server_sent(sent, event);
  EXPECT_EQ(sent, "id: 5e0c3b1f-17\nevent: indeterminate\ndata: " + out + "\n\n");
}

TEST_F(Events, APageShowsThemInOrderAndSaysWhereToGoOn) {
  complete(1);
  const Json all = page();
  ASSERT_EQ(all["events"].items().size(), 2u);
  const Json& claimed_event = all["events"].items()[0];
  const Json& completed_event = all["events"].items()[1];
  EXPECT_EQ(claimed_event["kind"].text(), "claimed");
  EXPECT_TRUE(claimed_event["status"].is_absent());
  EXPECT_EQ(completed_event["kind"].text(), "completed");
  EXPECT_EQ(completed_event["status"].text(), "201");
  EXPECT_EQ(completed_event["tenant"].text(), "acme");
  EXPECT_EQ(completed_event["key"].text(), claimed_event["key"].text());
  EXPECT_EQ(all["next"].text(), completed_event["position"].text());
  EXPECT_TRUE(page("after=" + all["next"].text())["events"].items().empty());
}

TEST_F(Events, PagesHaveAsManyAsWasAsked) {
  for (std::uint64_t n = 0; n < 120; ++n) claimed(n);
  EXPECT_EQ(page()["events"].items().size(), 100u);
  EXPECT_EQ(page("limit=7")["events"].items().size(), 7u);
  EXPECT_EQ(page("limit=1000")["events"].items().size(), 120u);
  for (const char* const wrong : {"limit=0", "limit=1001", "limit=x", "limit=-1", "limit="}) {
    EXPECT_EQ(ask(wrong).status, 400) << wrong;
  }
}

TEST_F(Events, AnOperatorsWordIsTold) {
  const Attempt attempt = claimed(1);
  static_cast<void>(run(store_->mark_indeterminate(attempt, IndeterminateReason::Cut, {})));
  Resolution word;
  word.decision = Resolution::Decision::DidNotHappen;
  static_cast<void>(run(store_->resolve(request_of(1, 1).reference, word)));
  const Json all = page();
  ASSERT_EQ(all["events"].items().size(), 3u);
  EXPECT_EQ(all["events"].items()[1]["reason"].text(), "cut");
  EXPECT_EQ(all["events"].items()[2]["decision"].text(), "did_not_happen");
}

TEST_F(Events, WhatWasTrimmedIsGoneAndTheAnswerSaysWhereItGoesOn) {
  EventRetention kept;
  kept.count = 2;
  open(kept);
  claimed(1);
  const std::string first = page()["next"].text();
  for (std::uint64_t n = 2; n <= 5; ++n) claimed(n);
  for (const PageReply& reply :
       {ask("after=" + first), stream("after=" + first), stream("", first)}) {
    EXPECT_EQ(reply.status, 410);
    EXPECT_EQ(slug_of(reply), "/problems/events-gone");
    EXPECT_FALSE(reply.stream);
    const Json on = page("after=" + Json::parse(reply.body)["oldest"].text());
    EXPECT_EQ(on["events"].items().size(), 2u);
  }
}

TEST_F(Events, WhatIsNoPositionIsABadRequest) {
  claimed(1);
  for (const std::string wrong : {"garbage", "1", "0", "../x"}) {
    EXPECT_EQ(ask("after=" + wrong).status, 400) << wrong;
    EXPECT_EQ(stream("", wrong).status, 400) << wrong;
  }
}

TEST_F(Events, WithoutALogTheAnswerSaysHowToHaveOne) {
  open(std::nullopt);
  for (const PageReply& reply : {ask(), stream(), ask("after=x")}) {
    EXPECT_EQ(reply.status, 404);
    EXPECT_THAT(Json::parse(reply.body)["detail"].text(), HasSubstr("transition log is off"));
  }
}

TEST_F(Events, AStreamTellsWhatThereIsAndThenWhatComes) {
  claimed(1);
  const PageReply reply = stream();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/event-stream");
  EXPECT_THAT(piece_of(reply), StartsWith("id: "));
  complete(2);
  const std::string news = piece_of(reply);
  EXPECT_THAT(news, HasSubstr("\nevent: claimed\ndata: {"));
  EXPECT_THAT(news, HasSubstr("\nevent: completed\ndata: {"));
  EXPECT_THAT(news, HasSubstr(to_hex(request_of(2, 2).reference)));
  EXPECT_EQ(news.find(to_hex(request_of(1, 1).reference)), std::string::npos);
}

TEST_F(Events, AStreamGoesOnBehindTheLastThatItsReaderSaw) {
  claimed(1);
  const std::string first = page()["next"].text();
  claimed(2);
  const std::string second = page()["next"].text();
  claimed(3);
  EXPECT_THAT(piece_of(stream("after=" + first)), StartsWith("id: " + second + "\n"));
  const std::string third = page()["next"].text();
  EXPECT_THAT(piece_of(stream("after=" + first, second)), StartsWith("id: " + third + "\n"))
      << "Last-Event-ID is younger than the URL";
}

TEST_F(Events, AStreamIsAskedForByItsTypeAlone) {
  claimed(1);
  for (const char* const accept : {"text/event-stream", "TEXT/EVENT-STREAM;q=0.9",
                                   "application/xml , text/event-stream, */*;q=0.1"}) {
    EXPECT_TRUE(ask("", {{"Accept", accept}}).stream) << accept;
  }
  for (const char* const accept : {"application/json", "*/*", "text/*", "", "text/event-streams"}) {
    EXPECT_FALSE(ask("", {{"Accept", accept}}).stream) << accept;
  }
  EXPECT_EQ(stream("limit=5").status, 400);
  EXPECT_EQ(
      ask("", {{"Accept", "text/event-stream"}, {"Last-Event-ID", "a"}, {"Last-Event-ID", "b"}})
          .status,
      400);
}

TEST_F(Events, AStreamWhoseReaderIsGoneEnds) {
  const PageReply reply = stream();
  reply.stream->abandon();
  EXPECT_EQ(piece_of(reply), "the end");
}

TEST_F(Events, AStreamEndsWhereItsReaderFellTooFarBehind) {
  EventRetention kept;
  kept.count = 2;
  open(kept);
  claimed(1);
  const PageReply reply = stream();
  EXPECT_THAT(piece_of(reply), StartsWith("id: "));
  for (std::uint64_t n = 2; n <= 5; ++n) claimed(n);
  EXPECT_EQ(piece_of(reply), "the end") << "it comes back, and is told of the gap";
}

/// A log of which one event is damaged, or whose store has another trouble.
class TroubledEvents : public Events {
 protected:
  TroubledEvents() {
    MemoryOptions options;
    options.events.emplace();
    auto store = std::make_unique<semel::testing::ScriptedStore>(options);
    script_ = store.get();
    feed_.reset();
    store_->close();
    store_ = std::move(store);
    feed_.emplace(*store_);
  }
  /// As a store does that cannot read the event behind that position.
  void damage_behind(const std::string& position) {
    script_->events_say = [this, position](const EventFilter& filter) -> std::optional<Fault> {
      const auto told = run(script_->truth().events(filter));
      const auto& page = std::get<EventPage>(told.value());
      bool has_met = filter.after == position && !page.events.empty();
      for (std::size_t i = 0; i + 1 < page.events.size(); ++i) {
        has_met = has_met || page.events[i].position == position;
      }
      return has_met ? std::optional(Fault::EventCorrupt) : std::nullopt;
    };
  }

  semel::testing::ScriptedStore* script_ = nullptr;
};

TEST_F(TroubledEvents, AllThatStandsBeforeADamagedOneIsToldAndThenThatItIsDamaged) {
  for (std::uint64_t n = 1; n <= 6; ++n) claimed(n);
  const std::string fifth = page("limit=5")["next"].text();
  damage_behind(fifth);
  std::vector<std::string> read;
  std::string after;
  PageReply reply = ask();
  for (int asked = 0; reply.status == 200 && asked < 10; ++asked) {
    const Json told = Json::parse(reply.body);
    for (const Json& event : told["events"].items()) read.push_back(event["position"].text());
    after = told["next"].text();
    reply = ask("after=" + after);
  }
  EXPECT_EQ(read.size(), 5u);
  EXPECT_EQ(after, fifth);
  for (const PageReply& refused : {reply, stream("after=" + after), stream("", after)}) {
    EXPECT_EQ(refused.status, 500);
    EXPECT_EQ(slug_of(refused), "/problems/event-unreadable");
    EXPECT_FALSE(refused.stream);
  }
}

TEST_F(TroubledEvents, AStreamTellsThatItHasMetADamagedOneAndEnds) {
  for (std::uint64_t n = 1; n <= 4; ++n) claimed(n);
  const std::string third = page("limit=3")["next"].text();
  damage_behind(third);
  const PageReply reply = stream();
  std::string told;
  for (std::string piece; piece != "the end"; piece = piece_of(reply)) told += piece;
  EXPECT_THAT(told, HasSubstr("id: " + third + "\n"));
  const auto last = told.rfind("event: ");
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(told.substr(last),
              StartsWith("event: problem\ndata: {\"type\":\"/problems/event-unr"));
  EXPECT_THAT(told, ::testing::EndsWith("}\n\n"));
  EXPECT_EQ(told.find("id: ", last), std::string::npos) << "the reader comes back to where it was";
}

TEST_F(TroubledEvents, AStreamWhoseStoreIsBrokenOrKnowsItsPositionNoMoreSaysSoAndEnds) {
  const std::pair<Fault, const char*> troubles[] = {
      {Fault::StoreBroken, "store-unavailable"},
      {Fault::RecordCorrupt, "bad-request"},
  };
  for (const auto& [fault, slug] : troubles) {
    script_->events_say = nullptr;
    claimed(static_cast<std::uint64_t>(fault));
    const PageReply reply = stream();
    EXPECT_THAT(piece_of(reply), StartsWith("id: "));
    script_->events_say = [fault](const EventFilter&) { return fault; };
    EXPECT_THAT(piece_of(reply), StartsWith("event: problem\ndata: {\"type\":\"/problems/" +
                                            std::string(slug) + "\""));
    EXPECT_EQ(piece_of(reply), "the end");
  }
}

TEST_F(TroubledEvents, AStreamOutlastsAStoreThatCannotBeAskedForAWhile) {
  const PageReply reply = stream();
  int left = 0;
  Fault fault = Fault::StoreUnreachable;
  script_->events_say = [&](const EventFilter&) {
    return left-- > 0 ? std::optional(fault) : std::nullopt;
  };
  std::uint64_t number = 0;
  for (const Fault trouble :
       {Fault::StoreUnreachable, Fault::StoreTimeout, Fault::StoreFull, Fault::StoreSuspect}) {
    fault = trouble;
    claimed(++number);
    left = 2;
    EXPECT_THAT(piece_of(reply), StartsWith("id: ")) << name(trouble);
    EXPECT_LT(left, 0) << "it was asked again";
  }
}

TEST_F(Events, ADrainingProcessTellsTheLastOfItAndEnds) {
  const PageReply reply = stream();
  claimed(1);
  feed_->drain();
  EXPECT_THAT(piece_of(reply), StartsWith("id: "));
  EXPECT_EQ(piece_of(reply), "the end");
  EXPECT_EQ(slug_of(stream()), "/problems/draining");
}

TEST_F(Events, NoMoreStreamsAreOpenThanTheStoreCanBeAskedFor) {
  std::vector<PageReply> open;
  for (std::size_t n = 0; n < EventFeed::kStreamsMax; ++n) open.push_back(stream());
  EXPECT_TRUE(open.back().stream);
  const PageReply refused = stream();
  EXPECT_EQ(slug_of(refused), "/problems/overloaded");
  EXPECT_EQ(ask().status, 200) << "a page is no stream";
  open.pop_back();
  EXPECT_TRUE(stream().stream);
}

}  // namespace
}  // namespace semel::proxy
