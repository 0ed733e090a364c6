// The primary of a Redis is killed under load and a replica takes its place: what each grade of
// durability really promises. docs/operations.md has the table of long runs.
#include <gtest/gtest.h>

#include <memory>

#include "tests/e2e/failover.h"
#include "tests/support/redis_server.h"

namespace semel::testing {
namespace {

/// How a Redis is run, and which of its replicas lags when the primary dies.
struct Grade {
  const char* name;
  int replicas;
  int wait_replicas;
  milliseconds lag;  ///< How long before its end nothing of the primary reaches the first one.
  bool keeps_all;    ///< Nothing that was answered may be lost.
};

constexpr Grade kGrades[] = {
    {"WaitForTheOnlyReplica", 1, 1, milliseconds{300}, true},
    {"WaitForBothReplicas", 2, 2, milliseconds{300}, true},
    {"WaitForOneOfTwoAndTheOtherIsPromoted", 2, 1, milliseconds{300}, false},
    {"WaitForNoneAndTheReplicaKeepsUp", 1, 0, milliseconds{0}, false},
    {"WaitForNoneAndTheReplicaLags", 1, 0, milliseconds{300}, false},
};

/// One primary and its replicas, each of which hears it through a link.
class Group {
 public:
  Group() : primary_(std::make_unique<RedisServer>(setup({}))) {}

  [[nodiscard]] std::uint16_t primary_port() const { return primary_->port(); }

  /// Fresh replicas in place of those that there are, in step with the primary.
  void replicate(int replicas) {
    followers_.clear();
    for (int i = 0; i < replicas; ++i) {
      Follower follower;
      follower.link = std::make_unique<FaultyLink>(primary_->port());
      follower.server = std::make_unique<RedisServer>(setup(follower.link->port()));
      followers_.push_back(std::move(follower));
    }
    EXPECT_TRUE(eventually([&] {
      for (int i = 0; i < replicas; ++i) {
        const std::string state = primary_->info("slave" + std::to_string(i));
        if (state.find("state=online") == std::string::npos) return false;
      }
      return true;
    }));
    // That is not enough: the primary sends nothing before a replica's first word after its copy,
    // which may take a second. WAIT speaks of what its own connection has caused.
    RespClient witness = primary_->client();
    static_cast<void>(text_or_throw(witness.ask({"PUBLISH", "in-step", "now"}), {"PUBLISH"}));
    const std::string all = std::to_string(replicas);
    EXPECT_EQ(text_or_throw(witness.ask({"WAIT", all, "4000"}), {"WAIT"}), all);
  }
  /// From now on nothing reaches the first one.
  void hold_up_first() { followers_.front().link->hold(); }
  /// The primary dies, and the first replica takes its place.
  void fail_over() {
    primary_->kill9();
    followers_.front().server->command({"REPLICAOF", "NO", "ONE"});
    std::unique_ptr<RedisServer> promoted = std::move(followers_.front().server);
    followers_.clear();
    primary_ = std::move(promoted);
  }

 private:
  struct Follower {
    std::unique_ptr<FaultyLink> link;
    std::unique_ptr<RedisServer> server;
  };

  static RedisSetup setup(std::optional<std::uint16_t> replica_of) {
    RedisSetup setup;
    setup.replica_of = replica_of;
    setup.settings = {"repl-diskless-sync-delay 0"};
    return setup;
  }

  std::unique_ptr<RedisServer> primary_;
  std::vector<Follower> followers_;
};

class RedisFailover : public ::testing::TestWithParam<Grade> {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "redis-server is not installed";
  }
};

TEST_P(RedisFailover, NoAnswerIsLostUnnoticedAndNoneThatAllReplicasHadIsLostAtAll) {
  const Grade& grade = GetParam();
  Group group;
  group.replicate(grade.replicas);
  FailoverRig rig(group.primary_port(), [&](std::uint16_t port) {
    return "redis: {url: \"redis://127.0.0.1:" + std::to_string(port) +
           "\", wait_replicas: " + std::to_string(grade.wait_replicas) + "}";
  });
  Fates fates;
  const int rounds = rounds_asked("SEMEL_FAILOVER_ROUNDS", 2);
  for (int round = 1; round <= rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    FailoverRig::Load load(rig);
    EXPECT_TRUE(load.sees_more(200));
    if (grade.lag.count() > 0) {
      group.hold_up_first();
      // As many as there are time and room for: none, where the answers wait for this replica.
      static_cast<void>(load.sees_more(50, grade.lag));
    }
    group.fail_over();
    rig.address.lead_to(group.primary_port());
    const auto runs = load.stop();
    group.replicate(grade.replicas);  // Who waits for replicas serves once there are some.
    EXPECT_TRUE(rig.is_back());
    rig.judge(runs, fates);
  }
  fates.print(std::string("Redis, ") + grade.name);
  EXPECT_EQ(fates.unnoticed, 0);
  if (grade.keeps_all) {
    EXPECT_EQ(fates.false_alarms, 0);
    EXPECT_EQ(fates.ran_twice, 0);
    EXPECT_EQ(fates.replayed, fates.answered);
  }
}

INSTANTIATE_TEST_SUITE_P(Grades, RedisFailover, ::testing::ValuesIn(kGrades),
                         [](const ::testing::TestParamInfo<Grade>& row) {
                           return std::string(row.param.name);
                         });

}  // namespace
}  // namespace semel::testing
