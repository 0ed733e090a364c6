// A store that lost records, as the program sees it: missing, older, moved; and no false alarm.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

class Loss : public ::testing::Test {
 protected:
  [[nodiscard]] Response book(const std::string& run) const {
    return gateway_.book(kBooking, {{"X-Run-Id", run}});
  }
  void stop() {
    gateway_.semel.sigterm();
    ASSERT_TRUE(gateway_.semel.wait());
  }
  [[nodiscard]] std::string store() const { return gateway_.semel.store_file(); }
  [[nodiscard]] std::string copy() const { return store() + ".yesterday"; }
  Finished command(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {gateway_.semel.binary()};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back(gateway_.semel.config_file());
    return run(all);
  }
  [[nodiscard]] bool is_suspect() const {
    return gateway_.semel.metric("semel_store_suspect") == 1;
  }
  /// Expects that unknown effects are refused, and that what is known, or harmless, goes on.
  void expect_suspect(const std::string& known) {
    EXPECT_TRUE(is_suspect());
    EXPECT_EQ(book(known).header("Idempotent-Replayed"), "true");
    const int before = gateway_.upstream.requests();
    for (int call = 0; call < 2; ++call) {
      const Response refused = book("unknown");
      expect_problem(refused, "store-suspect");
      expect_verdict(refused, "EFFECTFUL", "book", "false");
    }
    EXPECT_EQ(gateway_.upstream.requests(), before) << "nothing was sent";
    EXPECT_EQ(gateway_.call_tool("/tools/seat").status, 200) << "a repeat would be harmless";
  }
  void acknowledge() {
    const Finished word = command({"store", "acknowledge"});
    ASSERT_TRUE(word.exit);
    EXPECT_EQ(word.exit->code, 0) << word.err;
    EXPECT_NE(word.out.find("the witness knew store "), std::string::npos) << word.out;
    EXPECT_NE(word.out.find("acknowledged"), std::string::npos) << word.out;
    // The access log is standard output, and the word is a line of it.
    const Json line = Json::parse(word.out.substr(0, word.out.find('\n')));
    EXPECT_EQ(line["kind"].text(), "audit");
    EXPECT_EQ(line["action"].text(), "acknowledge");
    EXPECT_EQ(line["result"].text(), "done");
  }

