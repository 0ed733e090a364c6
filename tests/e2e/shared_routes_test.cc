// Replicas with one store and the routes that it remembers: who starts, who reloads, who waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/problems.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;

class SharedRoutes : public OnSharedStore {
 protected:
  /// The same tools, but that the recipe of one has another field less: other keys.
  [[nodiscard]] static std::string with_another_recipe() {
    std::string routes = tool_routes();
    const std::string fields = "fields: [/flight, /seats, /name]";
    routes.replace(routes.find(fields), fields.size(), "fields: [/flight, /seats]");
    return routes;
  }
  [[nodiscard]] static std::string with_a_promise_on_the_plain_route() {
    std::string routes = tool_routes();
    const std::string plain = "match: {path: /files/*}\n    upstream: tool\n";
    routes.replace(routes.find(plain), plain.size(),
                   "match: {methods: [POST], path: /files/*}\n    upstream: tool\n"
                   "    policy: EFFECTFUL" +
                       std::string(kToolKey));
    return routes;
  }
  /// The tool, and these routes.
  [[nodiscard]] static std::string yaml(const Replicas& replicas, const std::string& routes) {
    return "upstreams:\n  tool:\n    endpoints: [\"" + endpoint_of(replicas.upstream.port()) +
           "\"]\n" + routes;
  }
  [[nodiscard]] static bool waits(Replicas& replicas, std::size_t which, const std::string& route,
                                  double wanted) {
    return eventually(
        [&] {
          return replicas.at(which).metric("semel_route_digest_mismatch", {{"route", route}}) ==
                 wanted;
        },
        milliseconds{10'000});
  }
};

TEST_P(SharedRoutes, ReplicasOfOneConfigurationAllServe) {
  Replicas replicas(options());
  for (std::size_t which = 0; which < replicas.size(); ++which) {
    EXPECT_EQ(replicas.call(which, "run-" + std::to_string(which)).status, 201);
    EXPECT_TRUE(waits(replicas, which, "book", 0));
  }
  EXPECT_EQ(replicas.call(0, "run-1").status, 201) << "the other one's answer";
  EXPECT_EQ(replicas.tool.effects_of("run-1"), 1);
}

TEST_P(SharedRoutes, AChangeThatOneReplicaTakesIsRefusedByTheOtherUntilItHasItToo) {
  Replicas replicas(options());
  EXPECT_EQ(replicas.call(0, "before").status, 201);
  SemelProcess& first = replicas.at(0);
  SemelProcess& second = replicas.at(1);

  // The change frees keys, so that somebody has to say so.
  first.sigterm();
  ASSERT_TRUE(first.wait());
  first.rewrite(yaml(replicas, with_another_recipe()), "");
  const Finished refused = first.start_in_vain();
  ASSERT_TRUE(refused.exit);
  EXPECT_EQ(refused.exit->code, 2);
  EXPECT_THAT(refused.err, HasSubstr("route book: key: fields was"));
  EXPECT_EQ(replicas.call(1, "meanwhile").status, 201) << "nothing was adopted";
  first.start({"--acknowledge", "book"});

  ASSERT_TRUE(waits(replicas, 1, "book", 1));
  const Response waiting = replicas.call(1, "after");
  expect_problem(waiting, "store-unavailable");
  EXPECT_EQ(waiting.all("Retry-After"), std::vector<std::string>{"1"});
  EXPECT_THAT(waiting.body, HasSubstr("Another replica"));
  EXPECT_EQ(replicas.tool.effects_of("after"), 0);
  EXPECT_EQ(replicas.call(0, "after").status, 201) << "the one that has it serves";
  EXPECT_EQ(replicas.call(1, "seat-1", "/tools/seat").status, 201) << "as do other routes";
  EXPECT_THAT(second.stderr_text(), HasSubstr("route book: another replica has changed it"));

  second.rewrite(yaml(replicas, with_another_recipe()), "");
  EXPECT_THAT(second.reload(), HasSubstr("reloaded"));
  EXPECT_EQ(replicas.call(1, "after").status, 201);
  EXPECT_EQ(replicas.tool.effects_of("after"), 1) << "replayed";
  EXPECT_TRUE(waits(replicas, 1, "book", 0));
}

TEST_P(SharedRoutes, APlainRouteLetsNothingThroughThatAnotherReplicaGuards) {
  Replicas replicas(options());
  EXPECT_EQ(replicas.call(1, "plain", "/files/a").status, 201);
  replicas.at(0).rewrite(yaml(replicas, with_a_promise_on_the_plain_route()), "");
  EXPECT_THAT(replicas.at(0).reload(), HasSubstr("reloaded"));
  ASSERT_TRUE(waits(replicas, 1, "plain", 1));
  expect_problem(replicas.call(1, "guarded", "/files/a"), "store-unavailable");
  EXPECT_EQ(replicas.call(0, "guarded", "/files/a").status, 201);

  // Taken back: the replica of before goes on by itself.
  replicas.at(0).sigterm();
  ASSERT_TRUE(replicas.at(0).wait());
  replicas.at(0).rewrite(yaml(replicas, tool_routes()), "");
  replicas.at(0).start({"--acknowledge", "plain"});
  EXPECT_TRUE(waits(replicas, 1, "plain", 0));
  EXPECT_EQ(replicas.call(1, "plain", "/files/a").status, 201);
}

TEST_P(SharedRoutes, ReplicasThatStartAtTheSameMomentAllStart) {
  Replicas replicas(options());
  for (std::size_t which = 0; which < replicas.size(); ++which) {
    replicas.at(which).sigterm();
    ASSERT_TRUE(replicas.at(which).wait());
    replicas.at(which).rewrite(yaml(replicas, with_a_promise_on_the_plain_route()), "");
  }
  std::vector<std::future<void>> starts;
  for (std::size_t which = 0; which < replicas.size(); ++which) {
    starts.push_back(std::async(std::launch::async, [&, which] { replicas.at(which).start(); }));
  }
  for (auto& start : starts) EXPECT_NO_THROW(start.get());
  for (std::size_t which = 0; which < replicas.size(); ++which) {
    EXPECT_TRUE(waits(replicas, which, "plain", 0));
    EXPECT_EQ(replicas.call(which, "same", "/files/a").status, 201);
  }
  EXPECT_EQ(replicas.tool.effects_of("same"), 1);
}

TEST_P(SharedRoutes, AStartWithoutItsStoreEndsAndSaysWhy) {
  Replicas replicas(options());
  replicas.at(0).sigterm();
  ASSERT_TRUE(replicas.at(0).wait());
  replicas.server.kill9();
  const Finished ended = replicas.at(0).start_in_vain();
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err, "");
}

TEST_P(SharedRoutes, ADryRunOfInitMakesNoStore) {
  SharedServer server(GetParam());
  SemelOptions process;
  process.binary = semel_binary();
  process.store = StoreKind::Shared;
  process.shared_store = server.yaml(server.port());
  process.yaml = "upstreams:\n  tool:\n    endpoints: [\"http://127.0.0.1:9\"]\n" + tool_routes();
  SemelProcess semel(process);
  const Finished shown = run({semel_binary(), "store", "init", semel.config_file(), "--dry-run"});
  ASSERT_TRUE(shown.exit);
  EXPECT_EQ(shown.exit->code, 0) << shown.err;
  EXPECT_NE(shown.out, "");
  const Finished ended = semel.start_in_vain();
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_THAT(ended.err, HasSubstr("semel store init"));
  EXPECT_NO_THROW(semel.init_store());
}

TEST_P(SharedRoutes, AnAcknowledgementNeedsNoProcessAndMindsNone) {
  Replicas replicas(options());
  const auto acknowledge = [&] {
    return run({semel_binary(), "store", "acknowledge", replicas.at(0).config_file()});
  };
  const Finished beside = acknowledge();
  ASSERT_TRUE(beside.exit);
  EXPECT_EQ(beside.exit->code, 0) << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("not suspect"));
  replicas.at(0).sigterm();
  ASSERT_TRUE(replicas.at(0).wait());
  const Finished alone = acknowledge();
  ASSERT_TRUE(alone.exit);
  EXPECT_EQ(alone.exit->code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("not suspect"));
}

INSTANTIATE_TEST_SUITE_P(Each, SharedRoutes, ::testing::Values(SharedKind::Redis), name_of_kind);

}  // namespace
}  // namespace semel::testing
