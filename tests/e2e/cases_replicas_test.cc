// Reported cases of several processes on one store: docs/reported-cases.md tells each in a line.
#include <gtest/gtest.h>

#include "tests/e2e/cases.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

/// Two replicas before a tool that commits, and answers when the test lets go.
ReplicasOptions on(SharedKind kind, const std::string& route_more = {}) {
  CaseRoute route;
  route.more = route_more;
  ReplicasOptions options;
  options.kind = kind;
  options.routes = one_route(route).routes;
  return options;
}

std::future<Response> begin(Replicas& replicas, std::size_t which, const std::string& key) {
  return std::async(std::launch::async, [port = replicas.at(which).port(), key] {
    return call(port, keyed_call(key));
  });
}

/// What a case does, on each kind of store that is installed.
template <class Story>
void on_each_shared_store(Story story) {
  int told = 0;
  for (const SharedKind kind : kSharedKinds) {
    if (!SharedServer::is_installed(kind)) continue;
    SCOPED_TRACE(name(kind));
    story(kind);
    ++told;
  }
  if (told == 0) GTEST_SKIP() << "no server of a shared store is installed";
}

TEST(ReportedCases, CON_03_TwoProcessesThatRaceForOneKeyAreToldWhoHasIt) {
  on_each_shared_store([](SharedKind kind) {
    Replicas replicas(on(kind));
    replicas.upstream.script(commits_and_answers_after(milliseconds{300}, 201, R"({"order":"1"})"));
    std::vector<std::future<Response>> calls;
    for (std::size_t i = 0; i < 20; ++i) calls.push_back(begin(replicas, i % 2, "con-03"));
    int executed = 0;
    for (std::future<Response>& pending : calls) {
      const Response answer = pending.get();
      EXPECT_EQ(answer.status, 201) << answer.body;
      EXPECT_EQ(answer.body, R"({"order":"1"})");
      const bool is_first = answer.header("Idempotency-Status") == "executed";
      executed += is_first ? 1 : 0;
      EXPECT_EQ(answer.header("Idempotent-Replayed") == "true", !is_first);
    }
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(replicas.upstream.requests(), 1);
    EXPECT_EQ(replicas.upstream.effects(), 1);
  });
}

TEST(ReportedCases, CON_06_AWaitingDuplicateSeesNoGapBehindASlowNetworkEither) {
  on_each_shared_store([](SharedKind kind) {
    Replicas replicas(on(kind));
    replicas.upstream.script(commits_and_answers_when_let_go(201, R"({"tx":"t_1"})"));
    std::future<Response> first = begin(replicas, 0, "con-06");
    ASSERT_TRUE(replicas.upstream.sees_requests(1));
    std::future<Response> here = begin(replicas, 0, "con-06");
    std::future<Response> there = begin(replicas, 1, "con-06");
    ASSERT_TRUE(
        eventually([&] { return replicas.metric("semel_in_flight_collisions_total") >= 2; }));
    FaultyLink::Pace slow;
    slow.delay = milliseconds{300};
    replicas.link(0).pace(slow);  // The record is on its way when more duplicates come.
    replicas.upstream.let_go();
    std::vector<std::future<Response>> late;
    for (std::size_t i = 0; i < 8; ++i) late.push_back(begin(replicas, i % 2, "con-06"));
    const Response answer = first.get();
    expect_executed(answer, 201);
    expect_same_answer(here.get(), answer);
    expect_same_answer(there.get(), answer);
    for (std::future<Response>& pending : late) expect_same_answer(pending.get(), answer);
    EXPECT_EQ(replicas.upstream.requests(), 1);
  });
}

TEST(ReportedCases, LCK_01_AClaimOutlivesTheCallThatItGuardsAtAnotherProcessToo) {
  on_each_shared_store([](SharedKind kind) {
    Replicas replicas(on(kind, "    wait: 0ms\n    timeout: 10s\n"));
    replicas.upstream.script(commits_and_answers_when_let_go(201, R"({"tx":1})"));
    std::future<Response> slow = begin(replicas, 0, "lck-01");
    ASSERT_TRUE(replicas.upstream.sees_requests(1));
    const Response duplicate = call(replicas.at(1).port(), keyed_call("lck-01"));
    expect_problem(duplicate, "in-flight");
    replicas.upstream.let_go();
    const Response first = slow.get();
    expect_executed(first, 201);
    expect_same_answer(call(replicas.at(1).port(), keyed_call("lck-01")), first);
    EXPECT_EQ(replicas.upstream.requests(), 1);
  });
}

TEST(ReportedCases, STO_06_WhatOneProcessHasAnsweredTheOthersReplay) {
  on_each_shared_store([](SharedKind kind) {
    Replicas replicas(on(kind));
    replicas.upstream.script(commits_and_answers(201, R"({"deposit":1})"));
    const Response first = call(replicas.at(0).port(), keyed_call("sto-06"));
    expect_executed(first, 201);
    expect_same_answer(call(replicas.at(1).port(), keyed_call("sto-06")), first);
    for (const std::size_t which : {0U, 1U}) {
      replicas.at(which).restart();
      expect_same_answer(call(replicas.at(which).port(), keyed_call("sto-06")), first);
    }
    EXPECT_EQ(replicas.upstream.requests(), 1);
  });
}

}  // namespace
}  // namespace semel::testing
