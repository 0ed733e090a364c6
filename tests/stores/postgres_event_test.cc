// The transition log of a PostgreSQL that is not what it was: a reader learns it, and skips
// nothing.

#include <gtest/gtest.h>

#include <string>

#include "tests/stores/event_lines.h"
#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

class PostgresEvents : public PostgresReplicas {
 protected:
  Store& start_with_log(const PostgresServer& server) {
    PostgresOptions with_log = options_on(server);
    with_log.events.emplace();
    return start(with_log);
  }
  /// What a reader is told who has read up to there.
  std::variant<EventPage, EventGap> ask(Store& store, const std::string& after) {
    EventFilter filter;
    filter.after = after;
    auto told = asked_until_answered([&] { return store.events(filter); });
    EXPECT_TRUE(told.has_value()) << name(told.error());
    return told ? *std::move(told) : EventPage{};
  }
  static EventLines claims(std::uint64_t from, std::uint64_t to) {
    EventLines lines;
    for (std::uint64_t n = from; n <= to; ++n) lines.push_back("claimed " + std::to_string(n));
    return lines;
  }
};

TEST_F(PostgresEvents, WhoReadWhatAnOlderCopyDoesNotHaveIsToldOfTheGapAndSkipsNothing) {
  Store& before = start_with_log(server_);
  for (std::uint64_t n = 1; n <= 3; ++n) granted(before, request_of(n, n));
  const std::string in_both = event_page(before).next;
  server_.back_up();
  for (std::uint64_t n = 4; n <= 9; ++n) granted(before, request_of(n, n));
  const std::string lost = event_page(before).next;
  end(before);
  server_.restore();
  Store& store = start_with_log(server_);
  EXPECT_TRUE(std::holds_alternative<EventGap>(ask(store, lost))) << "also before anything is new";
  // Transactions of the same numbers, and more of them.
  for (std::uint64_t n = 10; n <= 29; ++n) granted(store, request_of(n, n));
  const auto told = ask(store, lost);
  const auto* gap = std::get_if<EventGap>(&told);
  ASSERT_TRUE(gap) << "what is in the place of 4 to 9 was not read";
  EventLines all = claims(1, 3);
  for (const auto& line : claims(10, 29)) all.push_back(line);
  EXPECT_EQ(event_lines(store, gap->oldest), all);
  EXPECT_EQ(event_lines(store, in_both), claims(10, 29)) << "whoever lost nothing goes on";
}

TEST_F(PostgresEvents, APromotionThatLosesNothingIsNoGap) {
  const PostgresServer standby(server_, {});
  std::string read;
  {
    Store& before = start_with_log(server_);
    for (std::uint64_t n = 1; n <= 5; ++n) granted(before, request_of(n, n));
    read = event_page(before, "", 3).next;
    end(before);
  }
  const std::string written = server_.sql("SELECT pg_current_wal_insert_lsn()");
  ASSERT_TRUE(eventually(
      [&] { return standby.sql("SELECT pg_last_wal_replay_lsn() >= '" + written + "'") == "t"; }));
  server_.stop();
  const_cast<PostgresServer&>(standby).promote();
  Store& store = start_with_log(standby);
  granted(store, request_of(6, 6));
  EXPECT_EQ(event_lines(store, read), claims(4, 6));
}

/// Of which nothing is left but where it stood, also once that is trimmed.
TEST_F(PostgresEvents, WhereAnErasedEventStoodIsTrimmedLikeAnyOther) {
  PostgresOptions with_log = options("");
  with_log.events.emplace();
  with_log.events->count = 2;
  Store& store = start(with_log);
  for (std::uint64_t n = 1; n <= 3; ++n) granted(store, request_of(n, n));
  const std::string first = event_page(store, "", 1).next;
  const std::string third = event_page(store).next;
  ASSERT_TRUE(run(store.forget("acme")).has_value());
  EXPECT_EQ(server_.sql("SELECT count(*) FROM semel.erased_event"), "3");
  EXPECT_EQ(event_lines(store, first), EventLines{}) << "what was forgotten is no gap";
  ClaimRequest others = request_of(4, 4);
  others.tenant = "globex";
  granted(store, others);
  while (run(store.sweep(1)).value().more) continue;
  EXPECT_EQ(server_.sql("SELECT count(*) FROM semel.erased_event"), "1");
  EXPECT_EQ(event_lines(store, third), (EventLines{"claimed 4"}));
  EXPECT_TRUE(std::holds_alternative<EventGap>(ask(store, first)));
}

}  // namespace
}  // namespace semel::testing
