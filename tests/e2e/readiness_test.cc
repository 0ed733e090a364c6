// A replica that says that it is ready takes guarded calls, also when its store has just come back.
#include <gtest/gtest.h>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

class Readiness : public OnSharedStore {
 protected:
  static bool is_ready(Replicas& replicas) {
    return fetch(replicas.at(0).metrics_port(), "/readyz").status == 200;
  }
  /// Long enough that nothing holds any more of what was seen before.
  static void stay_away(Replicas& replicas) {
    const std::map<std::string, std::string> looks{{"operation", "routes"}};
    const auto failed = [&] { return replicas.at(0).metric("semel_store_errors_total", looks); };
    const double before = failed();
    replicas.server.kill9();
    ASSERT_TRUE(eventually([&] { return failed() >= before + 5; }));
    ASSERT_FALSE(is_ready(replicas));
  }
};

TEST_P(Readiness, WhoIsReadyAgainTakesGuardedCallsAtOnce) {
  ReplicasOptions one = options();
  one.replicas = {{}};
  Replicas replicas(one);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    stay_away(replicas);
    replicas.server.restart();
    const Deadline until(milliseconds{30'000});
    while (!is_ready(replicas)) ASSERT_FALSE(until.passed());
    // On connections of their own: they reach all workers, and all their connections to the store.
    std::vector<std::function<void()>> clients;
    for (int client = 0; client < 12; ++client) {
      clients.emplace_back([&, client] {
        const std::string run = "r-" + std::to_string(round) + "-" + std::to_string(client);
        const Response answer = replicas.call(0, run);
        EXPECT_EQ(answer.status, 201) << answer.body;
      });
    }
    run_together(clients);
  }
}

/// What an operator of a lost store goes through, and what is said at each step.
TEST_P(Readiness, AStoreThatIsMadeAnewBesideAReplicaIsSuspectThenForgetfulThenReady) {
  ReplicasOptions one = options();
  one.replicas = {{}};
  one.more = "admin: {address: \"127.0.0.1:" + std::to_string(free_port()) + "\"}\n";
  Replicas replicas(one);
  SemelProcess& semel = replicas.at(0);
  const auto says = [&](const std::string& word) {
    const Response ready = fetch(semel.metrics_port(), "/readyz");
    return ready.status == 503 && ready.body.find(word) != std::string::npos;
  };
  EXPECT_EQ(told(replicas.call(0, "before")), "executed");
  replicas.server.lose_the_store();
  semel.init_store();
  EXPECT_TRUE(eventually([&] { return says("the store is suspect"); }));
  EXPECT_EQ(semel.metric("semel_store_suspect"), 1);

  const Finished word =
      run({semel_binary(), "store", "acknowledge", semel.config_file()}, milliseconds{20'000});
  EXPECT_NE(word.out.find("acknowledged"), std::string::npos) << word.out << word.err;
  EXPECT_TRUE(eventually([&] { return says("remembers no route"); }));
  expect_problem(replicas.call(0, "meanwhile"), "store-unavailable");
  EXPECT_EQ(replicas.tool.effects_of("meanwhile"), 0);

  EXPECT_NE(semel.reload().find("reloaded"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return is_ready(replicas); }));
  EXPECT_EQ(told(replicas.call(0, "after")), "executed");
}

INSTANTIATE_TEST_SUITE_P(Stores, Readiness, each_shared_store(), name_of_kind);

}  // namespace
}  // namespace semel::testing
