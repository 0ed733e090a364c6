// What the SQLite store makes of rows that are not the ones it wrote: pages of another file, a row
// that is gone, a byte that was changed.

#include <filesystem>

#include "tests/stores/sqlite_tampering.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

class SqliteTally : public SqliteTampering {
 protected:
  /// What the tally says of its own count, and what is there.
  void expect_counted() {
    close();
    EXPECT_EQ(sql("SELECT row_count FROM meta"), sql("SELECT count(*) FROM log"));
  }
  void expect_no_alarm() {
    open();
    EXPECT_FALSE(health().suspect) << health().remark;
  }
  /// Expects that no unknown effect is let through before somebody says yes.
  void expect_suspect() {
    open();
    ASSERT_TRUE(health().suspect);
    EXPECT_NE(health().remark.find("its rows are not those that were noted"), std::string::npos)
        << health().remark;
    EXPECT_EQ(claim(request_of(999, 1'999)).error(), Fault::StoreSuspect);
    auto harmless = request_of(998, 1'998);
    harmless.policy = Policy::Idempotent;
    granted(harmless);
    reopen();
    EXPECT_TRUE(health().suspect) << "no restart forgets it";
    EXPECT_TRUE(run(store_->acknowledge()).value());
    granted(request_of(999, 2'999));
    reopen();
    EXPECT_FALSE(health().suspect) << health().remark;
  }
};

TEST_F(SqliteTally, ARowThatIsGoneIsNoticed) {
  make_store(5);
  // The claim of call 5 is row 9, its end row 10: without both its key would be free.
  sql("DELETE FROM log WHERE seq > 8");
  expect_suspect();
}

TEST_F(SqliteTally, WhatIsLostIsRefusedAndWhatIsFoundIsReplayed) {
  make_store(5);
  sql("DELETE FROM log WHERE seq > 8");
  open();
  EXPECT_EQ(claim(request_of(5, 50)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(4, 40)).value()));
}

TEST_F(SqliteTally, WhateverIsChangedInARowIsNoticed) {
  struct Change {
    const char* name;
    const char* statement;
  };
  constexpr Change kChanges[] = {
      {"a byte of an entry",
       "UPDATE log SET entry = substr(entry, 1, 40) || x'5A' ||"
       " substr(entry, 42) WHERE seq = 4"},
      {"a byte of a key", "UPDATE log SET key = x'FF' || substr(key, 2) WHERE seq = 4"},
      {"the number of a row", "UPDATE log SET seq = 400 WHERE seq = 4"},
      {"no response", "UPDATE log SET response = NULL WHERE seq = 4"},
      {"a longer response", "UPDATE log SET response = response || x'00' WHERE seq = 4"},
      {"an older row comes back",
       "INSERT INTO log SELECT 400, key, entry, response FROM log"
       " WHERE seq = 3"},
      {"two rows change places",
       "UPDATE log SET seq = 400 WHERE seq = 4; UPDATE log SET seq = 4 WHERE seq = 6;"
       "UPDATE log SET seq = 6 WHERE seq = 400"},
  };
  for (const Change& change : kChanges) {
    SCOPED_TRACE(change.name);
    fs::remove(options_.path);
    fs::remove_all(options_.state_dir);
    calls_ = 0;
    make_store(5);
    sql(change.statement);
    expect_suspect();
    close();
  }
}

TEST_F(SqliteTally, WithoutAWitnessNobodyCouldRememberItSoTheStoreStaysClosed) {
  options_.state_dir.clear();
  make_store(5);
  sql("DELETE FROM log WHERE seq = 10");
  EXPECT_NE(refusal().find("semel store acknowledge"), std::string::npos);
  EXPECT_NE(acknowledge_store(options_).sentence.find("acknowledged"), std::string::npos);
  expect_no_alarm();
}

TEST_F(SqliteTally, AFileFromBeforeThereWasATallyIsGivenOne) {
  make_store(5);
  sql("ALTER TABLE meta DROP COLUMN row_count; ALTER TABLE meta DROP COLUMN row_hash;"
      "ALTER TABLE meta DROP COLUMN tally_ns");
  expect_no_alarm();
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(5, 50)).value()));
  expect_counted();
  sql("DELETE FROM log WHERE seq = 10");
  expect_suspect();
}

TEST_F(SqliteTally, WhatAProgramWithoutATallyWroteInBetweenIsNoDamage) {
  make_store(5);
  // Such a program goes on with rows, time and fence, and leaves the tally as it was.
  sql("DELETE FROM log WHERE seq = 1; UPDATE meta SET store_ns = store_ns + 1");
  expect_no_alarm();
  expect_counted();
  sql("DELETE FROM log WHERE seq = 2");
  expect_suspect();
}

TEST_F(SqliteTally, EveryKindOfChangeIsCounted) {
  make_store(30);
  open();
  for (std::uint64_t n = 100; n < 130; ++n) {
    const Attempt holder = granted(request_of(n, n));
    if (n % 3 == 0) run(store_->release(holder)).value();
    if (n % 3 == 1) {
      run(store_->mark_indeterminate(holder, IndeterminateReason::Cut, std::nullopt)).value();
    }
  }
  ASSERT_TRUE(run(store_->adopt_routes({route_today(1h, std::nullopt)})).has_value());
  expect_counted();
  expect_no_alarm();
  static_cast<void>(run(store_->sweep(7)).value());
  expect_counted();
  expect_no_alarm();
  EXPECT_GT(run(store_->forget("acme")).value(), 0u);
  expect_counted();
  expect_no_alarm();
  clock_.advance(24h * 400);
  while (run(store_->sweep(7)).value().more) {
  }
  expect_counted();
  expect_no_alarm();
}

TEST_F(SqliteTally, ATransactionThatFoundNoRoomIsNotCounted) {
  FaultyDisk& disk = FaultyDisk::instance();
  make_store(3);
  open();
  disk.set(FaultyDisk::Mood::Full);
  for (std::uint64_t n = 50; n < 55; ++n) {
    EXPECT_EQ(claim(request_of(n, n)).error(), Fault::StoreFull);
  }
  disk.set(FaultyDisk::Mood::Well);
  complete(2);
  expect_counted();
  expect_no_alarm();
}

/// An older copy in the file, and beside it the write-ahead log of a newer state.
class SqliteMixture : public SqliteTally {
 protected:
  /// Leaves the files as after a kill behind so many calls. `aside("file")` and `aside("log")` are
  /// copies of both.
  void stop_hard(std::uint64_t calls) {
    open();
    complete(calls);
    copy(options_.path, aside("file"));
    copy(log_path(), aside("log"));
    close();
    copy(aside("file"), options_.path);
    copy(aside("log"), log_path());
  }
};

TEST_F(SqliteMixture, IsRefusedAndLeftAsItIs) {
  make_store(30);
  copy(options_.path, aside("backup"));
  open();
  complete(30);  // More rows than a page holds: the log of later calls does not have them all.
  close();
  stop_hard(100);
  copy(aside("backup"), options_.path);
  for (int start = 0; start < 2; ++start) {
    const std::string told = refusal();
    EXPECT_NE(told.find("is damaged"), std::string::npos) << told;
    EXPECT_NE(told.find("move the -wal away"), std::string::npos) << told;
    EXPECT_EQ(bytes_of(options_.path), bytes_of(aside("backup")));
    EXPECT_EQ(bytes_of(log_path()), bytes_of(aside("log")));
  }
  EXPECT_NE(init_store(options_).find("a store already"), std::string::npos);
  EXPECT_EQ(bytes_of(options_.path), bytes_of(aside("backup"))) << "no other command mixes them";

  fs::remove(log_path());
  open();
  EXPECT_NE(health().remark.find("behind its witness"), std::string::npos) << health().remark;
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(30, 500)).value()));
  EXPECT_EQ(claim(request_of(31, 501)).error(), Fault::StoreSuspect);
}

