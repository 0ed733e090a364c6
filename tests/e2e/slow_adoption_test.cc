#include <gtest/gtest.h>

#include "tests/e2e/faulty_disk.h"
#include "tests/e2e/operator.h"
#include "tests/e2e/reloading.h"

namespace semel::testing {
namespace {

/// A store whose disk keeps an adoption of routes waiting.
class ASlowAdoption : public ::testing::Test {
 protected:
  static GatewayOptions options(std::string routes, const FaultyDisk& disk) {
    GatewayOptions options = with_routes(std::move(routes));
    options.environment = disk.environment();
    return options;
  }
  static std::string kept_for(const std::string& retention) {
    return replaced(tool_routes(), kBookPolicy,
                    "policy: EFFECTFUL\n    retention: " + retention + "\n    timeout: 10s");
  }
  void rewrite(std::string routes) { operated.rewrite(options(std::move(routes), disk)); }
  /// True once the store's deadline has passed.
  [[nodiscard]] bool is_in_doubt() const {
    return eventually([this] {
      return says(gateway.semel.stderr_text(), "has not said whether it took the new routes");
    });
  }

  const FaultyDisk disk;
  OperatedGateway operated{options(tool_routes(), disk)};
  Gateway& gateway = operated.gateway;
};

TEST_F(ASlowAdoption, OfARenamedRouteLetsNoCallRunTwice) {
  rewrite(replaced(tool_routes(), "name: book", "name: reserve"));
  disk.hang();
  auto asked = std::async(std::launch::async,
                          [this] { return operated.ask("POST", "/-/reload?acknowledge=book"); });
  EXPECT_TRUE(is_in_doubt());
  disk.heal();
  const Response taken = asked.get();
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(last_reload(gateway.semel), 1);
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "executed");
  EXPECT_TRUE(says(gateway.semel.reload(), "reloaded "));
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST_F(ASlowAdoption, OfALongerRetentionIsTheOneToCompareWith) {
  rewrite(kept_for("48h"));
  disk.hang();
  gateway.semel.sighup();
  EXPECT_TRUE(is_in_doubt());
  disk.heal();
  EXPECT_TRUE(eventually([this] { return says(gateway.semel.stderr_text(), ": reloaded "); }));
  EXPECT_EQ(last_reload(gateway.semel), 1);
  rewrite(tool_routes());
  const std::string shortened = gateway.semel.reload();
  EXPECT_TRUE(says(shortened, "the retention was 2d and is 24h")) << shortened;
  rewrite(kept_for("72h"));
  EXPECT_TRUE(says(gateway.semel.reload(), ": reloaded "));
}

TEST_F(ASlowAdoption, KeepsNoDrainWaiting) {
  rewrite(kept_for("48h"));
  disk.hang();
  gateway.semel.sighup();
  EXPECT_TRUE(is_in_doubt());
  gateway.semel.sigterm();
  EXPECT_TRUE(eventually([this] { return says(gateway.semel.stderr_text(), ": draining\n"); }));
  disk.heal();
  const std::optional<Exit> exit = gateway.semel.wait();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0);
  gateway.semel.start();
  EXPECT_EQ(gateway.book().status, 200);
}

}  // namespace
}  // namespace semel::testing
