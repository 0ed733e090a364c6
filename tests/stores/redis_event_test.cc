// The transition log of a Redis that is not what it was: a reader learns it, and skips nothing.

#include "tests/stores/event_lines.h"
#include "tests/stores/redis_replicas.h"

namespace semel::testing {
namespace {

class RedisEvents : public RedisReplicas {
 protected:
  RedisEvents() { with_log("a"); }

  void with_log(const std::string& replica) {
    if (a_) a_->close();
    a_.reset();
    RedisOptions logging = options(replica);
    logging.events.emplace();
    a_ = std::make_unique<RedisStore>(logging, clock_.clock());
  }
  std::variant<EventPage, EventGap> ask(const std::string& after) {
    EventFilter filter;
    filter.after = after;
    auto told = run(a_->events(filter));
    EXPECT_TRUE(told.has_value()) << name(told.error());
    return told ? *std::move(told) : EventPage{};
  }
  /// The server ends, and begins anew with what it held when the copy was kept.
  void put_back() {
    redis_.server.kill9();
    redis_.server.restart();
    with_log("a");
  }
};

TEST_F(RedisEvents, WhoReadWhatAnOlderCopyDoesNotHaveIsToldOfTheGapAndSkipsNothing) {
  for (std::uint64_t n = 1; n <= 2; ++n) granted(*a_, request_of(n, n));
  const std::string in_both = event_page(*a_).next;
  keep_a_copy();
  clock_.advance(2s);
  for (std::uint64_t n = 3; n <= 5; ++n) granted(*a_, request_of(n, n));
  const std::string lost = event_page(*a_).next;
  // The clock of the server that takes its place is a little behind.
  clock_.advance(-1s);
  put_back();
  for (std::uint64_t n = 6; n <= 7; ++n) granted(*a_, idempotent(n, n));
  const auto told = ask(lost);
  const auto* gap = std::get_if<EventGap>(&told);
  ASSERT_TRUE(gap) << "6 and 7 were not read";
  EXPECT_EQ(event_lines(*a_, gap->oldest),
            (EventLines{"claimed 1", "claimed 2", "claimed 6", "claimed 7"}));
  EXPECT_EQ(event_lines(*a_, in_both), (EventLines{"claimed 6", "claimed 7"}))
      << "whoever lost nothing goes on";
}

TEST_F(RedisEvents, AServerThatBeginsAnewWithAllThatItHadIsNoGap) {
  for (std::uint64_t n = 1; n <= 3; ++n) granted(*a_, request_of(n, n));
  const std::string read = event_page(*a_, "", 2).next;
  keep_a_copy();
  put_back();
  granted(*a_, request_of(4, 4));
  EXPECT_EQ(event_lines(*a_, read), (EventLines{"claimed 3", "claimed 4"}));
}

TEST_F(RedisEvents, AServerWithoutRoomIsMetLikeAnyOther) {
  const Attempt open = granted(*a_, request_of(1, 1));
  const std::string read = event_page(*a_).next;
  redis_.server.command({"DEBUG", "CHANGE-REPL-ID"});  // As where a replica was promoted.
  redis_.server.command({"CONFIG", "SET", "maxmemory", "1"});
  with_log("a");
  EXPECT_EQ(event_lines(*a_, read), EventLines{});
  ASSERT_EQ(run(a_->record(open, response_without_body(200))).value(), WriteReply::Done);
  EXPECT_EQ(event_lines(*a_, read), (EventLines{"completed 1 200"}));
}

TEST_F(RedisEvents, APromotionThatLosesNothingIsNoGap) {
  granted(*a_, request_of(1, 1));
  const std::string read = event_page(*a_).next;
  redis_.server.command({"DEBUG", "CHANGE-REPL-ID"});
  with_log("a");
  granted(*a_, request_of(2, 2));
  EXPECT_EQ(event_lines(*a_, read), (EventLines{"claimed 2"}));
}

}  // namespace
}  // namespace semel::testing
