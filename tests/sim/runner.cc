// Batches of seeds in forked processes. Each writes what it found through a pipe; one that crashes
// or does not end is found by the seed that it noted last.
#include "tests/sim/runner.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <list>
#include <optional>

#include "core/check.h"
#include "tests/sim/checker.h"
#include "tests/sim/mutant_switch.h"
#include "tests/sim/world.h"

namespace semel::sim {
namespace {

constexpr std::uint64_t kBatch = 100;
/// Where a first failure is wanted, less is run in vain.
constexpr std::uint64_t kShortBatch = 20;

/// What a batch says of itself, before its words.
struct BatchReport {
  std::uint64_t worlds = 0;
  std::uint64_t digest = 0;
  std::optional<Rule> broken;  ///< The first.
  std::uint64_t failed = 0;    ///< So many seeds follow the report, then the words.
  Coverage coverage;
};

struct Batch {
  pid_t process = 0;
  int pipe = -1;
  std::uint64_t* seed = nullptr;  ///< Shared with it: which one it is at.
  std::uint64_t last = 0;
  std::string heard;
};

void write_all(int fd, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const char*>(from);
  while (size > 0) {
    const auto written = ::write(fd, bytes, size);
    if (written <= 0) _exit(3);
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

std::string printed(const History& history) {
  std::string text;
  for (const Happening& happening : history.all()) text += line_of(happening) + '\n';
  return text;
}

std::string replay_of(const Order& order, std::uint64_t seed) {
  const std::string number = std::to_string(seed);
  return order.replay + " --seeds " + number + ".." + number + " --print";
}

/// One world. @return Whether nothing was wrong with it.
bool run_one(const Order& order, std::uint64_t seed, BatchReport& report, std::string& words) {
  World world(seed, order.hooks, report.coverage);
  const History& history = world.run();
  const auto verdicts = judge(history);
  report.worlds += 1;
  // A sum does not depend on the order of the batches.
  report.digest += history.digest() * (2 * seed + 1);
  if (order.print || (!verdicts.empty() && words.empty())) words += printed(history);
  if (order.print) {
    words += "seed " + std::to_string(seed) + ": digest " + std::to_string(history.digest()) + '\n';
  }
  if (verdicts.empty()) return true;
  if (!report.broken) report.broken = verdicts.front().rule;
  words += "seed " + std::to_string(seed) + " broke a rule:\n";
  for (const Verdict& verdict : verdicts) words += sim::report(history, verdict) + '\n';
  words += "replay: " + replay_of(order, seed) + "\n\n";
  return false;
}

[[noreturn]] void run_batch(const Order& order, std::uint64_t first, std::uint64_t last, int pipe,
                            std::uint64_t* seed) {
  // What the proxies tell their operator is not what is looked at here.
  if (!order.print) SEMEL_CHECK(std::freopen("/dev/null", "w", stderr) != nullptr);
  switch_mutant(order.mutant);
  auto report = std::make_unique<BatchReport>();
  std::vector<std::uint64_t> failed;
  std::string words;
  for (*seed = first; *seed <= last; ++*seed) {
    alarm(order.seconds_for_one);
    if (!run_one(order, *seed, *report, words)) failed.push_back(*seed);
    if (order.stop_early && !failed.empty()) break;
  }
  alarm(0);
  report->failed = failed.size();
  write_all(pipe, report.get(), sizeof *report);
  write_all(pipe, failed.data(), failed.size() * sizeof failed[0]);
  write_all(pipe, words.data(), words.size());
  _exit(0);
}

Batch start(const Order& order, std::uint64_t first, std::uint64_t last) {
  Batch batch;
  int ends[2];
  SEMEL_CHECK(::pipe(ends) == 0);
  void* shared =
      mmap(nullptr, sizeof *batch.seed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  SEMEL_CHECK(shared != MAP_FAILED);
  batch.seed = static_cast<std::uint64_t*>(shared);
  batch.process = fork();
  SEMEL_CHECK(batch.process >= 0);
  if (batch.process == 0) {
    ::close(ends[0]);
    run_batch(order, first, last, ends[1], batch.seed);
  }
  ::close(ends[1]);
  batch.pipe = ends[0];
  batch.last = last;
  return batch;
}

/// A batch has ended, whichever way.
/// @return The first of its seeds that it did not come to, because of the one before.
std::optional<std::uint64_t> take(const Order& order, Batch& batch, Outcome& outcome) {
  std::optional<std::uint64_t> rest;
  int status = 0;
  waitpid(batch.process, &status, 0);
  ::close(batch.pipe);
  if (batch.heard.size() < sizeof(BatchReport)) {
    outcome.failed.push_back(*batch.seed);
    if (*batch.seed < batch.last) rest = *batch.seed + 1;
    const bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (outcome.caught_by.empty()) outcome.caught_by = endless ? "does not end" : "crash";
    outcome.said += "seed " + std::to_string(*batch.seed) +
                    (endless ? " does not end\n" : " crashed: the program is broken\n") +
                    "replay: " + replay_of(order, *batch.seed) + "\n\n";
  } else {
    auto report = std::make_unique<BatchReport>();
    std::memcpy(report.get(), batch.heard.data(), sizeof *report);
    std::vector<std::uint64_t> failed(report->failed);
    const std::size_t list_bytes = failed.size() * sizeof(std::uint64_t);
    std::memcpy(failed.data(), batch.heard.data() + sizeof *report, list_bytes);
    outcome.failed.insert(outcome.failed.end(), failed.begin(), failed.end());
    outcome.said += batch.heard.substr(sizeof *report + list_bytes);
    if (report->broken && outcome.caught_by.empty()) outcome.caught_by = name(*report->broken);
    outcome.worlds += report->worlds;
    outcome.digest += report->digest;
    outcome.coverage.add(report->coverage);
  }
  munmap(batch.seed, sizeof *batch.seed);
  return rest;
}

/// @return Whether its words have ended.
bool listen_to(Batch& batch) {
  char piece[65'536];
  const auto got = ::read(batch.pipe, piece, sizeof piece);
  if (got > 0) batch.heard.append(piece, static_cast<std::size_t>(got));
  return got == 0;
}

}  // namespace

Outcome run_worlds(const Order& order) {
  Outcome outcome;
  std::list<Batch> running;
  std::uint64_t next = order.first;
  for (;;) {
    const bool go_on = !(order.stop_early && !outcome.failed.empty());
    while (go_on && next <= order.last && running.size() < order.jobs) {
      const std::uint64_t last =
          std::min(order.last, next + (order.stop_early ? kShortBatch : kBatch) - 1);
      running.push_back(start(order, next, last));
      next = last + 1;
    }
    if (running.empty()) break;
    std::vector<pollfd> watched;
    for (const Batch& batch : running) watched.push_back({batch.pipe, POLLIN, 0});
    SEMEL_CHECK(::poll(watched.data(), watched.size(), -1) > 0);
    auto at = running.begin();
    for (const pollfd& one : watched) {
      const bool has_ended = one.revents != 0 && listen_to(*at);
      if (has_ended) {
        const std::uint64_t last = at->last;
        const auto rest = take(order, *at, outcome);
        at = running.erase(at);
        if (rest && go_on) running.push_front(start(order, *rest, last));
      } else {
        ++at;
      }
    }
  }
  std::ranges::sort(outcome.failed);
  return outcome;
}

}  // namespace semel::sim
