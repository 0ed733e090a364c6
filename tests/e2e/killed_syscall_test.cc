// The program itself, killed by strace at the N-th call of one system call, for N = 1, 2, 3, ...
// until a call runs through: the laws of guarantee 11.3 hold at every one of these places.
#include <gtest/gtest.h>

#include "tests/e2e/crash_site.h"

namespace semel::testing {
namespace {

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

/// A strace that lets the process die as it enters the N-th such call.
class Killer {
 public:
  Killer(SemelProcess& semel, const std::string& call, int nth)
      : strace_(Process::Command{{"/usr/bin/strace", "-f", "-q", "-p", std::to_string(semel.pid()),
                                  "-o", "/dev/null", "-e", "trace=" + call, "-e",
                                  "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(nth)},
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

  /// Lets the process, where it lives, go on alone.
  void let_go() {
    strace_.kill(SIGTERM);
    strace_.wait(Deadline(milliseconds{10'000}));
  }

 private:
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
  Killer killer(semel, call, nth);
  const Response first = site.call(place.path, run);
  if (told(first) == "executed") killer.let_go();
  const bool lives = told(first) == "executed" && semel.is_running();
  if (!lives) {
    const std::optional<Exit> exit = semel.wait();
    EXPECT_TRUE(exit && exit->signal == SIGKILL) << told(first);
    semel.start();
  }
  const int before = site.effects_of(run);
  const Response retry = site.call(place.path, run);
  expect_laws(site, place.path, run, before, first, retry);
  return lives;
}

TEST(KilledSyscall, AtNoneOfThemACallRunsTwiceOrItsAnswerIsLost) {
  constexpr int kFarTooMany = 100;
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

}  // namespace
}  // namespace semel::testing
