#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

GatewayOptions with_record(const std::string& record) {
  GatewayOptions options;
  options.routes = R"(
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: tool
    policy: EFFECTFUL
    record: )" + record +
                   kToolKey;
  return options;
}

TEST(ResultNotKept, TheFirstCallerHasTheAnswerAndLaterOnesAreToldThatItIsNotKept) {
  struct Row {
    const char* name;
    const char* record;
    std::string body;
  };
  const Row rows[] = {
      {"bodies are not kept", "{body: false}", "short"},
      {"over max_body", "{max_body: 1KiB}", std::string(1025, 'x')},
      {"far over max_body", "{max_body: 1KiB}", std::string(500'000, 'x')},
  };
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(row.name) + (store == StoreKind::Memory ? ", memory" : ", sqlite"));
      GatewayOptions options = with_record(row.record);
      options.store = store;
      Gateway gateway(options);
      gateway.upstream.script(commits_and_answers(201, row.body));
      const Response first = gateway.book();
      EXPECT_EQ(first.status, 201);
      EXPECT_TRUE(first.body == row.body);
      if (store == StoreKind::Sqlite) gateway.semel.restart();
      for (int retry = 1; retry <= 2; ++retry) {
        const Response later = gateway.book();
        expect_problem(later, "result-not-kept");
        expect_reference(later);
        EXPECT_EQ(Json::parse(later.body)["original_status"].text(), "201");
      }
      EXPECT_EQ(gateway.upstream.requests(), 1);
    }
  }
}

TEST(ResultNotKept, ABodyOfExactlyTheLimitIsKept) {
  Gateway gateway(with_record("{max_body: 1KiB}"));
  gateway.upstream.script(commits_and_answers(201, std::string(1024, 'x')));
  EXPECT_EQ(gateway.book().status, 201);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
}

TEST(ResultNotKept, AFollowerIsToldWhatALaterCallWouldBeTold) {
  struct Row {
    int status;           ///< Of the leader's answer.
    const char* problem;  ///< The follower's; null: it runs itself.
    int requests;
  };
  constexpr Row kRows[] = {
      {201, "result-not-kept", 1}, {429, nullptr, 2}, {500, "indeterminate", 1}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.status);
    Gateway gateway(with_record("{body: false}"));
    gateway.upstream.script([&row](Turn& turn) {
      turn.wait_until_let_go();
      turn.send(response_text(row.status, "{}"));
    });
    std::future<Response> leader = gateway.begin("/tools/book");
    ASSERT_TRUE(gateway.upstream.sees_requests(1));
    std::future<Response> follower = gateway.begin("/tools/book");
    ASSERT_TRUE(
        eventually([&] { return gateway.semel.metric("semel_in_flight_collisions_total") >= 1; }));
    gateway.upstream.let_go();
    EXPECT_EQ(leader.get().status, row.status);
    const Response second = follower.get();
    if (row.problem != nullptr) {
      expect_problem(second, row.problem);
    } else {
      EXPECT_EQ(second.header("Idempotency-Status"), "executed");
      EXPECT_EQ(second.status, row.status);
    }
    EXPECT_EQ(gateway.upstream.requests(), row.requests);
  }
}

}  // namespace
}  // namespace semel::testing
