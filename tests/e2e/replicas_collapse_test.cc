// One key, many clients, two replicas: one effect, and everybody has its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <set>
#include <thread>

#include "tests/e2e/crash_site.h"
#include "tests/e2e/replicas.h"

namespace semel::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kClients = 100;

/// How many keys: enough for the suite, or as many as the environment says.
int keys_asked() {
  const char* more = std::getenv("SEMEL_REPLICA_KEYS");
  return more != nullptr ? std::atoi(more) : 50;
}

struct Told {
  Response answer;
  Clock::time_point at;
};

/// A hundred clients, each with a connection to its replica, who all ask at the same moment.
class Crowd {
 public:
  explicit Crowd(Replicas& replicas) : replicas_(replicas) {
    for (std::size_t client = 0; client < kClients; ++client) {
      threads_.emplace_back([this, client] { ask_until_over(client); });
    }
  }
  ~Crowd() {
    run_.clear();
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void ask(const std::string& run) {
    run_ = run;
    begin_.arrive_and_wait();
  }
  /// By client: those of even numbers are at the first replica.
  [[nodiscard]] const std::vector<Told>& told() {
    end_.arrive_and_wait();
    return told_;
  }

 private:
  void ask_until_over(std::size_t client) {
    HttpClient connection(replicas_.at(client % 2).port(), milliseconds{60'000});
    for (;;) {
      begin_.arrive_and_wait();
      if (run_.empty()) return;
      // A disk that is slow for a second is no answer: who is told to come back does.
      EXPECT_TRUE(eventually(
          [&] {
            told_[client].answer = connection.exchange(Replicas::request(run_));
            return told_[client].answer.status != 503;
          },
          milliseconds{60'000}));
      told_[client].at = Clock::now();
      end_.arrive_and_wait();
    }
  }

  Replicas& replicas_;
  std::string run_;  ///< Empty: it is over. Written while all wait at the barrier.
  std::vector<Told> told_{kClients};
  std::barrier<> begin_{kClients + 1};
  std::barrier<> end_{kClients + 1};
  std::vector<std::thread> threads_;
};

/// Expects one to have been executed and all to be equal. @return The one.
std::size_t expect_one_leader(const std::vector<Told>& told) {
  std::set<std::string> answers;
  std::vector<std::size_t> leaders;
  for (std::size_t client = 0; client < told.size(); ++client) {
    const Response& answer = told[client].answer;
    answers.insert(std::to_string(answer.status) + answer.body);
    const std::string status = answer.header("Idempotency-Status").value_or("none");
    // Its record may be late for the same reason; then it is written behind the answer.
    if (status == "executed" || status == "unrecorded") leaders.push_back(client);
  }
  EXPECT_THAT(answers, ::testing::SizeIs(1));
  EXPECT_THAT(leaders, ::testing::SizeIs(1));
  return leaders.empty() ? 0 : leaders.front();
}

milliseconds median(std::vector<Clock::duration> times) {
  if (times.empty()) return milliseconds{0};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return std::chrono::ceil<milliseconds>(*middle);
}

using ReplicasCollapse = OnSharedStore;

TEST_P(ReplicasCollapse, AHundredClientsOnOneKeyOverTwoReplicasHaveOneEffectAndEqualAnswers) {
  Replicas replicas(options());
  replicas.upstream.script([&](Turn& turn) {
    turn.wait_for_step(turn.number());
    replicas.tool.play(turn);
  });
  Crowd crowd(replicas);
  std::vector<Clock::duration> behind;
  const int keys = keys_asked();
  for (int key = 1; key <= keys; ++key) {
    const std::string run = "kept-" + std::to_string(key);
    SCOPED_TRACE(run);
    const double met_before = replicas.metric("semel_in_flight_collisions_total");
    crowd.ask(run);
    // The tool answers when the others wait, here and there: all, or nearly so, because one who
    // asks the store again meets the call again.
    EXPECT_TRUE(eventually([&] {
      return replicas.metric("semel_in_flight_collisions_total") >= met_before + kClients - 1;
    }));
    replicas.upstream.step();
    const std::vector<Told>& told = crowd.told();
    const std::size_t leader = expect_one_leader(told);
    EXPECT_EQ(replicas.tool.effects_of(run), 1);
    for (std::size_t client = 0; client < told.size(); ++client) {
      if (client % 2 != leader % 2) behind.push_back(told[client].at - told[leader].at);
    }
    if (HasFailure()) break;
  }
  EXPECT_EQ(replicas.upstream.effects(), replicas.upstream.requests());
  std::printf("%d keys on %s: followers on the other replica %lld ms behind the leader (median)\n",
              keys, std::string(name(GetParam())).c_str(),
              static_cast<long long>(median(behind).count()));
}

TEST_P(ReplicasCollapse, AFollowerOnAnotherReplicaIsWokenByTheNewsAndNotByPolling) {
  ReplicasOptions asked = options();
  asked.more = "workers: 1\n";  // What was sent before a read has been taken in before it.
  asked.replicas[1] = {CrashSite::kWithFailPoints, {"SEMEL_POLL_MS=3600000"}};
  Replicas replicas(asked);
  replicas.upstream.script([&](Turn& turn) {
    if (turn.request().target == "/tools/book") turn.wait_for_step(1);
    replicas.tool.play(turn);
  });
  std::future<Response> leader = replicas.begin(0, "kept-1");
  ASSERT_TRUE(replicas.upstream.sees_requests(1));
  std::vector<std::future<Response>> followers;
  for (int i = 0; i < 3; ++i) followers.push_back(replicas.begin(1, "kept-1"));
  ASSERT_TRUE(
      eventually([&] { return replicas.at(1).metric("semel_in_flight_collisions_total") == 3; }));
  EXPECT_EQ(replicas.call(1, "kept-read", "/tools/fare").status, 201);
  replicas.upstream.step();
  const Response first = leader.get();
  EXPECT_EQ(told(first), "executed");
  for (std::future<Response>& follower : followers) {
    const Response answer = follower.get();
    EXPECT_EQ(answer.header("Idempotent-Replayed"), "true") << told(answer);
    EXPECT_EQ(answer.body, first.body);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplicasCollapse, each_shared_store(), name_of_kind);

}  // namespace
}  // namespace semel::testing
