// What one record costs a store: time on the calling worker, CPU on the store's own threads, and
// memory. Every round claims a new key and records an answer of 300 bytes with 5 header lines.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "bench/micro/rounds.h"
#include "stores/open.h"

namespace semel::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRecords = 400'000;
/// Calls that wait for the disk together: the connections of one busy worker.
constexpr std::uint64_t kConcurrent = 64;

/// Claims and records `count` keys, one after the other.
Task<> work(Store& store, std::uint64_t first, std::uint64_t count,
            std::chrono::nanoseconds& spent) {
  for (std::uint64_t n = first; n < first + count; ++n) {
    Round round = round_of(n, 24h);
    const Attempt attempt{round.request.key, round.request.token, Fence{}};
    const auto start = std::chrono::steady_clock::now();
    const auto claimed = co_await store.claim(std::move(round.request));
    const auto recorded = co_await store.record(attempt, std::move(round.response));
    spent += std::chrono::steady_clock::now() - start;
    if (!claimed || !recorded || *recorded != WriteReply::Done) std::abort();
  }
}

/// @param out  Time that callers spent in the store, summed over all of them.
std::chrono::nanoseconds run(Store& store, std::uint64_t concurrent) {
  asio::io_context io(1);
  std::chrono::nanoseconds spent{0};
  const std::uint64_t each = kRecords / concurrent;
  for (std::uint64_t n = 0; n < concurrent; ++n) {
    asio::co_spawn(io, work(store, n * each, each, spent), asio::detached);
  }
  io.run();
  return spent;
}

double user_seconds(int whose) {
  rusage usage{};
  ::getrusage(whose, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

/// What the process has of memory now, in bytes.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void memory_claim_and_record(benchmark::State& state) {
  for (auto _ : state) {
    const double before = resident_bytes();
    const auto store = open_store(MemoryOptions{}, StoreClock::real());
    const auto spent = run(*store, 1);
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
    state.counters["ns_per_record"] = static_cast<double>(spent.count()) / kRecords;
    state.counters["bytes_per_record"] = (resident_bytes() - before) / kRecords;
    store->close();
  }
}
BENCHMARK(memory_claim_and_record)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void sqlite_claim_and_record(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "semel-bench-XXXXXX").string();
  if (!::mkdtemp(folder.data())) std::abort();
  for (auto _ : state) {
    const SqliteOptions options{folder + "/semel.db", "", 30s, {}};
    static_cast<void>(init_store(options));
    const auto store = open_store(options, StoreClock::real());
    const double others = user_seconds(RUSAGE_SELF) - user_seconds(RUSAGE_THREAD);
    static_cast<void>(run(*store, kConcurrent));
    const double spent = user_seconds(RUSAGE_SELF) - user_seconds(RUSAGE_THREAD) - others;
    state.counters["writer_user_us_per_record"] = spent * 1e6 / kRecords;
    store->close();
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(sqlite_claim_and_record)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace semel::bench

BENCHMARK_MAIN();