  /// Books the runs from `first` to `last`, each with an answer of most of a page.
  void book_all(int first, int last) {
    gateway_.upstream.script(commits_and_answers(200, std::string(3'000, 'b')));
    for (int run = first; run <= last; ++run) EXPECT_EQ(book(std::to_string(run)).status, 200);
  }
  [[nodiscard]] std::string log() const { return store() + "-wal"; }
  /// Expects that it does not start, says why, and leaves the files as they are.
  void expect_no_start() {
    const std::string file = read_file(store());
    const std::string log_bytes = read_file(log());
    ASSERT_FALSE(log_bytes.empty()) << "a kill leaves the write-ahead log";
    const Finished start = gateway_.semel.start_in_vain();
    ASSERT_TRUE(start.exit);
    EXPECT_EQ(start.exit->code, 2);
    EXPECT_NE(start.err.find("move the -wal away"), std::string::npos) << start.err;
    EXPECT_TRUE(read_file(store()) == file);
    EXPECT_TRUE(read_file(log()) == log_bytes);
  }

  Gateway gateway_{{.store = StoreKind::Sqlite}};
};

TEST_F(Loss, AMissingFileIsNoStart) {
  EXPECT_EQ(book("1").status, 200);
  stop();
  fs::remove(store());
  const Finished start = command({"serve"});
  ASSERT_TRUE(start.exit);
  EXPECT_EQ(start.exit->code, 2);
  EXPECT_NE(start.err.find("semel store init"), std::string::npos) << start.err;
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(Loss, AFreshStoreInTheOldOnesPlaceIsSuspect) {
  EXPECT_EQ(book("1").status, 200);
  stop();
  fs::remove(store());
  EXPECT_NE(command({"store", "init"}).out.find("suspect"), std::string::npos);
  gateway_.semel.start_not_ready("the store is suspect");
  EXPECT_TRUE(is_suspect());
  expect_problem(book("1"), "store-suspect");
  EXPECT_EQ(gateway_.upstream.effects(), 1);
}

TEST_F(Loss, YesterdaysCopyIsSuspectUntilSomebodySaysYes) {
  EXPECT_EQ(book("yesterday").status, 200);
  stop();
  fs::copy_file(store(), copy());
  gateway_.semel.start();
  EXPECT_EQ(book("today").status, 200);
  stop();
  fs::copy_file(copy(), store(), fs::copy_options::overwrite_existing);
  for (const char* start : {"the first start", "another start"}) {
    SCOPED_TRACE(start);
    gateway_.semel.start_not_ready("the store is suspect");
    EXPECT_NE(gateway_.semel.stderr_text().find("behind its witness"), std::string::npos)
        << gateway_.semel.stderr_text();
    expect_suspect("yesterday");
    expect_problem(book("today"), "store-suspect");
    stop();
  }
  acknowledge();
  gateway_.semel.start();
  EXPECT_FALSE(is_suspect());
  EXPECT_EQ(book("unknown").header("Idempotency-Status"), "executed");
  gateway_.semel.restart();
  EXPECT_FALSE(is_suspect());
}

TEST_F(Loss, AnOlderCopyWrittenIntoTheFileBesideTheNewerLogIsNotMixedWithIt) {
  book_all(1, 30);
  stop();
  fs::copy_file(store(), copy());
  gateway_.semel.start();
  book_all(31, 33);
  gateway_.semel.restart();
  book_all(34, 133);
  gateway_.semel.kill9();
  fs::copy_file(copy(), store(), fs::copy_options::overwrite_existing);
  expect_no_start();

  fs::remove(log());
  gateway_.semel.start_not_ready("the store is suspect");
  for (int run = 1; run <= 133; ++run) {
    const Response again = book(std::to_string(run));
    if (run <= 30) {
      EXPECT_EQ(again.header("Idempotent-Replayed"), "true") << run;
    } else {
      expect_problem(again, "store-suspect");
    }
  }
  EXPECT_EQ(gateway_.upstream.effects(), 133);
  stop();
  acknowledge();
  gateway_.semel.start();
  EXPECT_EQ(book("133").header("Idempotency-Status"), "executed") << "that is what was accepted";
}

TEST_F(Loss, TheLogOfAWrongStoreIsNotMixedIntoTheRealFileThatIsPutBack) {
  book_all(1, 30);
  stop();
  fs::rename(store(), copy());
  EXPECT_EQ(command({"store", "init"}).exit->code, 0);
  gateway_.semel.start_not_ready("the store is suspect");
  for (int call = 1; call <= 40; ++call) {
    const HeaderLines run = {{"X-Run-Id", std::to_string(call)}};
    EXPECT_EQ(gateway_.call_tool("/tools/seat", kBooking, run).status, 200);
  }
  gateway_.semel.kill9();
  fs::rename(copy(), store());
  expect_no_start();

  fs::remove(log());
  acknowledge();
  const int before = gateway_.upstream.effects();
  gateway_.semel.start();
  for (int run = 1; run <= 30; ++run) {
    EXPECT_EQ(book(std::to_string(run)).header("Idempotent-Replayed"), "true") << run;
  }
  EXPECT_EQ(gateway_.upstream.effects(), before);
}

TEST_F(Loss, AMovedFileIsSuspect) {
  EXPECT_EQ(book("known").status, 200);
  stop();
  fs::copy_file(store(), copy());
  fs::rename(copy(), store());
  gateway_.semel.start_not_ready("the store is suspect");
  expect_suspect("known");
}

TEST_F(Loss, ARunningOneIsNotAcknowledgedBehindItsBack) {
  const Finished word = command({"store", "acknowledge"});
  ASSERT_TRUE(word.exit);
  EXPECT_EQ(word.exit->code, 2);
  EXPECT_NE(word.err.find("in use by another process"), std::string::npos) << word.err;
  EXPECT_NE(word.err.find("admin listener"), std::string::npos) << word.err;
}

TEST_F(Loss, AWitnessThatIsGoneIsNoEvidence) {
  EXPECT_EQ(book("1").status, 200);
  stop();
  fs::remove_all(fs::path(gateway_.semel.config_file()).parent_path() / "state");
  gateway_.semel.start();
  EXPECT_FALSE(is_suspect());
  EXPECT_NE(gateway_.semel.stderr_text().find("no witness"), std::string::npos)
      << gateway_.semel.stderr_text();
  EXPECT_EQ(book("1").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(book("2").header("Idempotency-Status"), "executed");
}

TEST_F(Loss, NoRestartIsAFalseAlarm) {
  for (int round = 1; round <= 20; ++round) {
    SCOPED_TRACE(round);
    const std::string known = std::to_string(round);
    std::vector<std::future<Response>> flying;
    for (int call = 0; call < 4; ++call) {
      const std::string run = known + "-" + std::to_string(call);
      flying.push_back(std::async(std::launch::async, [this, run] { return book(run); }));
    }
    EXPECT_EQ(book(known).header("Idempotency-Status"), "executed");
    gateway_.semel.kill9();
    gateway_.semel.start();
    ASSERT_FALSE(is_suspect());
    EXPECT_EQ(book(known).header("Idempotent-Replayed"), "true");
  }
  gateway_.semel.restart();
  EXPECT_FALSE(is_suspect());
}

}  // namespace
}  // namespace semel::testing
