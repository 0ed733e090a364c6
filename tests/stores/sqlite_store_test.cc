#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

using ::testing::Test;

class SqliteStart : public SqliteFixture {};
class SqliteReopen : public SqliteFixture {};
class SqliteFile : public SqliteFixture {
 protected:
  SqliteFile() { options_.state_dir = state_.path(); }

  TemporaryFolder state_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(SqliteStart, AMissingFileIsRefusedWithItsCureAndNotCreated) {
  EXPECT_TRUE(contains(refusal(), "semel store init CONFIG"));
  EXPECT_FALSE(std::filesystem::exists(options_.path));
}

TEST_F(SqliteStart, AnEmptyFileIsNoPermission) {
  std::ofstream(options_.path).close();
  EXPECT_TRUE(contains(refusal(), "semel store init CONFIG"));
}

TEST_F(SqliteStart, InitMakesAFileForItsOwnerAloneAndSaysSo) {
  EXPECT_TRUE(contains(init_store(options_), "created " + options_.path));
  struct stat status{};
  ASSERT_EQ(::stat(options_.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  open();
  EXPECT_EQ(run(store_->health()).store_id.size(), 32u);
}

TEST_F(SqliteStart, InitLeavesAStoreThatIsThereUntouched) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  EXPECT_TRUE(contains(init_store(options_), "left as it is"));
  open();
  EXPECT_TRUE(find(request_of(1, 1).key));
}

TEST_F(SqliteStart, InitTouchesNoDatabaseOfAnotherProgram) {
  sql("CREATE TABLE theirs(x); INSERT INTO theirs VALUES('precious')");
  EXPECT_THROW(init(), StoreError);
  EXPECT_TRUE(contains(refusal(), "holds no store"));
  EXPECT_EQ(sql("SELECT x FROM theirs"), "precious");
}

TEST_F(SqliteStart, ASecondOpenerOfOneFileIsRefused) {
  init();
  open();
  EXPECT_TRUE(contains(refusal(), "one process; stop it, or give this one a file of its own"));
  EXPECT_THROW(init(), StoreError);
  std::filesystem::create_symlink(options_.path, folder_.path() + "/alias.db");
  SqliteOptions alias = options_;
  alias.path = folder_.path() + "/alias.db";
  EXPECT_THROW(static_cast<void>(open_store(alias, clock_.clock())), StoreError);
  granted(request_of(1, 1));
}

TEST_F(SqliteStart, AnotherSchemaVersionIsRefusedByItsNumber) {
  init();
  sql("PRAGMA user_version=7");
  EXPECT_TRUE(contains(refusal(), "schema version 7"));
}

TEST_F(SqliteStart, ADamagedFileIsRefused) {
  init();
  {
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.write("no database at all, only words that stand where a header was", 60);
  }
  EXPECT_NE(refusal(), "");
}

TEST_F(SqliteReopen, AnswersAndUnknownOutcomesSurvive) {
  init();
  open();
  const auto response = response_of(201, std::string(100'000, 'x'));
  record(granted(request_of(1, 1)), response);
  const auto unknown = granted(request_of(2, 2));
  run(store_->mark_indeterminate(unknown, IndeterminateReason::UpstreamStatus, 503)).value();
  const auto freed = granted(request_of(3, 3));
  run(store_->release(freed)).value();
  reopen();
  const auto replay = claim(request_of(1, 4)).value();
  ASSERT_TRUE(std::holds_alternative<Completed>(replay));
  EXPECT_EQ(*std::get<Completed>(replay).response, *response);
  const auto told = claim(request_of(2, 5)).value();
  ASSERT_TRUE(std::holds_alternative<Indeterminate>(told));
  EXPECT_EQ(std::get<Indeterminate>(told).upstream_status, 503);
  EXPECT_GT(granted(request_of(3, 6)).fence, freed.fence);
}

TEST_F(SqliteReopen, ClaimsOfTheProcessBeforeAreSettled) {
  init();
  open();
  const auto effectful = request_of(1, 1);
  const auto holder = granted(effectful);
  auto idempotent = request_of(2, 2);
  idempotent.policy = Policy::Idempotent;
  granted(idempotent);
  reopen();
  const auto view = find(effectful.key);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->state, RecordView::State::Indeterminate);
  EXPECT_EQ(view->reason, IndeterminateReason::OwnerLost);
  EXPECT_EQ(view->fence, holder.fence);
  const auto abandoned = find(idempotent.key);
  ASSERT_TRUE(abandoned);
  EXPECT_EQ(abandoned->state, RecordView::State::InFlight);
  EXPECT_EQ(abandoned->lease_left, 0ms) << "nobody has to wait for a dead process";
  close();
  // Settled in the file, not only in the memory of the process that found them.
  open();
  EXPECT_EQ(find(effectful.key)->reason, IndeterminateReason::OwnerLost);
  ASSERT_TRUE(find(idempotent.key));
  EXPECT_EQ(find(idempotent.key)->lease_left, 0ms);
}

TEST_F(SqliteReopen, OfTheClaimsOfTheProcessBeforeTheStricterPolicyDecides) {
  init();
  open();
  std::vector<Attempt> lost;
  for (std::uint64_t n = 1; n <= 2; ++n) {
    auto request = request_of(n, n);
    request.policy = Policy::Idempotent;
    lost.push_back(granted(request));
  }
  reopen();
  auto harmless = request_of(1, 11);
  harmless.policy = Policy::Idempotent;
  const auto told = claim(harmless).value();
  ASSERT_TRUE(std::holds_alternative<Abandoned>(told));
  EXPECT_EQ(std::get<Abandoned>(told).policy, Policy::Idempotent);
  const auto superseded = run(store_->supersede(harmless, lost[0])).value();
  ASSERT_TRUE(std::holds_alternative<Granted>(superseded));
  EXPECT_GT(std::get<Granted>(superseded).fence, lost[1].fence);

  const auto stricter = request_of(2, 12);
  const auto kept = claim(stricter).value();
  ASSERT_TRUE(std::holds_alternative<Abandoned>(kept)) << "its effect may have happened";
  EXPECT_EQ(std::get<Abandoned>(kept).policy, Policy::Effectful);
  const auto refused = run(store_->supersede(stricter, lost[1])).value();
  EXPECT_TRUE(std::holds_alternative<Abandoned>(refused));
  EXPECT_EQ(run(store_->mark_indeterminate(lost[1], IndeterminateReason::OwnerLost, {})).value(),
            WriteReply::Done);
  EXPECT_TRUE(std::holds_alternative<Indeterminate>(claim(stricter).value()));
}

TEST_F(SqliteReopen, AnAbandonedIdempotentClaimDoesNotStayForEver) {
  init();
  open();
  auto request = request_of(1, 1);
  request.policy = Policy::Idempotent;
  request.indeterminate_retention = 600s;
  granted(request);
  reopen();
  clock_.advance(600s - 1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 0u);
  clock_.advance(1ms);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u);
  EXPECT_FALSE(find(request.key));
  reopen();
  EXPECT_FALSE(find(request.key));
}

TEST_F(SqliteReopen, TheFenceRisesOnThoughEveryRowIsGone) {
  init();
  open();
  Fence last;
  for (std::uint64_t n = 0; n < 10; ++n) {
    const auto holder = granted(request_of(n, n));
    last = holder.fence;
    run(store_->release(holder)).value();
  }
  while (run(store_->sweep(100)).value().more) {
  }
  close();
  ASSERT_EQ(sql("SELECT count(*) FROM log"), "0");
  open();
  EXPECT_GT(granted(request_of(1, 99)).fence, last);
}

TEST_F(SqliteReopen, AFreedAttemptMayStillCompleteAfterwards) {
  init();
  open();
  const auto request = request_of(1, 1);
  const auto holder = granted(request);
  run(store_->mark_indeterminate(holder, IndeterminateReason::Cut, std::nullopt)).value();
  Resolution no;
  no.decision = Resolution::Decision::DidNotHappen;
  ASSERT_EQ(run(store_->resolve(request.reference, no)).value(), ResolveReply::Done);
  reopen();
  EXPECT_FALSE(find(request.key));
  EXPECT_EQ(record(holder, response_of(200, "it did")), WriteReply::DoneAgainstWord);
}

TEST_F(SqliteReopen, WithinOneBootRetentionFollowsTheBootClock) {
  init();
  open();
  record(granted(request_of(1, 1)), response_of(200, "kept"));
  clock_.advance(1h);
  clock_.jump_wall(1000h);
  reopen();
  EXPECT_TRUE(find(request_of(1, 1).key));
  clock_.advance(23h - 1s);
  reopen();
  EXPECT_TRUE(find(request_of(1, 1).key));
  clock_.advance(1s);
  EXPECT_FALSE(find(request_of(1, 1).key));
}

TEST_F(SqliteReopen, AcrossBootsTimeNeverRunsBackward) {
  init();
  open();
  record(granted(request_of(1, 1)), response_of(200, "kept"));
  clock_.advance(20h);
  granted(request_of(2, 2));  // Carries the time of now into the file.
  close();
  sql("UPDATE meta SET boot_id = 'another boot'");
  clock_.jump_wall(-24h * 3650);
  open();
  EXPECT_TRUE(find(request_of(1, 1).key));
  clock_.advance(4h);
  EXPECT_FALSE(find(request_of(1, 1).key));
}

TEST_F(SqliteReopen, AcrossBootsAWallClockThatWentOnCounts) {
  init();
  sql("UPDATE meta SET store_ns = 0, boot_id = 'an earlier boot'");
  open();
  record(granted(request_of(1, 1)), response_of(200, "kept"));
  close();
  sql("UPDATE meta SET boot_id = 'another boot'");
  clock_.jump_wall(25h);
  open();
  EXPECT_FALSE(find(request_of(1, 1).key));
}

TEST_F(SqliteFile, AnUnreadableEntryMakesItsKeyUnusableAndNoOther) {
  init();
  open();
  record(granted(request_of(1, 1)), response_of(200, "one"));
  record(granted(request_of(2, 2)), response_of(200, "two"));
  close();
  sql("UPDATE log SET entry = substr(entry, 1, length(entry) - 1) WHERE seq = 2");
  open();
  const auto reply = claim(request_of(1, 3));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), Fault::RecordCorrupt);
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(2, 4)).value()));
}

