// Semel's own failure in the middle of a call (spec 8, the last two rows): no memory, say.

#include "tests/e2e/cases.h"

namespace semel::testing {
namespace {

/// The program with fail points, and the file that says what happens where.
class FailingGateway {
 public:
  FailingGateway() : gateway(options()) {}

  void fail_at(const std::string& point) const { write_file(plan(), point + " throw"); }
  void heal() const { write_file(plan(), ""); }

 private:
  TempFolder folder_;

 public:
  Gateway gateway;

 private:
  [[nodiscard]] std::string plan() const { return folder_.file("plan"); }
  [[nodiscard]] GatewayOptions options() const {
    GatewayOptions options;
    options.binary = SEMEL_BINARY_DIR "/semel_failpoints";
    options.store = StoreKind::Sqlite;
    // One connection in all, so that no failure may keep its place in the pool.
    options.upstream_more = "    connections: 1\n";
    options.more = "workers: 1\n";
    options.environment = {"SEMEL_FAIL_POINTS=" + plan()};
    return options;
  }
};

TEST(OwnFailure, BeforeTheDispatchIs500AndTheRetryRuns) {
  for (const char* path : {"/tools/book", "/tools/seat"}) {
    for (const char* point : {"before_claim", "after_claim", "before_dispatch"}) {
      SCOPED_TRACE(std::string(path) + " " + point);
      FailingGateway failing;
      failing.fail_at(point);
      const Response refused = failing.gateway.call_tool(path);
      expect_problem(refused, "internal");
      EXPECT_EQ(Json::parse(refused.body)["dispatched"].text(), "false");
      EXPECT_EQ(failing.gateway.upstream.requests(), 0);
      failing.heal();
      EXPECT_TRUE(eventually([&] {
        return failing.gateway.call_tool(path).header("Idempotency-Status") == "executed";
      })) << "the claim was given back";
      expect_one_effect(failing.gateway);
    }
  }
}

TEST(OwnFailure, AfterTheDispatchOfAnEffectfulCallLeavesItsOutcomeUnknown) {
  for (const char* point : {"after_dispatch", "after_answer", "before_record"}) {
    SCOPED_TRACE(point);
    FailingGateway failing;
    failing.fail_at(point);
    const Response refused = failing.gateway.book();
    expect_problem(refused, "indeterminate");
    expect_verdict(refused, "EFFECTFUL", "book", "true");
    expect_reference(refused);
    failing.heal();
    expect_problem(failing.gateway.book(), "indeterminate");
    failing.gateway.semel.restart();
    expect_problem(failing.gateway.book(), "indeterminate");
    EXPECT_LE(failing.gateway.upstream.requests(), 1);
  }
}

TEST(OwnFailure, AfterTheDispatchOfAnIdempotentCallFreesIt) {
  for (const char* point : {"after_dispatch", "after_answer", "before_record"}) {
    SCOPED_TRACE(point);
    FailingGateway failing;
    failing.fail_at(point);
    expect_problem(failing.gateway.call_tool("/tools/seat"), "internal");
    failing.heal();
    EXPECT_TRUE(eventually([&] {
      return failing.gateway.call_tool("/tools/seat").header("Idempotency-Status") == "executed";
    }));
  }
}

}  // namespace
}  // namespace semel::testing
