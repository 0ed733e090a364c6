// The write-ahead log that lies beside the store's file, as the program sees it: that of another
// state of the store is not taken, and its own is after every kill and in every copy.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

/// A gateway whose store an operator copies and moves.
class HandledStore {
 public:
  [[nodiscard]] std::string file() const { return gateway.semel.store_file(); }
  [[nodiscard]] std::string log() const { return file() + "-wal"; }
  [[nodiscard]] std::string aside(const std::string& name) const { return file() + "." + name; }
  static void copy(const std::string& from, const std::string& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] Response book(int run) const {
    return gateway.book(kBooking, {{"X-Run-Id", std::to_string(run)}});
  }
  void book_all(int first, int last) const {
    for (int run = first; run <= last; ++run) EXPECT_EQ(book(run).status, 200);
  }
  void stop() {
    gateway.semel.sigterm();
    ASSERT_TRUE(gateway.semel.wait());
  }
  /// Stops it behind so many calls, a copy in aside("backup"), and three more calls.
  void run_and_back_up(int calls) {
    gateway.upstream.script(commits_and_answers(200, std::string(300, 'b')));
    book_all(1, calls);
    stop();
    copy(file(), aside("backup"));
    gateway.semel.start();
    book_all(calls + 1, calls + 3);
    stop();
  }
  /// Expects no start and no change, then moves the log away and expects every call to be known.
  void expect_apart(int calls) {
    const std::string file_bytes = read_file(file());
    const std::string log_bytes = read_file(log());
    ASSERT_FALSE(log_bytes.empty()) << "a kill leaves the write-ahead log";
    const Finished start = gateway.semel.start_in_vain();
    ASSERT_TRUE(start.exit);
    EXPECT_EQ(start.exit->code, 2);
    EXPECT_NE(start.err.find("Nothing was changed"), std::string::npos) << start.err;
    EXPECT_NE(start.err.find("move the -wal away"), std::string::npos) << start.err;
    EXPECT_TRUE(read_file(file()) == file_bytes);
    EXPECT_TRUE(read_file(log()) == log_bytes);
    fs::remove(log());
    gateway.semel.start_not_ready("the store is suspect");
    const int before = gateway.upstream.requests();
    for (int run = 1; run <= calls; ++run) {
      EXPECT_EQ(book(run).header("Idempotent-Replayed"), "true") << run;
    }
    EXPECT_EQ(gateway.upstream.requests(), before);
  }

  Gateway gateway{{.store = StoreKind::Sqlite}};
};

constexpr int kSizes[] = {3, 60, 200};

TEST(OwnLog, TheRightFilePutBackBesideTheLogOfABackupIsNoStart) {
  for (const int calls : kSizes) {
    SCOPED_TRACE(calls);
    HandledStore store;
    store.run_and_back_up(calls);
    fs::rename(store.file(), store.aside("right"));
    HandledStore::copy(store.aside("backup"), store.file());
    store.gateway.semel.start_not_ready("the store is suspect");
    EXPECT_EQ(store.gateway.call_tool("/tools/seat").status, 200);
    store.gateway.semel.kill9();
    fs::rename(store.file(), store.aside("wrong"));
    fs::rename(store.aside("right"), store.file());
    store.expect_apart(calls + 3);
  }
}

TEST(OwnLog, TheRightFileCopiedBackBesideTheLogOfAnAcknowledgedBackupIsNoStart) {
  for (const int calls : kSizes) {
    SCOPED_TRACE(calls);
    HandledStore store;
    store.run_and_back_up(calls);
    HandledStore::copy(store.file(), store.aside("right"));
    HandledStore::copy(store.aside("backup"), store.file());
    SemelProcess& semel = store.gateway.semel;
    const Finished word = run({semel.binary(), "store", "acknowledge", semel.config_file()});
    ASSERT_TRUE(word.exit);
    EXPECT_EQ(word.exit->code, 0) << word.err;
    semel.start();
    EXPECT_EQ(store.book(9'000).status, 200);
    semel.kill9();
    HandledStore::copy(store.aside("right"), store.file());
    store.expect_apart(calls + 3);
  }
}

/// Clients that book one run after the other, each with an answer of 60 pages, so that the log is
/// copied into the file every 30 calls or so.
class Load {
 public:
  explicit Load(HandledStore& store) : store_(store) {
    store_.gateway.upstream.script(commits_and_answers(200, std::string(250'000, 'b')));
    for (int client = 0; client < 4; ++client) clients_.emplace_back([this] { book(); });
  }
  ~Load() {
    is_over_ = true;
    for (std::thread& client : clients_) client.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  /// Waits for so many more effects.
  void go_on(int effects) {
    const int target = store_.gateway.upstream.effects() + effects;
    EXPECT_TRUE(eventually([&] { return store_.gateway.upstream.effects() >= target; }));
  }

 private:
  void book() {
    while (!is_over_) {
      try {
        static_cast<void>(store_.book(next_++));
      } catch (const std::exception&) {
        std::this_thread::yield();  // It is down, or was when the answer was due.
      }
    }
  }

  HandledStore& store_;
  static inline std::atomic<int> next_{1};
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> clients_;
};

TEST(OwnLog, NoKillAmongCheckpointsIsAFalseAlarm) {
  HandledStore store;
  for (int round = 1; round <= 8; ++round) {
    SCOPED_TRACE(round);
    {
      Load load(store);
      load.go_on(10 + round * 17 % 60);
      store.gateway.semel.kill9();
    }
    store.gateway.semel.start();
    ASSERT_EQ(store.gateway.semel.metric("semel_store_suspect"), 0);
  }
}

TEST(OwnLog, ACopyOfFileAndLogIsTakenAsACopyWheneverItIsMade) {
  HandledStore store;
  HandledStore other;
  other.stop();
  Load load(store);
  for (int round = 1; round <= 8; ++round) {
    SCOPED_TRACE(round);
    load.go_on(3 + round * 5 % 11);
    ASSERT_EQ(::kill(store.gateway.semel.pid(), SIGSTOP), 0);
    ASSERT_TRUE(eventually([&] { return store.gateway.semel.is_stopped(); }));
    HandledStore::copy(store.file(), other.file());
    HandledStore::copy(store.log(), other.log());
    store.gateway.semel.sigcont();
    other.gateway.semel.start_not_ready("the store is suspect");
    other.stop();
  }
}

}  // namespace
}  // namespace semel::testing