TEST_F(SqliteFile, AnUnreadableResponseMakesItsKeyUnusable) {
  init();
  open();
  record(granted(request_of(1, 1)), response_of(200, "one"));
  close();
  sql("UPDATE log SET response = x'00' || response WHERE response IS NOT NULL");
  open();
  for (int asked = 0; asked < 2; ++asked) {
    const auto reply = claim(request_of(1, 3));
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error(), Fault::RecordCorrupt);
  }
}

TEST_F(SqliteFile, ADamagedKeyColumnFreesNeitherOfTheTwoKeys) {
  init();
  open();
  const auto request = request_of(1, 1);
  record(granted(request), response_of(200, "one"));
  close();
  sql("UPDATE log SET key = x'FF' || substr(key, 2)");
  open();
  auto shown = request_of(1, 2);
  shown.key.bytes[0] = 0xFF;
  ASSERT_NE(shown.key, request.key);
  for (const auto& asked : {request_of(1, 3), shown}) {
    const auto reply = claim(asked);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error(), Fault::RecordCorrupt);
  }
}

TEST_F(SqliteFile, ARowWithoutAKeyIsRefusedAtTheStart) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  sql("UPDATE log SET key = x'0102'");
  EXPECT_TRUE(contains(refusal(), "is damaged: row 1"));
}

