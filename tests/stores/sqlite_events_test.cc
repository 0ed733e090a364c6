// The transition log in the file: what it leaves there, what it takes away, and what becomes of it
// when the file fails, is replaced, or is served without it.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/stores/event_lines.h"
#include "tests/stores/faulty_vfs.h"
#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

Task<> claim_unheard(Store& store, ClaimRequest request) {
  static_cast<void>(co_await store.claim(std::move(request)));
}

class SqliteEventLog : public SqliteFixture {
 protected:
  SqliteEventLog() {
    FaultyDisk::instance().set(FaultyDisk::Mood::Well);
    options_.state_dir = folder_.path() + "/state";
    options_.events.emplace();
  }
  ~SqliteEventLog() override { FaultyDisk::instance().set(FaultyDisk::Mood::Well); }

  void begin() {
    init();
    open();
  }
  Attempt complete(std::uint64_t number) {
    const Attempt attempt = granted(request_of(number, number));
    record(attempt, response_of(201, "ok"));
    return attempt;
  }
  EventLines lines(std::string after = {}) { return event_lines(*store_, std::move(after)); }
  std::string newest() { return event_page(*store_).next; }
  /// True if something behind that position is missing.
  bool is_gap(const std::string& after) {
    EventFilter filter;
    filter.after = after;
    return std::holds_alternative<EventGap>(run(store_->events(filter)).value());
  }
  std::string tables() {
    return sql(
        "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master "
        "WHERE type = 'table' ORDER BY name)");
  }
};

TEST_F(SqliteEventLog, WithoutALogTheFileIsWhatItWas) {
  options_.events.reset();
  begin();
  complete(1);
  ASSERT_TRUE(run(store_->forget("acme")).has_value());
  sweep_all(*store_);
  close();
  EXPECT_EQ(tables(), "log meta routes");
}

TEST_F(SqliteEventLog, AFileOfBeforeIsGivenALog) {
  options_.events.reset();
  begin();
  complete(1);
  close();
  options_.events.emplace();
  open();
  EXPECT_EQ(lines(), EventLines{}) << "what was before is not told";
  complete(2);
  EXPECT_EQ(lines(), (EventLines{"claimed 2", "completed 2 201"}));
  reopen();
  EXPECT_FALSE(run(store_->health()).suspect);
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(1, 9)).value()));
  close();
  EXPECT_EQ(tables(), "event event_span log meta routes");
}

TEST_F(SqliteEventLog, ClaimsOfAProcessThatIsGoneAreToldAsWhatTheyBecome) {
  begin();
  granted(request_of(1, 1));
  auto harmless = request_of(2, 2);
  harmless.policy = Policy::Idempotent;
  granted(harmless);
  reopen();
  EXPECT_EQ(lines(), (EventLines{"claimed 1", "claimed 2", "indeterminate 1 owner_lost"}));
  reopen();
  EXPECT_EQ(lines().size(), 3u) << "once";
}

TEST_F(SqliteEventLog, ForgettingATenantLeavesNoByteOfItsNameInAnyFile) {
  begin();
  auto request = request_of(1, 1);
  request.tenant = "a-very-private-tenant";
  record(granted(request), response_of(200, "ok"));
  complete(2);
  ASSERT_EQ(run(store_->forget(request.tenant)).value(), 1u);
  EXPECT_EQ(lines(), (EventLines{"claimed 2", "completed 2 201"}));
  close();
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    EXPECT_EQ(bytes.str().find(request.tenant), std::string::npos) << entry.path();
    read += bytes.str().size();
  }
  EXPECT_GT(read, 4'096u);
}

TEST_F(SqliteEventLog, SweepingDropsNoMoreThanABatchAtATime) {
  options_.events->count = 2;
  begin();
  for (std::uint64_t n = 1; n <= 9; ++n) granted(request_of(n, n));
  for (std::size_t left = 9; left > 3; left -= 3) {
    ASSERT_EQ(lines().size(), left);
    const auto swept = run(store_->sweep(3));
    EXPECT_EQ(swept.value().more, left - 3 > 2);
  }
  sweep_all(*store_);
  EXPECT_EQ(lines(), (EventLines{"claimed 8", "claimed 9"}));
}

