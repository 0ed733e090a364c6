// What is special about a store in Redis: room, foreign values, several replicas at once.

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/stores/redis_replicas.h"
#include "tests/support/deadline.h"
#include "tests/support/faulty_link.h"

namespace semel::testing {
namespace {

class RedisStoreTest : public RedisReplicas {
 protected:
  using RedisReplicas::RedisReplicas;
};

TEST_F(RedisStoreTest, OfTwoReplicasThatRaceForAKeyExactlyOneIsGranted) {
  constexpr std::uint64_t kKeys = 3'000;
  std::vector<std::atomic<int>> grants(kKeys);
  std::vector<std::atomic<int>> held(kKeys);
  const auto race = [&](Store& store, std::uint64_t replica) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto reply = claim(store, request_of(key, 2 * key + replica));
      if (is<Granted>(reply)) grants[key] += 1;
      if (is<Held>(reply)) held[key] += 1;
    }
  };
  std::thread other([&] { race(*b_, 1); });
  race(*a_, 0);
  other.join();
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_EQ(grants[key], 1) << "key " << key;
    ASSERT_EQ(held[key], 1) << "key " << key;
  }
}

TEST_F(RedisStoreTest, AFollowerOnAnotherReplicaIsWokenByTheEndOfTheClaim) {
  const auto is_heard = [this] {
    return redis_.server.command({"PUBSUB", "NUMSUB", kWokenChannel}).find('2') !=
           std::string::npos;
  };
  ASSERT_TRUE(eventually(is_heard, milliseconds{20'000}));
  std::uint64_t key = 0;
  const auto ends = {
      +[](Store& store, const Attempt& attempt) {
        return run(store.record(attempt, response_of(200, "done"))).value();
      },
      +[](Store& store, const Attempt& attempt) { return run(store.release(attempt)).value(); },
      +[](Store& store, const Attempt& attempt) {
        return run(store.mark_indeterminate(attempt, IndeterminateReason::Cut, {})).value();
      },
  };
  for (const auto& end : ends) {
    key += 1;
    const Attempt holder = granted(*a_, request_of(key, key));
    ASSERT_TRUE(is<Held>(claim(*b_, request_of(key, 100 + key))));
    const auto until = std::chrono::steady_clock::now() + 60s;
    std::atomic<bool> is_waiting{false};
    std::thread follower([&] {
      const LentContext worker;
      asio::co_spawn(*worker, b_->await_change(holder.key, until),
                     [&](const std::exception_ptr&) { worker->stop(); });
      worker->poll();
      is_waiting = true;
      worker->run();
    });
    ASSERT_TRUE(eventually([&] { return is_waiting.load(); }, milliseconds{20'000}));
    ASSERT_EQ(end(*a_, holder), WriteReply::Done);
    follower.join();
    EXPECT_LT(std::chrono::steady_clock::now(), until)
        << "it was the time that woke it, not a sign";
  }
}

TEST_F(RedisStoreTest, OneReplicaSweepsAtATime) {
  for (std::uint64_t key = 0; key < 3; ++key) {
    run(a_->record(granted(*a_, request_of(key, key)), response_of(200, "old"))).value();
  }
  clock_.advance(25h);
  EXPECT_EQ(run(a_->sweep(1)).value().expired, 1u);
  EXPECT_EQ(run(b_->sweep(100)).value().expired, 0u) << "somebody is at it";
  clock_.advance(6s);
  EXPECT_EQ(run(b_->sweep(100)).value().expired, 2u) << "who is gone holds up nobody";
  EXPECT_EQ(run(a_->health()).records, 0u);
}

/// What is kept for ever because its route says so today, and then ends all the same.
TEST_F(RedisStoreTest, WhatTheSweepHadPutOffIsForgottenWithItsRecord) {
  ASSERT_TRUE(run(a_->adopt_routes({route_today(24h, std::nullopt)})).has_value());
  std::vector<Attempt> unknown;
  for (std::uint64_t key = 1; key <= 4; ++key) {
    ClaimRequest request = request_of(key, key);
    request.indeterminate_retention = 48h;
    unknown.push_back(granted(*a_, request));
    run(a_->mark_indeterminate(unknown.back(), IndeterminateReason::Cut, {})).value();
  }
  const auto postponed = [this] { return redis_.server.command({"ZCARD", "{semel}p"}); };
  clock_.advance(49h);
  run(a_->sweep(100)).value();
  ASSERT_EQ(postponed(), "4");
  EXPECT_EQ(run(a_->release(unknown[0])).value(), WriteReply::Done);
  EXPECT_EQ(postponed(), "3") << "released";
  run(a_->record(unknown[1], response_of(200, "late"))).value();
  run(a_->record(unknown[2], response_of(200, "late"))).value();
  EXPECT_EQ(run(a_->forget("acme")).value(), 3u);
  EXPECT_EQ(postponed(), "1") << "forgotten; what is open stays";
  run(a_->record(unknown[3], response_of(200, "late"))).value();
  clock_.advance(25h);
  EXPECT_EQ(run(a_->sweep(100)).value().expired, 1u);
  EXPECT_EQ(postponed(), "0") << "erased by the sweep";
}

TEST_F(RedisStoreTest, WhatIsNoRecordOfOursMakesItsKeyUnusableAndNoOther) {
  const auto lay = [&](std::uint64_t key, const std::vector<std::string>& words) {
    std::vector<std::string> command{words[0], name_of(request_of(key, key))};
    command.insert(command.end(), words.begin() + 1, words.end());
    redis_.server.command(command);
  };
  lay(1, {"LPUSH", "x"});
  lay(2, {"SET", ""});
  lay(3, {"SET", std::string(400, 'x')});
  granted(*a_, request_of(9, 9));
  // A record of ours under another key's name is none of that key's.
  redis_.server.command({"COPY", name_of(request_of(9, 9)), name_of(request_of(4, 4))});
  // One bit is another one: its state, say.
  granted(*a_, request_of(5, 5));
  redis_.server.command({"SETBIT", name_of(request_of(5, 5)), "119", "1"});
  for (std::uint64_t key = 1; key <= 5; ++key) {
    SCOPED_TRACE(key);
    const ClaimRequest request = request_of(key, 100 + key);
    const Attempt attempt{request.key, request.token, Fence{1}};
    EXPECT_EQ(claim(*b_, request).error(), Fault::RecordCorrupt);
    EXPECT_EQ(run(b_->find(request.key)).error(), Fault::RecordCorrupt);
    EXPECT_EQ(run(b_->record(attempt, response_of(200, "x"))).error(), Fault::RecordCorrupt);
    EXPECT_EQ(run(b_->release(attempt)).error(), Fault::RecordCorrupt);
    EXPECT_EQ(run(b_->mark_indeterminate(attempt, IndeterminateReason::Cut, {})).error(),
              Fault::RecordCorrupt);
  }
  EXPECT_EQ(run(b_->list({})).value().records.size(), 1u);
  EXPECT_TRUE(run(b_->sweep(100)).has_value());
  granted(*b_, request_of(6, 6));
}

TEST_F(RedisStoreTest, AnEventThatCannotBeReadIsNotPassedOver) {
  RedisOptions logging = options("c");
  logging.events.emplace();
  const auto store = std::make_unique<RedisStore>(logging, clock_.clock());
  granted(*store, request_of(1, 1));
  redis_.server.command({"XADD", "{semel}e", "*", "e", "garbage"});
  granted(*store, request_of(2, 2));
  EventFilter filter;
  filter.limit = 1;
  const auto first = run(store->events(filter));
  ASSERT_TRUE(first.has_value());
  filter.after = std::get<EventPage>(*first).next;
  EXPECT_EQ(run(store->events(filter)).error(), Fault::EventCorrupt);
  store->close();
}

TEST_F(RedisStoreTest, AServerThatForgotItsScriptsIsTaughtThemAgain) {
  granted(*a_, request_of(1, 1));
  redis_.server.command({"SCRIPT", "FLUSH"});
  granted(*a_, request_of(2, 2));
}

TEST_F(RedisStoreTest, AServerThatEvictsIsRefusedAtTheStart) {
  redis_.server.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  try {
    static_cast<void>(open("c"));
    ADD_FAILURE() << "it would drop claims in silence";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("noeviction"), std::string::npos) << error.what();
  }
}

TEST_F(RedisStoreTest, TheGradeSaysWhatTheSettingsPromise) {
  const std::string grade = run(a_->health()).durability;
  EXPECT_NE(grade.find("no append-only file"), std::string::npos) << grade;
  EXPECT_NE(grade.find("0 replicas"), std::string::npos) << grade;
}

/// A server that is out of memory after some thousand claims.
class FullRedis : public RedisReplicas {
 protected:
  FullRedis() : RedisReplicas(small()) {}
  static RedisSetup small() {
    RedisSetup setup = StandingRedis::quick_setup();
    setup.maxmemory = "6mb";
    return setup;
  }
  /// Claims until there is no room.
  std::vector<Attempt> fill() {
    std::vector<Attempt> open;
    for (std::uint64_t key = 0; key < 100'000; ++key) {
      const ClaimRequest request = request_of(key, key);
      const auto reply = claim(*a_, request);
      if (!reply) {
        EXPECT_EQ(reply.error(), Fault::StoreFull);
        return open;
      }
      open.push_back({request.key, request.token, std::get<Granted>(*reply).fence});
    }
    ADD_FAILURE() << "it never was full";
    return open;
  }
};

TEST_F(FullRedis, AFullServerRefusesNewClaimsAndStillEndsThoseThatAreOpen) {
  const std::vector<Attempt> open = fill();
  ASSERT_GT(open.size(), 10u);
  EXPECT_TRUE(is<Held>(claim(*a_, request_of(0, 1'000'000)))) << "what is there is told";
  EXPECT_EQ(run(a_->record(open[0], response_of(200, std::string(5'000, 'x')))).error(),
            Fault::StoreFull);
  EXPECT_EQ(run(a_->record(open[0], response_without_body(200))).value(), WriteReply::Done);
  EXPECT_TRUE(is<Completed>(claim(*a_, request_of(0, 1'000'001))));
  EXPECT_EQ(run(a_->mark_indeterminate(open[1], IndeterminateReason::Cut, {})).value(),
            WriteReply::Done);
  EXPECT_EQ(run(a_->release(open[2])).value(), WriteReply::Done);
  EXPECT_EQ(run(a_->resolve(request_of(1, 1).reference, {})).value(), ResolveReply::Done);
  clock_.advance(31s);
  EXPECT_TRUE(is<Abandoned>(claim(*a_, request_of(3, 1'000'002))));
  EXPECT_EQ(run(a_->sweep(10)).value().owner_lost, 10u);
  redis_.server.command({"CONFIG", "SET", "maxmemory", "0"});
  granted(*a_, request_of(1'000'003, 1'000'003));
}

/// The clocks run.
TEST(RedisGhosts, NoClaimComesBackBehindItsRelease) {
  RedisServer server(StandingRedis::quick_setup());
  RedisOptions options = options_on(server);
  options.deadline = 300ms;
  const auto store = store_on(options, StoreClock::real());
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const ClaimRequest request = request_of(round, round);
    const Attempt unanswered{request.key, request.token, Fence{}};
    server.pause();
    const auto claimed = run(store->claim(request));
    ASSERT_FALSE(claimed.has_value()) << "the server says nothing";
    server.resume();
    Result<WriteReply> released = Fault::StoreUnreachable;
    ASSERT_TRUE(eventually(
        [&] {
          released = run(store->release(unanswered));
          return released.has_value();
        },
        milliseconds{30'000}));
    EXPECT_EQ(released.value(), WriteReply::Done);
    EXPECT_FALSE(run(store->find(request.key)).value()) << "a claim that nobody waits for stands";
    ClaimRequest next = request_of(round, 100 + round);
    EXPECT_TRUE(std::holds_alternative<Granted>(run(store->claim(next)).value()));
  }
  store->close();
}

/// A network in which what was sent first arrives last: bytes that are held while the store has
/// found another way to the same server. The clocks run.
class LateBytes : public ::testing::Test {
 protected:
  LateBytes() {
    RedisOptions options = options_on(server_);
    options.url = "redis://127.0.0.1:" + std::to_string(way_.port());
    options.deadline = 500ms;
    store_ = store_on(options, StoreClock::real());
    ask_until_answered([this] { return run(store_->routes()); });  // There is a connection.
  }
  ~LateBytes() override { store_->close(); }

  /// What is sent from now on waits; whoever dials goes straight to the server.
  void hold() {
    detour_.hold();
    way_.lead_to(server_.port());
  }
  /// What waited has been carried out when this returns.
  void let_pass() {
    const auto before = calls();
    detour_.let_pass();
    EXPECT_TRUE(eventually([&] { return calls() > before; }, milliseconds{20'000}));
  }
  template <class Ask>
  void ask_until_answered(const Ask& ask) {
    EXPECT_TRUE(eventually([&] { return ask().has_value(); }, milliseconds{30'000}));
  }

  RedisServer server_{StandingRedis::quick_setup()};
  FaultyLink detour_{server_.port()};
  FaultyLink way_{detour_.port()};
  std::unique_ptr<Store> store_;

 private:
  [[nodiscard]] long calls() const {
    const std::string stats = server_.info("cmdstat_evalsha");
    return stats.empty() ? 0 : std::stol(stats.substr(stats.find("calls=") + 6));
  }
};

TEST_F(LateBytes, AClaimThatWasAskedForTwiceDoesNotComeBackBehindItsRelease) {
  ClaimRequest request = request_of(1, 1);
  request.not_after = 5s;
  hold();
  ASSERT_EQ(run(store_->claim(request)).error(), Fault::StoreTimeout);
  Result<ClaimReply> again = Fault::StoreTimeout;
  ask_until_answered([&] { return again = run(store_->claim(request)); });
  ASSERT_TRUE(std::holds_alternative<Granted>(*again));
  const Attempt attempt{request.key, request.token, std::get<Granted>(*again).fence};
  // Whether it is taken now or refused: what was sent before it must not undo it.
  const auto first = run(store_->release(attempt));
  if (!first) EXPECT_EQ(first.error(), Fault::StoreUnreachable);
  let_pass();
  ask_until_answered([&] { return run(store_->release(attempt)); });
  EXPECT_FALSE(run(store_->find(request.key)).value()) << "nobody stands behind this claim";
}

TEST_F(LateBytes, NoAdoptionComesBackBehindTheWordThatItNeverCameToThat) {
  const std::vector<RouteTerms> before{route_today(1h, std::nullopt)};
  const std::vector<RouteTerms> late{route_today(24h, std::nullopt)};
  ASSERT_TRUE(run(store_->adopt_routes(before)).has_value());
  hold();
  ASSERT_EQ(run(store_->adopt_routes(late)).error(), Fault::StoreTimeout);
  Result<std::vector<RouteTerms>> told = Fault::StoreTimeout;
  ask_until_answered([&] { return told = run(store_->routes()); });
  EXPECT_EQ(*told, before);
  let_pass();
  EXPECT_EQ(run(store_->routes()).value(), *told) << "the word was not the last one";
}

TEST_F(LateBytes, NoAdoptionComesBackBehindTheNextOne) {
  const std::vector<RouteTerms> late{route_today(24h, std::nullopt)};
  const std::vector<RouteTerms> next{route_today(1h, std::nullopt)};
  hold();
  ASSERT_EQ(run(store_->adopt_routes(late)).error(), Fault::StoreTimeout);
  ask_until_answered([&] { return run(store_->adopt_routes(next)); });
  let_pass();
  EXPECT_EQ(run(store_->routes()).value(), next);
}

}  // namespace
}  // namespace semel::testing
