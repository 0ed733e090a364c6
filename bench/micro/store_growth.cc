// How a shared store behaves as its records grow, and while it ends many of them. bench/growth
// calls it.
//
//   store_growth URL fill FROM TO
//       records the keys FROM..TO-1, for a day, then times claims of new ones
//   store_growth URL sweep COUNT CLIENTS
//       records COUNT keys that expire together; times claims of so many clients, each of which
//       asks when it was answered, before, while and after they go
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/micro/rounds.h"
#include "io/parked.h"
#include "io/spawn.h"
#include "stores/open.h"

namespace semel::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kConcurrent = 64;  ///< Calls at once while it is filled.
constexpr std::uint64_t kTimed = 20'000;   ///< Claims that one figure is made of.
/// As the program sweeps (proxy/server.cc).
constexpr std::size_t kSweepBatch = 16;
constexpr int kRests = 3;
/// Keys of timed claims, apart from those that fill the store.
constexpr std::uint64_t kTimedFrom = 1ull << 32;
constexpr auto kWindow = 60s;  ///< Of the records that are swept.
constexpr auto kPauseOfTheRefused = 10ms;

/// Claim and record of one key. @return what the claim took; nothing: one of them was refused.
Task<std::optional<std::chrono::nanoseconds>> call(Store& store, std::uint64_t number,
                                                   std::chrono::seconds retention) {
  Round round = round_of(number, retention);
  const Attempt attempt{round.request.key, round.request.token, Fence{}};
  const auto start = Clock::now();
  const auto claimed = co_await store.claim(std::move(round.request));
  const auto took = Clock::now() - start;
  const auto recorded = co_await store.record(attempt, std::move(round.response));
  const bool is_done = claimed && std::holds_alternative<Granted>(*claimed) && recorded &&
                       *recorded == WriteReply::Done;
  co_return is_done ? std::optional<std::chrono::nanoseconds>(took) : std::nullopt;
}

/// Coroutines of one worker that are waited for together.
class Group {
 public:
  explicit Group(const Executor& executor) : executor_(executor) {}
  void start(Task<> task) {
    ++running_;
    spawn(executor_, end(std::move(task)));
  }
  Task<> wait() {
    if (running_ > 0) co_await all_ended_.wait();
  }

 private:
  Task<> end(Task<> task) {
    co_await std::move(task);
    if (--running_ == 0) all_ended_.resume_later(executor_);
  }

  Executor executor_;
  std::size_t running_ = 0;
  Parked all_ended_;
};

/// Takes the next number until there is none.
Task<> fill_some(Store& store, std::uint64_t& next, std::uint64_t to,
                 std::chrono::seconds retention, std::uint64_t& refused) {
  while (next < to) {
    const std::uint64_t number = next++;
    const auto took = co_await call(store, number, retention);
    if (!took) ++refused;
  }
}

Task<> fill(Store& store, std::uint64_t from, std::uint64_t to, std::chrono::seconds retention) {
  std::uint64_t refused = 0;
  Group group(co_await asio::this_coro::executor);
  for (std::uint64_t n = 0; n < kConcurrent; ++n) {
    group.start(fill_some(store, from, to, retention, refused));
  }
  co_await group.wait();
  if (refused != 0) {
    std::printf("%llu calls were refused while it was filled\n",
                static_cast<unsigned long long>(refused));
  }
}