TEST_F(SqliteMixture, IsNoneWhereNothingWasCopiedIntoTheFileInBetween) {
  make_store(30);
  copy(options_.path, aside("backup"));
  stop_hard(100);
  copy(aside("backup"), options_.path);
  open();
  EXPECT_FALSE(health().suspect) << "its log makes that copy whole: " << health().remark;
  for (std::uint64_t n = 1; n <= 130; ++n) {
    EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(n, 1'000 + n)).value())) << n;
  }
}

TEST_F(SqliteMixture, WithAWholeStoreInTheLogIsRefusedToo) {
  make_store(30);
  fs::rename(options_.path, aside("real"));
  init();
  open();  // Suspect: no EFFECTFUL call is let through.
  for (std::uint64_t n = 500; n < 540; ++n) complete_harmless(n);
  copy(log_path(), aside("log"));
  close();
  fs::rename(aside("real"), options_.path);
  copy(aside("log"), log_path());
  const std::string before = bytes_of(options_.path);
  const std::string told = refusal();
  EXPECT_NE(told.find("reads as store"), std::string::npos) << told;
  EXPECT_NE(told.find("move the -wal away"), std::string::npos) << told;
  EXPECT_EQ(bytes_of(options_.path), before);
  fs::remove(log_path());
  open();
  for (std::uint64_t n = 1; n <= 30; ++n) {
    EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(n, 1'000 + n)).value())) << n;
  }
}

TEST_F(SqliteMixture, IsNoneWhereANewStoreHasTheInodeOfTheOldOneAndWasKilled) {
  make_store(3);
  std::ofstream(options_.path, std::ios::trunc).close();
  init();
  open();
  for (std::uint64_t n = 500; n < 540; ++n) {
    auto harmless = request_of(n, n);
    harmless.policy = Policy::Idempotent;
    record(granted(harmless), response_of(200, "new store"));
  }
  copy(options_.path, aside("file"));
  copy(log_path(), aside("log"));
  close();
  copy(aside("file"), options_.path);
  copy(aside("log"), log_path());
  open();
  EXPECT_TRUE(health().suspect);
  EXPECT_EQ(claim(request_of(1, 1'001)).error(), Fault::StoreSuspect);
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(539, 1'002)).value()));
}

TEST_F(SqliteMixture, OfPagesThatFitIsTakenOnTheOperatorsWord) {
  make_store(60);
  stop_hard(3);
  // A row of an early page, which the log does not hold, is gone from the file alone.
  fs::remove(log_path());
  sql("DELETE FROM log WHERE seq = 3");
  copy(aside("log"), log_path());
  EXPECT_NE(refusal().find("semel store acknowledge"), std::string::npos);
  const std::string told = acknowledge_store(options_).sentence;
  EXPECT_NE(told.find("its rows are not those that were noted"), std::string::npos) << told;
  EXPECT_NE(told.find("acknowledged"), std::string::npos) << told;
  expect_no_alarm();
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(63, 500)).value()));
}

}  // namespace
}  // namespace semel::testing