TEST_F(SqliteEventLog, ALogThatWasOffInBetweenHasAGapThere) {
  begin();
  complete(1);
  const std::string before = newest();
  close();
  const auto kept = std::exchange(options_.events, std::nullopt);
  open();
  EXPECT_EQ(newest(), "") << "off";
  complete(2);
  sweep_all(*store_);
  close();
  EXPECT_EQ(sql("SELECT count(*) FROM event"), "0") << "what nobody may read is not kept";
  options_.events = kept;
  open();
  EXPECT_TRUE(is_gap(before));
  complete(3);
  EXPECT_EQ(lines(), (EventLines{"claimed 3", "completed 3 201"}));
  EXPECT_FALSE(is_gap(newest()));
}

TEST_F(SqliteEventLog, ALogThatIsOffIsForgottenAllTheSame) {
  begin();
  complete(1);
  close();
  options_.events.reset();
  open();
  ASSERT_TRUE(run(store_->forget("acme")).has_value());
  close();
  EXPECT_EQ(sql("SELECT count(*) FROM event"), "0");
}

TEST_F(SqliteEventLog, AStoreThatLostEventsSaysSoToWhoHadReadThem) {
  begin();
  complete(1);
  close();
  std::filesystem::copy_file(options_.path, folder_.path() + "/older.db");
  open();
  complete(2);
  const std::string of_a_lost_event = newest();
  close();
  std::filesystem::copy_file(folder_.path() + "/older.db", options_.path,
                             std::filesystem::copy_options::overwrite_existing);
  open();
  ASSERT_TRUE(run(store_->health()).suspect);
  EXPECT_TRUE(is_gap(of_a_lost_event));
  const std::string here = newest();
  ASSERT_TRUE(run(store_->acknowledge()).has_value());
  for (std::uint64_t n = 10; n < 20; ++n) complete(n);
  EXPECT_TRUE(is_gap(of_a_lost_event)) << "its number is not given again";
  EXPECT_EQ(lines(here).size(), 20u);
  reopen();
  EXPECT_EQ(lines(here).size(), 20u) << "once only";
}

TEST_F(SqliteEventLog, WhatTheDiskDidNotTakeIsNotTold) {
  begin();
  const Attempt attempt = granted(request_of(1, 1));
  FaultyDisk::instance().set(FaultyDisk::Mood::Full);
  EXPECT_EQ(claim(request_of(2, 2)).error(), Fault::StoreFull);
  EXPECT_EQ(run(store_->record(attempt, response_of(200, "no room"))).error(), Fault::StoreFull);
  EXPECT_EQ(lines(), (EventLines{"claimed 1"}));
  FaultyDisk::instance().set(FaultyDisk::Mood::Well);
  EXPECT_EQ(lines(), (EventLines{"claimed 1"}));
  record(attempt, response_of(200, "room again"));
  EXPECT_EQ(lines(), (EventLines{"claimed 1", "completed 1 200"}));
  reopen();
  EXPECT_EQ(lines(), (EventLines{"claimed 1", "completed 1 200"}));
}

TEST_F(SqliteEventLog, ForgettingThatTheDiskDidNotTakeForgetsNothing) {
  begin();
  complete(1);
  FaultyDisk::instance().set(FaultyDisk::Mood::Full);
  EXPECT_EQ(run(store_->forget("acme")).error(), Fault::StoreFull);
  FaultyDisk::instance().set(FaultyDisk::Mood::Well);
  complete(2);
  EXPECT_EQ(lines().size(), 4u);
  ASSERT_TRUE(run(store_->forget("acme")).has_value());
  EXPECT_EQ(lines(), EventLines{});
}

TEST_F(SqliteEventLog, AnEventThatCannotBeReadIsNotPassedOver) {
  begin();
  complete(1);
  close();
  sql("UPDATE event SET key = x'01' WHERE number = 2");
  open();
  EXPECT_EQ(run(store_->events({})).error(), Fault::EventCorrupt);
  EXPECT_TRUE(std::holds_alternative<Granted>(claim(request_of(2, 2)).value()));
}

TEST_F(SqliteEventLog, ALogLongerThanOneLookIsForgottenWhole) {
  begin();
  const LentContext io;
  constexpr std::uint64_t kCalls = 11'000;
  for (std::uint64_t n = 1; n <= kCalls; ++n) {
    ClaimRequest request = request_of(n, n);
    if (n % 1'000 == 0) request.tenant = "globex";
    asio::co_spawn(*io, claim_unheard(*store_, request), asio::detached);
  }
  io->run();
  ASSERT_EQ(lines().size(), kCalls);
  ASSERT_EQ(run(store_->forget("acme")).value(), kCalls - kCalls / 1'000);
  EXPECT_EQ(lines().size(), kCalls / 1'000);
}

}  // namespace
}  // namespace semel::testing