void say(const std::string& when, std::vector<std::chrono::nanoseconds> took) {
  if (took.empty()) return;
  std::ranges::sort(took);
  const auto us = [&](std::size_t per_mille) {
    return static_cast<double>(took[(took.size() - 1) * per_mille / 1'000].count()) / 1e3;
  };
  std::printf("%-28s claim p50 %7.0f us  p99 %7.0f us  max %7.0f us  (%zu claims)\n", when.c_str(),
              us(500), us(990), us(1'000), took.size());
  std::fflush(stdout);
}

/// Keys that no earlier run has timed.
std::uint64_t untimed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return kTimedFrom + static_cast<std::uint64_t>(now / std::chrono::microseconds(1));
}

/// What claims take.
struct Times {
  std::uint64_t next = untimed();
  std::vector<std::chrono::nanoseconds> took;
};

/// Claims new keys one after the other for as long as `goes_on` says so.
Task<> time_claims(Store& store, Times& times, std::function<bool()> goes_on) {
  while (goes_on()) {
    const auto claim = co_await call(store, times.next++, 24h);
    if (claim) {
      times.took.push_back(*claim);
      continue;
    }
    Timer pause(co_await asio::this_coro::executor, kPauseOfTheRefused);
    co_await pause.async_wait(kNoThrow);
  }
}

Task<> time_alone(Store& store, std::uint64_t clients, std::string when) {
  Times times;
  const std::function<bool()> goes_on = [&times] { return times.took.size() < kTimed; };
  Group group(co_await asio::this_coro::executor);
  for (std::uint64_t n = 0; n < clients; ++n) group.start(time_claims(store, times, goes_on));
  co_await group.wait();
  say(when, std::move(times.took));
}

/// Sweeps as the program does: a batch, and a pause that is longer, or of a second behind a fault.
Task<> sweep_all(Store& store, std::size_t& erased, bool& is_done) {
  const Executor executor = co_await asio::this_coro::executor;
  for (;;) {
    const auto asked = Clock::now();
    const auto swept = co_await store.sweep(kSweepBatch);
    Clock::duration rest = kRests * (Clock::now() - asked);
    if (!swept) {
      std::fprintf(stderr, "a batch of the sweep failed: %s\n",
                   std::string(name(swept.error())).c_str());
      rest = 1s;
    } else {
      erased += swept->expired;
      if (!swept->more) break;
    }
    Timer pause(executor, rest);
    co_await pause.async_wait(kNoThrow);
  }
  is_done = true;
}

Task<> time_beside_sweep(Store& store, std::uint64_t count, std::uint64_t clients) {
  const Executor executor = co_await asio::this_coro::executor;
  const std::uint64_t from = untimed() + (1ull << 52);
  co_await fill(store, from, from + count, kWindow);
  Timer expiry(executor, Clock::now() + kWindow + 1s);
  co_await time_alone(store, clients, "before they expire");
  co_await expiry.async_wait(kNoThrow);
  co_await time_alone(store, clients, "expired, not swept");

  Times times;
  std::size_t erased = 0;
  bool is_done = false;
  const std::function<bool()> goes_on = [&is_done] { return !is_done; };
  const auto start = Clock::now();
  Group group(executor);
  group.start(sweep_all(store, erased, is_done));
  for (std::uint64_t n = 0; n < clients; ++n) group.start(time_claims(store, times, goes_on));
  co_await group.wait();
  const std::chrono::duration<double> lasted = Clock::now() - start;
  say("while they are swept", std::move(times.took));
  std::printf("swept %zu records in %.1f s\n", erased, lasted.count());
  co_await time_alone(store, clients, "afterwards");
}

Task<> fill_and_time(Store& store, std::uint64_t from, std::uint64_t to) {
  co_await fill(store, from, to, 24h);
  co_await time_alone(store, 1, std::to_string(to) + " records");
}

StoreOptions options_of(const std::string& url) {
  const char* state = std::getenv("SEMEL_BENCH_STATE");
  const std::string folder = state ? state : "";
  if (url.starts_with("redis")) {
    RedisOptions redis;
    redis.url = url;
    redis.state_dir = folder;
    return redis;
  }
  PostgresOptions postgres;
  postgres.url = url;
  postgres.state_dir = folder;
  return postgres;
}

int run(const std::vector<std::string>& words) {
  const bool sweeps = words.size() == 4 && words[1] == "sweep";
  if (!sweeps && (words.size() != 4 || words[1] != "fill")) {
    std::fprintf(stderr, "store_growth URL fill FROM TO | URL sweep COUNT CLIENTS\n");
    return 2;
  }
  const StoreOptions options = options_of(words[0]);
  static_cast<void>(init_store(options));
  const auto store = open_store(options, StoreClock::real());
  asio::io_context io(1);
  Group group(io.get_executor());
  const std::uint64_t first = std::stoull(words[2]);
  const std::uint64_t second = std::stoull(words[3]);
  group.start(sweeps ? time_beside_sweep(*store, first, second)
                     : fill_and_time(*store, first, second));
  const auto end = [&]() -> Task<> {
    co_await group.wait();
    io.stop();  // The links of a store would go on reading.
  };
  spawn(io.get_executor(), end());
  io.run();
  store->close();
  return 0;
}

}  // namespace
}  // namespace semel::bench

int main(int count, char** words) {
  try {
    return semel::bench::run({words + 1, words + count});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
