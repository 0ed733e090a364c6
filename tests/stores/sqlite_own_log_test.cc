// Whether the SQLite store knows its own write-ahead log from one that was begun on another state
// of it, and takes its own after every interruption.

#include <filesystem>

#include "tests/stores/sqlite_tampering.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

class SqliteOwnLog : public SqliteTampering {
 protected:
  /// Leaves the store closed after so many calls, a copy in aside("backup") and three more calls.
  void make_store_and_backup(std::uint64_t calls) {
    fs::remove(options_.path);
    fs::remove_all(options_.state_dir);
    calls_ = 0;
    make_store(calls);
    copy(options_.path, aside("backup"));
    open();
    complete(3);
    close();
  }
  /// What a kill leaves behind now: aside("file") and aside("log").
  void keep_both() {
    static_cast<void>(health());  // The group before has been tidied up.
    copy(options_.path, aside("file"));
    copy(log_path(), aside("log"));
  }
  /// Puts the file aside("right") beside the log aside("log") and expects that it is left alone.
  void expect_refused() {
    copy(aside("right"), options_.path);
    copy(aside("log"), log_path());
    for (int start = 0; start < 2; ++start) {
      const std::string told = refusal();
      EXPECT_NE(told.find("is damaged"), std::string::npos) << told;
      EXPECT_NE(told.find("move the -wal away"), std::string::npos) << told;
      close();
      EXPECT_TRUE(bytes_of(options_.path) == bytes_of(aside("right")));
      EXPECT_TRUE(bytes_of(log_path()) == bytes_of(aside("log")));
    }
  }
  void expect_whole_without_the_log() {
    fs::remove(log_path());
    open();
    expect_replays(1, calls_);
    close();
  }
  /// Expects that file and log, lying in another folder, are taken and hold every call so far.
  void expect_taken_elsewhere(const std::string& file, const std::string& log) {
    const TemporaryFolder other;
    SqliteOptions options = options_;
    options.path = other.path() + "/copy.db";
    options.state_dir = other.path() + "/state";
    copy(file, options.path);
    copy(log, options.path + "-wal");
    const auto store = open_store(options, clock_.clock());
    for (std::uint64_t n = 1; n <= calls_; ++n) {
      const auto view = run(store->find(request_of(n, n).key)).value();
      ASSERT_TRUE(view) << n;
      EXPECT_EQ(view->state, RecordView::State::Completed) << n;
    }
    EXPECT_FALSE(run(store->health()).suspect);
    store->close();
  }
};

