// PostgreSQL is killed in the middle of its commits, a standby takes its place, and a backup is put
// back: what was answered stays true, or its loss is noticed. docs/operations.md has the long runs.
#include <gtest/gtest.h>

#include <memory>

#include "tests/e2e/failover.h"
#include "tests/support/postgres_server.h"

namespace semel::testing {
namespace {

std::string store_at(std::uint16_t port) {
  return "postgres: {url: \"postgres://semel@127.0.0.1:" + std::to_string(port) + "/postgres\"}";
}

class PostgresFailover : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
};

/// A primary with a standby, which may have to confirm every commit.
class Pair {
 public:
  enum class Commit : std::uint8_t { WaitsForStandby, Alone };

  explicit Pair(Commit commit) : commit_(commit), primary_(std::make_unique<PostgresServer>()) {
    replicate();
  }

  [[nodiscard]] std::uint16_t primary_port() const { return primary_->port(); }
  /// A fresh standby, in step with the primary.
  void replicate() {
    standby_ = std::make_unique<PostgresServer>(*primary_, PostgresSetup{});
    EXPECT_TRUE(eventually([&] {
      return primary_->sql("select count(*) from pg_stat_replication where state = 'streaming'") ==
             "1";
    }));
    if (commit_ == Commit::WaitsForStandby) name_standby("standby");
  }
  /// From now on nothing reaches the standby.
  void cut_off() {
    standby_->sql("alter system set primary_conninfo = ''");
    standby_->sql("select pg_reload_conf()");
    EXPECT_TRUE(eventually(
        [&] { return standby_->sql("select count(*) from pg_stat_wal_receiver") == "0"; }));
  }
  /// The primary dies, and the standby takes its place.
  void fail_over() {
    primary_->kill9();
    standby_->sql("alter system reset all");
    standby_->sql("select pg_reload_conf()");
    standby_->promote();
    primary_ = std::move(standby_);
  }

 private:
  void name_standby(const std::string& names) {
    primary_->sql("alter system set synchronous_standby_names = '" + names + "'");
    primary_->sql("select pg_reload_conf()");
    EXPECT_TRUE(eventually([&] {
      return primary_->sql("select count(*) from pg_stat_replication where sync_state = 'sync'") ==
             "1";
    }));
  }

  const Commit commit_;
  std::unique_ptr<PostgresServer> primary_;
  std::unique_ptr<PostgresServer> standby_;
};

TEST_F(PostgresFailover, KilledInTheMiddleOfCommitsItForgetsNoAnswerAndNothingRunsTwice) {
  PostgresServer server;
  FailoverRig rig(server.port(), store_at);
  Fates fates;
  const int rounds = rounds_asked("SEMEL_POSTGRES_KILLS", 2);
  for (int round = 1; round <= rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    FailoverRig::Load load(rig);
    EXPECT_TRUE(load.sees_more(200));
    server.kill9();
    const auto runs = load.stop();
    server.restart();
    EXPECT_TRUE(rig.is_back());
    rig.judge(runs, fates);
  }
  fates.print("PostgreSQL, killed under load");
  EXPECT_EQ(fates.replayed, fates.answered);
  EXPECT_EQ(fates.ran_twice, 0);
  EXPECT_EQ(fates.false_alarms, 0);
}

void promote_standbys(Pair::Commit commit, bool is_cut_off, const char* what, Fates& fates) {
  Pair pair(commit);
  FailoverRig rig(pair.primary_port(), store_at);
  const int rounds = rounds_asked("SEMEL_POSTGRES_PROMOTIONS", 1);
  for (int round = 1; round <= rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    FailoverRig::Load load(rig);
    EXPECT_TRUE(load.sees_more(200));
    if (is_cut_off) {
      pair.cut_off();
      // Nothing is answered where every commit waits for it.
      const bool is_waited_for = commit == Pair::Commit::WaitsForStandby;
      EXPECT_EQ(load.sees_more(50, milliseconds{is_waited_for ? 300 : 30'000}), !is_waited_for);
    }
    pair.fail_over();
    rig.address.lead_to(pair.primary_port());
    const auto runs = load.stop();
    pair.replicate();
    EXPECT_TRUE(rig.is_back());
    rig.judge(runs, fates);
  }
  fates.print(what);
  EXPECT_EQ(fates.unnoticed, 0);
}

TEST_F(PostgresFailover, AStandbyThatEveryCommitWaitsForHasEveryAnswer) {
  Fates fates;
  promote_standbys(Pair::Commit::WaitsForStandby, false, "PostgreSQL, synchronous standby", fates);
  EXPECT_EQ(fates.replayed, fates.answered);
  EXPECT_EQ(fates.ran_twice, 0);
  EXPECT_EQ(fates.false_alarms, 0);
}

TEST_F(PostgresFailover, AStandbyThatIsCutOffAndThatEveryCommitWaitsForHasEveryAnswer) {
  Fates fates;
  promote_standbys(Pair::Commit::WaitsForStandby, true, "PostgreSQL, synchronous standby, cut off",
                   fates);
  EXPECT_EQ(fates.replayed, fates.answered);
  EXPECT_EQ(fates.ran_twice, 0);
  EXPECT_EQ(fates.false_alarms, 0);
}

TEST_F(PostgresFailover, WhatAStandbyThatLagsHasNotGotIsMissed) {
  Fates fates;
  promote_standbys(Pair::Commit::Alone, true, "PostgreSQL, asynchronous standby that lags", fates);
  EXPECT_GT(fates.lost, 0U);
}

TEST_F(PostgresFailover, ABackupThatIsPutBackIsMissingAnswersAndThatIsNoticed) {
  PostgresServer server;
  FailoverRig rig(server.port(), store_at);
  Fates fates;
  const int rounds = rounds_asked("SEMEL_POSTGRES_RESTORES", 1);
  for (int round = 1; round <= rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    EXPECT_TRUE(rig.is_back());
    server.back_up();
    FailoverRig::Load load(rig);
    EXPECT_TRUE(load.sees_more(200));
    server.kill9();
    const auto runs = load.stop();
    server.restore();
    EXPECT_TRUE(rig.is_back());
    rig.judge(runs, fates);
  }
  fates.print("PostgreSQL, a backup put back");
  EXPECT_EQ(fates.rounds_with_loss, rounds);
  EXPECT_EQ(fates.unnoticed, 0);
  EXPECT_EQ(fates.ran_twice, 0);
}

}  // namespace
}  // namespace semel::testing
