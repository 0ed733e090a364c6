// A transition log in PostgreSQL of which a part cannot be read.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/stores/event_lines.h"
#include "tests/stores/postgres_fixture.h"

namespace semel::testing {
namespace {

class PostgresDamagedLog : public PostgresReplicas {
 protected:
  PostgresDamagedLog() {
    PostgresOptions logging = options("one");
    logging.events.emplace();
    store_ = &start(logging);
    for (std::uint64_t key = 1; key <= 3; ++key) granted(*store_, request_of(key, key));
  }
  Result<std::variant<EventPage, EventGap>> events(const std::string& after, std::size_t limit) {
    EventFilter filter;
    filter.after = after;
    filter.limit = limit;
    return asked_until_answered_or_damaged(filter);
  }

  Store* store_ = nullptr;

 private:
  Result<std::variant<EventPage, EventGap>> asked_until_answered_or_damaged(
      const EventFilter& filter) {
    Result<std::variant<EventPage, EventGap>> told = Fault::StoreUnreachable;
    EXPECT_TRUE(eventually([&] {
      told = run(store_->events(filter));
      return told || told.error() == Fault::EventCorrupt || told.error() == Fault::RecordCorrupt;
    }));
    return told;
  }
};

TEST_F(PostgresDamagedLog, AnEventThatCannotBeReadIsNotPassedOver) {
  server_.sql(
      "UPDATE semel.event SET key = '\\x01' WHERE seq = (SELECT max(seq) FROM semel.event)");
  EXPECT_EQ(events("", 100).error(), Fault::EventCorrupt);
  const auto before = events("", 2);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<EventPage>(*before).events.size(), 2u);
  EXPECT_EQ(events(std::get<EventPage>(*before).next, 1).error(), Fault::EventCorrupt);
}

TEST_F(PostgresDamagedLog, ABrokenPageIsADamagedEventAndNoWrongPosition) {
  const auto first = events("", 1);
  ASSERT_TRUE(first.has_value());
  const std::string position = std::get<EventPage>(*first).next;
  server_.sql("CHECKPOINT");
  const std::string file = server_.sql("SHOW data_directory") + "/" +
                           server_.sql("SELECT pg_relation_filepath('semel.event')");
  server_.stop();
  {
    std::fstream pages(file, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(pages.is_open()) << file;
    const std::string garbage(8'192, '\xff');
    pages.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  server_.restart();
  EXPECT_EQ(events(position, 1).error(), Fault::EventCorrupt);
}

}  // namespace
}  // namespace semel::testing
