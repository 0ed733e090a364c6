// What the SQLite store makes of a file that may lack records, and how it comes to trust it again.

#include <filesystem>
#include <fstream>

#include "stores/witness.h"
#include "tests/stores/faulty_vfs.h"
#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

class SqliteLoss : public SqliteFixture {
 protected:
  SqliteLoss() {
    FaultyDisk::instance().set(FaultyDisk::Mood::Well);
    options_.state_dir = folder_.path() + "/state";
  }

  [[nodiscard]] std::string copy_path() const { return folder_.path() + "/copy.db"; }
  void copy_away() { std::filesystem::copy_file(options_.path, copy_path()); }
  /// The copy takes the store's place, byte for byte in the same file.
  void copy_back() {
    const auto over = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(copy_path(), options_.path, over);
  }
  /// A store with one completed call, a copy of which is put aside, and a later call.
  void lose_a_call() {
    init();
    open();
    record(granted(request_of(1, 1)), response_of(200, "known"));
    close();
    copy_away();
    open();
    lost_ = granted(request_of(2, 2));
    record(lost_, response_of(200, "lost"));
    close();
    copy_back();
  }
  [[nodiscard]] WitnessNote witness() const {
    return WitnessFile(options_.state_dir).read().value().value();
  }
  StoreHealth health() { return run(store_->health()); }
  bool acknowledge() { return run(store_->acknowledge()).value(); }

  Attempt lost_;
};

TEST_F(SqliteLoss, AnUntouchedStoreIsNeverSuspect) {
  init();
  EXPECT_EQ(witness().fence, Fence{});
  Fence last;
  for (std::uint64_t n = 1; n <= 5; ++n) {
    open();
    EXPECT_FALSE(health().suspect);
    EXPECT_EQ(health().remark, "");
    last = granted(request_of(n, n)).fence;
    close();
    EXPECT_EQ(witness().fence, last);
    EXPECT_FALSE(witness().suspect);
  }
}

TEST_F(SqliteLoss, AnOlderCopyRefusesUnknownEffectfulKeysAndNoOthers) {
  lose_a_call();
  open();
  EXPECT_TRUE(health().suspect);
  EXPECT_NE(health().remark.find("behind its witness"), std::string::npos) << health().remark;
  EXPECT_EQ(claim(request_of(2, 3)).error(), Fault::StoreSuspect);
  EXPECT_FALSE(find(request_of(2, 3).key)) << "nothing was taken";
  EXPECT_EQ(std::get<Completed>(claim(request_of(1, 4)).value()).response->body, "known");
  auto harmless = request_of(3, 5);
  harmless.policy = Policy::Idempotent;
  const Attempt holder = granted(harmless);
  EXPECT_EQ(record(holder, response_of(200, "again")), WriteReply::Done);
}

TEST_F(SqliteLoss, ARecordWhoseWindowIsOverIsUnknownToo) {
  lose_a_call();
  clock_.advance(24h);
  open();
  EXPECT_EQ(claim(request_of(1, 3)).error(), Fault::StoreSuspect);
}

TEST_F(SqliteLoss, SuspicionSurvivesRestartsWhateverTheFenceDoes) {
  lose_a_call();
  for (std::uint64_t n = 0; n < 3; ++n) {
    open();
    ASSERT_TRUE(health().suspect) << "restart " << n;
    for (std::uint64_t i = 0; i < 10; ++i) {
      auto harmless = request_of(100 + i, 100 * (n + 1) + i);
      harmless.policy = Policy::Idempotent;
      run(store_->release(granted(harmless))).value();
    }
    close();
    EXPECT_EQ(witness().fence, lost_.fence) << "the witness stays as it was";
  }
}

TEST_F(SqliteLoss, AnAcknowledgedStoreIsTrustedAcrossRestarts) {
  lose_a_call();
  open();
  EXPECT_TRUE(acknowledge());
  EXPECT_FALSE(acknowledge()) << "there is nothing left to acknowledge";
  EXPECT_FALSE(health().suspect);
  EXPECT_EQ(health().remark, "");
  granted(request_of(2, 3));
  reopen();
  EXPECT_FALSE(health().suspect);
  granted(request_of(4, 4));
}

TEST_F(SqliteLoss, FencesOfLostRecordsAreNotGivenAgain) {
  lose_a_call();
  open();
  acknowledge();
  EXPECT_GT(granted(request_of(9, 9)).fence, lost_.fence);
}

TEST_F(SqliteLoss, AnotherStoreInItsPlaceIsSuspect) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  std::filesystem::remove(options_.path);
  EXPECT_NE(refusal().find("semel store init"), std::string::npos) << "a missing one is refused";
  EXPECT_NE(init_store(options_).find("witness of another store"), std::string::npos);
  open();
  EXPECT_TRUE(health().suspect);
  EXPECT_EQ(claim(request_of(1, 2)).error(), Fault::StoreSuspect);
}