TEST_F(SqliteOwnLog, OfAnOlderCopyOfTheFileIsNotTaken) {
  for (const std::uint64_t calls : {3, 60, 200}) {
    SCOPED_TRACE(calls);
    make_store_and_backup(calls);
    fs::rename(options_.path, aside("right"));
    copy(aside("backup"), options_.path);
    open();
    ASSERT_TRUE(health().suspect);
    complete_harmless(9'000);
    keep_both();
    close();
    expect_refused();
    expect_whole_without_the_log();
  }
}

TEST_F(SqliteOwnLog, OfAnAcknowledgedCopyIsNotTakenEither) {
  for (const std::uint64_t calls : {3, 60, 200}) {
    SCOPED_TRACE(calls);
    make_store_and_backup(calls);
    copy(options_.path, aside("right"));
    copy(aside("backup"), options_.path);
    EXPECT_NE(acknowledge_store(options_).sentence.find("acknowledged"), std::string::npos);
    open();
    granted(request_of(9'000, 9'000));
    keep_both();
    close();
    expect_refused();
    expect_whole_without_the_log();
  }
}

TEST_F(SqliteOwnLog, OfACopyThatWasMadeTogetherWithItsLogIsNotTaken) {
  make_store(60);
  open();
  complete(3);
  keep_both();
  close();
  copy(aside("file"), options_.path);
  copy(aside("log"), log_path());
  open();  // As after a kill: both go on from here.
  complete(3);
  close();
  fs::rename(options_.path, aside("right"));
  copy(aside("file"), options_.path);
  copy(aside("log"), log_path());
  open();
  complete_harmless(9'000);
  keep_both();
  close();
  expect_refused();
  expect_whole_without_the_log();
}

TEST_F(SqliteOwnLog, IsToldApartWhateverTheFileIsCalled) {
  options_.path = folder_.path() + "/se%6Del?mode=ro#1 \".db";
  make_store_and_backup(3);
  fs::rename(options_.path, aside("right"));
  copy(aside("backup"), options_.path);
  open();
  complete_harmless(9'000);
  keep_both();
  close();
  expect_refused();
}

TEST_F(SqliteOwnLog, OfAnotherStateIsTakenOnTheOperatorsWord) {
  make_store_and_backup(1);
  fs::rename(options_.path, aside("right"));
  copy(aside("backup"), options_.path);
  open();
  complete_harmless(9'000);
  keep_both();
  close();
  expect_refused();
  const std::string told = acknowledge_store(options_).sentence;
  EXPECT_NE(told.find("was not begun on what the file holds"), std::string::npos) << told;
  EXPECT_NE(told.find("acknowledged"), std::string::npos) << told;
  open();
  EXPECT_FALSE(health().suspect) << health().remark;
  complete(1);
  keep_both();
  close();
  copy(aside("file"), options_.path);
  copy(aside("log"), log_path());
  open();
  EXPECT_FALSE(health().suspect) << health().remark;
}

TEST_F(SqliteOwnLog, IsTakenAtEveryMomentOfARun) {
  init();
  open();
  // Each answer is 15 pages, so that the log is begun anew in between, as it is by forget().
  const std::string answer(60'000, 'a');
  for (int round = 0; round < 45; ++round) {
    SCOPED_TRACE(round);
    complete(round % 3 == 0 ? 1 : 7, answer);
    if (round % 15 == 14) static_cast<void>(run(store_->forget("nobody")).value());
    if (round == 0 || round % 4 == 0 || round % 15 == 14) {
      keep_both();
      expect_taken_elsewhere(aside("file"), aside("log"));
    }
  }
}

TEST_F(SqliteOwnLog, IsTakenAfterACheckpointThatStoppedAnywhere) {
  constexpr std::size_t kSector = 512;
  make_store(30);
  open();
  complete(30);
  keep_both();
  const std::string before = bytes_of(aside("file"));
  close();
  const std::string after = bytes_of(options_.path);
  ASSERT_NE(after, before);
  // SQLite copies the pages in their order; a loss of power may tear one of them.
  for (std::size_t cut = 0; cut < after.size() + kSector; cut += kSector) {
    SCOPED_TRACE(cut);
    std::string file = after.substr(0, cut);
    if (cut < before.size()) file += before.substr(cut);
    std::ofstream(aside("cut"), std::ios::binary) << file;
    expect_taken_elsewhere(aside("cut"), aside("log"));
  }
}

TEST_F(SqliteOwnLog, IsTakenAfterADiskWasFull) {
  make_store(30);
  open();
  for (int round = 0; round < 3; ++round) {
    complete(2);
    FaultyDisk::instance().set(FaultyDisk::Mood::Full);
    EXPECT_EQ(run(store_->forget("nobody")).error(), Fault::StoreFull);
    EXPECT_EQ(claim(request_of(9'000, 9'000)).error(), Fault::StoreFull);
    FaultyDisk::instance().set(FaultyDisk::Mood::Well);
    keep_both();
    expect_taken_elsewhere(aside("file"), aside("log"));
    if (round == 1) static_cast<void>(run(store_->forget("nobody")).value());
    complete(2);
    keep_both();
    expect_taken_elsewhere(aside("file"), aside("log"));
  }
}

TEST_F(SqliteOwnLog, IsNotJudgedWhereAnOlderProgramWrote) {
  make_store(5);
  sql("ALTER TABLE meta DROP COLUMN log_note");
  for (int start = 0; start < 2; ++start) {
    open();
    EXPECT_FALSE(health().suspect) << health().remark;
    complete(2);
    keep_both();
    expect_taken_elsewhere(aside("file"), aside("log"));
    close();
    // It carries time and tally on, and leaves the note as it was.
    sql("UPDATE meta SET store_ns = store_ns + 1, tally_ns = tally_ns + 1");
  }
  // From the next start on it is judged again.
  open();
  close();
  make_store_and_backup(3);
  fs::rename(options_.path, aside("right"));
  copy(aside("backup"), options_.path);
  open();
  complete_harmless(9'000);
  keep_both();
  close();
  expect_refused();
}

}  // namespace
}  // namespace semel::testing
