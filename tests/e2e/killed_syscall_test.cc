// The program itself, killed or stopped by strace at the N-th call of one system call, for N = 1,
// 2, 3, ... until a call runs through: the laws of guarantee 11.3 hold at every one of these
// places.
#include <gtest/gtest.h>

#include <deque>

#include "tests/e2e/crash_matrix.h"
#include "tests/e2e/crash_site.h"

namespace semel::testing {
namespace {

constexpr int kFarTooMany = 100;

/// Whether every thread of the process is watched.
bool is_traced(pid_t pid) {
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(folder, gone)) {
    const std::string status = read_file(thread.path() / "status");
    if (status.find("TracerPid:\t0\n") != std::string::npos) return false;
  }
  return !gone;
}

/// A strace that sends the process a signal as it enters the N-th such call.
class Injection {
 public:
  Injection(SemelProcess& semel, const std::string& call, const std::string& signal, int nth)
      : semel_(semel),
        strace_(Process::Command{
            {"/usr/bin/strace", "-f", "-q", "-p", std::to_string(semel.pid()), "-o",
             folder_.file("trace"), "-e", "trace=" + call, "-e",
             "inject=" + call + ":signal=" + signal + ":when=" + std::to_string(nth)},
            {},
            folder_.file("out"),
            folder_.file("err")}) {
    const bool settled =
        eventually([&] { return is_traced(semel.pid()) || !strace_.is_running(); });
    // A thread that waits enters its call anew when it is watched, and may die of it at once.
    if (!settled || (!strace_.is_running() && semel.is_running())) {
      throw std::runtime_error("strace does not watch: " + read_file(folder_.file("err")));
    }
  }

  /// The process stands still: a watched one has no state of its own that says so.
  [[nodiscard]] bool has_stopped_it() const {
    return read_file(folder_.file("trace")).find("--- stopped by SIGSTOP ---") != std::string::npos;
  }

  /// Lets the process, where it lives, go on alone. A strace that hangs in its farewell is killed:
  /// the kernel then lets go of what it held, which may have been left stopped.
  void let_go() {
    strace_.kill(SIGTERM);
    if (!strace_.wait(Deadline(milliseconds{3'000}))) {
      strace_.kill(SIGKILL);
      strace_.wait(Deadline(milliseconds{10'000}));
    }
    semel_.sigcont();
  }

 private:
  SemelProcess& semel_;
  TempFolder folder_;
  Process strace_;
};

struct Place {
  const char* path;
  const char* run;  ///< See `CrashSite::call`.
  std::vector<const char*> calls;
};

std::vector<Place> places() {
  const std::vector<const char*> all = {"accept4",   "recvfrom",  "pwrite64", "fdatasync",
                                        "socket",    "connect",   "sendmsg",  "futex",
                                        "epoll_ctl", "epoll_wait"};
  return {{CrashSite::kEffectful, "short-", all},
          {CrashSite::kIdempotent, "short-", all},
          {CrashSite::kEffectful, "long-", {"recvfrom", "pwrite64", "fdatasync", "sendmsg"}}};
}

/// @return true: the call and its record came through, so there is no later place.
bool survives(CrashSite& site, const Place& place, const char* call, int nth) {
  const std::string run = place.run + std::string(call) + "-" + std::to_string(nth);
  SCOPED_TRACE(place.path + std::string(" ") + run);
  SemelProcess& semel = site.gateway.semel;
  Injection killer(semel, call, "SIGKILL", nth);
  const Response first = site.call(place.path, run);
  if (told(first) == "executed") killer.let_go();
  const auto start_again = [&] {
    const std::optional<Exit> exit = semel.wait();
    EXPECT_TRUE(exit && exit->signal == SIGKILL) << told(first);
    semel.start();
  };
  bool lives = told(first) == "executed" && semel.is_running();
  if (!lives) start_again();
  const int before = site.effects_of(run);
  Response retry = site.call(place.path, run);
  if (lives && told(retry) == "cut") {  // The kill was on its way behind the first answer.
    lives = false;
    start_again();
    retry = site.call(place.path, run);
  }
  expect_laws(site, place.path, run, before, first, retry);
  return lives;
}

TEST(KilledSyscall, AtNoneOfThemACallRunsTwiceOrItsAnswerIsLost) {
  CrashSite site(ample_times(), semel_binary());
  for (const Place& place : places()) {
    for (const char* call : place.calls) {
      site.gateway.semel.kill9();  // With a connection in its pool it would not ask for one.
      site.gateway.semel.start();
      int nth = 1;
      while (nth < kFarTooMany && !survives(site, place, call, nth)) ++nth;
      std::printf("%s %s%s: killed at %d places\n", place.path, place.run, call, nth - 1);
      EXPECT_GT(nth, 1) << "a call does without " << call;
      EXPECT_LT(nth, kFarTooMany) << call;
    }
  }
}

/// @return true: the call came through without a stop.
bool runs_on(CrashSite& site, const std::string& call, int nth) {
  const std::string run = "short-" + call + "-" + std::to_string(nth);
  SCOPED_TRACE(run);
  Injection stopper(site.gateway.semel, call, "SIGSTOP", nth);
  std::future<Response> pending = site.begin(CrashSite::kEffectful, run);
  const auto is_over = [&] {
    return pending.wait_for(milliseconds{0}) == std::future_status::ready;
  };
  EXPECT_TRUE(eventually([&] { return stopper.has_stopped_it() || is_over(); }));
  const bool stopped = stopper.has_stopped_it();
  if (stopped) std::this_thread::sleep_for(brief_times().lease);  // What the stop is about.
  site.gateway.semel.sigcont();
  const Response first = pending.get();
  stopper.let_go();
  const int before = site.effects_of(run);
  const Response retry = site.call(CrashSite::kEffectful, run);
  std::printf("%s: %s, then %s\n", run.c_str(), told(first).c_str(), told(retry).c_str());
  expect_laws(site, CrashSite::kEffectful, run, before, first, retry);
  if (told(first) == "store-unavailable") {
    EXPECT_EQ(told(retry), "executed") << "a call that was not dispatched leaves nothing unknown";
  }
  return !stopped;
}

TEST(StoppedSyscall, PastTheLeaseAtNoneOfThemACallRunsTwice) {
  std::deque<CrashSite> sites;
  std::vector<std::function<void()>> jobs;
  for (const std::string call :
       {"accept4", "recvfrom", "pwrite64", "fdatasync", "socket", "connect", "sendmsg"}) {
    CrashSite& site = sites.emplace_back(brief_times(), semel_binary());
    jobs.emplace_back([&site, call] {
      int nth = 1;
      while (nth < kFarTooMany && !runs_on(site, call, nth)) ++nth;
      EXPECT_GT(nth, 1) << "a call does without " << call;
      EXPECT_LT(nth, kFarTooMany) << call;
    });
  }
  run_together(jobs);
}

}  // namespace
}  // namespace semel::testing