TEST_F(SqliteLoss, ACopyThatLacksNothingIsSuspectAllTheSame) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  copy_away();
  std::filesystem::rename(copy_path(), options_.path);
  open();
  EXPECT_TRUE(health().suspect);
  EXPECT_NE(health().remark.find("another file"), std::string::npos) << health().remark;
}

TEST_F(SqliteLoss, AStoreWithoutAWitnessIsTakenAsItIsAndSaysSo) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  std::filesystem::remove_all(options_.state_dir);
  open();
  EXPECT_FALSE(health().suspect);
  EXPECT_NE(health().remark.find("no witness"), std::string::npos) << health().remark;
  granted(request_of(2, 2));
  reopen();
  EXPECT_EQ(health().remark, "") << "from then on there is one";
}

TEST_F(SqliteLoss, AWitnessThatCannotBeReadIsNoPermission) {
  init();
  std::ofstream(WitnessFile(options_.state_dir).path()) << "garbled";
  for (int start = 0; start < 2; ++start) {
    reopen();
    EXPECT_TRUE(health().suspect) << "start " << start;
  }
  EXPECT_TRUE(acknowledge());
  reopen();
  EXPECT_FALSE(health().suspect);
}

TEST_F(SqliteLoss, AWitnessThatCannotBeWrittenIsSaidAtTheStart) {
  options_.state_dir = folder_.path() + "/file/state";
  std::ofstream(folder_.path() + "/file").close();
  init();
  open();
  EXPECT_NE(health().remark.find("cannot be written"), std::string::npos) << health().remark;
  granted(request_of(1, 1));
}

TEST_F(SqliteLoss, ASuspicionThatCannotBeWrittenDownIsNoStart) {
  lose_a_call();
  std::filesystem::create_directory(WitnessFile(options_.state_dir).path() + ".new");
  EXPECT_NE(refusal().find("cannot be marked"), std::string::npos);
}

TEST_F(SqliteLoss, AcknowledgingThatCannotBeWrittenDownChangesNothing) {
  lose_a_call();
  open();
  std::filesystem::create_directory(WitnessFile(options_.state_dir).path() + ".new");
  EXPECT_EQ(run(store_->acknowledge()).error(), Fault::StoreUnreachable);
  EXPECT_TRUE(health().suspect);
  EXPECT_EQ(claim(request_of(2, 3)).error(), Fault::StoreSuspect);
}

TEST_F(SqliteLoss, AClosedStoreIsAcknowledgedByItsFile) {
  lose_a_call();
  const std::string told = acknowledge_store(options_).sentence;
  EXPECT_NE(told.find("fence " + std::to_string(lost_.fence.value)), std::string::npos) << told;
  EXPECT_NE(told.find("acknowledged"), std::string::npos) << told;
  const std::string again = acknowledge_store(options_).sentence;
  EXPECT_NE(again.find("not suspect"), std::string::npos) << again;
  EXPECT_EQ(again.find("nothing was changed"), std::string::npos) << "opening settles claims";
  open();
  EXPECT_FALSE(health().suspect);
  EXPECT_THROW(static_cast<void>(acknowledge_store(options_)), StoreInUse);
}

TEST_F(SqliteLoss, TheWitnessKnowsNothingThatTheDiskDoesNot) {
  FaultyDisk& disk = FaultyDisk::instance();
  init();
  open();
  const Fence durable = granted(request_of(1, 1)).fence;
  disk.set(FaultyDisk::Mood::SyncStalls);
  const LentContext worker;
  std::optional<Result<ClaimReply>> reply;
  asio::co_spawn(*worker, keep(store_->claim(request_of(2, 2)), reply), asio::detached);
  worker->poll();
  disk.await_stall();
  EXPECT_LE(witness().fence, durable);
  disk.set(FaultyDisk::Mood::Well);
  worker->run();
  close();
  EXPECT_GT(witness().fence, durable) << "what is durable is known once the store is closed";
}

TEST_F(SqliteLoss, AClaimThatTheDiskRefusedLeavesNoTraceInTheWitness) {
  FaultyDisk& disk = FaultyDisk::instance();
  init();
  open();
  const Fence durable = granted(request_of(1, 1)).fence;
  for (const auto mood : {FaultyDisk::Mood::Full, FaultyDisk::Mood::SyncFails}) {
    disk.set(mood);
    EXPECT_FALSE(claim(request_of(2, 2)));
    disk.set(FaultyDisk::Mood::Well);
  }
  close();
  EXPECT_EQ(witness().fence, durable);
  open();
  EXPECT_FALSE(health().suspect) << "a disk that failed is no loss";
}

}  // namespace
}  // namespace semel::testing
