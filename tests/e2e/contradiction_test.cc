// An operator said that a call did not happen, and then the tool's answer came (spec 6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/operator.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;

/// A proxy whose worker stands still between a late answer and its record, while the lease ends and
/// an operator decides.
class Contradiction : public ::testing::Test {
 protected:
  /// A call that was said not to have happened; its answer has come, and nobody knows yet.
  void decide_wrongly() {
    operated_.gateway.upstream.script(one_after_another({[](Turn& turn) {
                                                           turn.commit();
                                                           turn.wait_until_let_go();
                                                           turn.send(response_text(201, "late"));
                                                         },
                                                         commits_and_answers(201, "second")}));
    const Response first = operated_.gateway.call_tool("/tools/quick");
    expect_problem(first, "indeterminate");
    write_file(plan_, "late_answer hold");
    operated_.gateway.upstream.let_go();
    const std::string reference = first.header("Idempotency-Ref").value_or("");
    ASSERT_EQ(operated_.set_free(reference).status, 200);
    EXPECT_EQ(contradicted(), 0);
  }
  void let_the_answer_in() { write_file(plan_, ""); }
  [[nodiscard]] double contradicted() const {
    return operated_.gateway.semel.metric("semel_resolution_contradicted_total");
  }
  void expect_it_is_told() {
    EXPECT_TRUE(eventually([&] { return contradicted() == 1; }));
    constexpr char kSaid[] = "semel: error: the tool answered a call of which an operator had said";
    EXPECT_TRUE(eventually([&] {
      return operated_.gateway.semel.stderr_text().find(kSaid) != std::string::npos;
    })) << operated_.gateway.semel.stderr_text();
  }

  TempFolder folder_;
  std::string plan_ = folder_.file("plan");
  OperatedGateway operated_{GatewayOptions{
      .binary = SEMEL_BINARY_DIR "/semel_failpoints",
      .store = StoreKind::Sqlite,
      .environment = {"SEMEL_FAIL_POINTS=" + plan_},
  }};
};

TEST_F(Contradiction, TheAnswerCompletesTheRecordIfNobodyClaimed) {
  decide_wrongly();
  let_the_answer_in();
  expect_it_is_told();
  const Response replay = operated_.gateway.call_tool("/tools/quick");
  EXPECT_EQ(replay.body, "late");
  EXPECT_EQ(replay.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(operated_.gateway.upstream.effects(), 1);
}

TEST_F(Contradiction, AfterTheNextClaimItIsOnlyCountedAndLogged) {
  decide_wrongly();
  // The worker that stands still may be the one that takes the connection: then another one.
  Response second;
  ASSERT_TRUE(eventually([&] {
    HttpClient client(operated_.gateway.semel.port(), milliseconds{300});
    second = client.exchange(Gateway::tool_request("/tools/quick"));
    return second.is_complete();
  }));
  EXPECT_EQ(second.body, "second");
  let_the_answer_in();
  expect_it_is_told();
  const Response replay = operated_.gateway.call_tool("/tools/quick");
  EXPECT_EQ(replay.body, "second");
  EXPECT_EQ(operated_.gateway.upstream.effects(), 2) << "the operator's word let a second one run";
}

}  // namespace
}  // namespace semel::testing