TEST_F(SqliteFile, ARowNumberThatIsNeverGivenIsRefusedAtTheStart) {
  init();
  open();
  granted(request_of(1, 1));
  close();
  sql("UPDATE log SET seq = 0 WHERE seq = 1");
  EXPECT_TRUE(contains(refusal(), "is damaged: row 0"));
}

TEST_F(SqliteFile, SweepingLeavesOneRowPerLivingRecord) {
  init();
  open();
  for (std::uint64_t n = 0; n < 60; ++n) {
    const auto holder = granted(request_of(n, n));
    if (n % 3 == 0) {
      run(store_->release(holder)).value();
    } else {
      record(holder, response_of(200, "body"));
    }
  }
  while (run(store_->sweep(7)).value().more) {
  }
  reopen();
  EXPECT_TRUE(std::holds_alternative<Completed>(claim(request_of(1, 99)).value()));
  EXPECT_FALSE(find(request_of(3, 3).key));
  close();
  EXPECT_EQ(sql("SELECT count(*) FROM log"), "40");
  open();
  clock_.advance(24h);
  while (run(store_->sweep(7)).value().more) {
  }
  close();
  EXPECT_EQ(sql("SELECT count(*) FROM log"), "0");
}

TEST_F(SqliteFile, AHalfSweptFileReadsTheSame) {
  init();
  open();
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t n = 0; n < 4; ++n) {
      run(store_->release(granted(request_of(n, 10 * round + n)))).value();
    }
  }
  for (int batch = 0; batch < 60; ++batch) {
    run(store_->sweep(1)).value();
    reopen();
    ASSERT_EQ(run(store_->health()).records, 0u) << "after batch " << batch;
  }
}

TEST_F(SqliteFile, ForgettingLeavesNoByteOfTheBodyInAnyFile) {
  init();
  open();
  const auto holder = granted(request_of(1, 1));
  record(holder, response_of(200, "a-very-private-body"));
  granted(request_of(2, 2));
  ASSERT_EQ(run(store_->forget("acme")).value(), 2u);
  close();
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_FALSE(contains(bytes_of(entry.path()), "a-very-private-body")) << entry.path();
  }
}

}  // namespace
}  // namespace semel::testing
