#pragma once

#include <signal.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "tests/e2e/operator.h"
#include "tests/e2e/problems.h"

namespace semel::testing {

/// How much time a call of `CrashSite` has, and so how long its lease is.
struct CallTimes {
  std::string yaml;    ///< Lines of a route.
  milliseconds lease;  ///< What they add up to.
};
/// Nothing but a kill ends a call too early.
inline CallTimes ample_times() {
  return {"    dispatch_by: 10s\n    timeout: 10s\n    settle: 1s\n    lease_margin: 0s\n",
          milliseconds{31'000}};
}
/// A lease that a test can outwait.
inline CallTimes brief_times() {
  return {
      "    dispatch_by: 1s\n    timeout: 1s\n    stream_timeout: 400ms\n    settle: 300ms\n"
      "    lease_margin: 100ms\n",
      milliseconds{2'800}};
}

/// One EFFECTFUL tool, `/tools/book`, and one IDEMPOTENT one, `/tools/seat`, on a SQLite file.
/// @param more  Further top-level YAML.
inline GatewayOptions crash_options(const CallTimes& times, const std::string& binary,
                                    std::vector<std::string> environment,
                                    const std::string& more = {}) {
  GatewayOptions options;
  options.binary = binary;
  options.store = StoreKind::Sqlite;
  options.more = more;
  options.environment = std::move(environment);
  const std::string rest = "    upstream: tool\n" + times.yaml + (kToolKey + 1);
  options.routes =
      "routes:\n"
      "  - name: book\n    match: {methods: [POST], path: /tools/book}\n    policy: EFFECTFUL\n" +
      rest +
      "  - name: seat\n    match: {methods: [POST], path: /tools/seat}\n    policy: "
      "IDEMPOTENT\n" +
      rest;
  return options;
}

/// A `semel` with fail points on a SQLite file, with an operator, before a tool that counts its
/// effects by run.
class CrashSite {
 public:
  explicit CrashSite(const CallTimes& times, const std::string& binary = kWithFailPoints,
                     const std::string& more = {})
      : operated(crash_options(times, binary, {"SEMEL_FAIL_POINTS=" + plan_file()}, more)) {
    gateway.upstream.script([this](Turn& turn) { play(turn); });
  }

  /// What `semel_failpoints` is to do at that point from now on; at `tool_committed` it is the tool
  /// that sends the signal, between its effect and its answer.
  void arm(const std::string& point, int signal) {
    struck_ = gateway.semel.pid();
    tool_strikes_ = point == kToolCommitted ? signal : 0;
    write_file(plan_file(), point + (signal == SIGKILL ? " kill" : " stop"));
  }
  void disarm() {
    tool_strikes_ = 0;
    write_file(plan_file(), "");
  }

  /// @param run  One that begins with `long` has an answer that flows live.
  [[nodiscard]] Response call(const std::string& path, const std::string& run) const {
    return gateway.call_tool(path, kBooking, {{"X-Run-Id", run}});
  }
  [[nodiscard]] std::future<Response> begin(const std::string& path, const std::string& run) const {
    return std::async(std::launch::async, [this, path, run] { return call(path, run); });
  }

  [[nodiscard]] int effects_of(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return effects_[run];
  }

  static constexpr char kWithFailPoints[] = SEMEL_BINARY_DIR "/semel_failpoints";
  static constexpr char kToolCommitted[] = "tool_committed";
  static constexpr char kEffectful[] = "/tools/book";
  static constexpr char kIdempotent[] = "/tools/seat";

 private:
  std::string plan_file() const { return folder_.file("plan"); }

  void play(Turn& turn) {
    const std::string run = turn.request().all("X-Run-Id").at(0);
    {
      const std::lock_guard lock(mutex_);
      ++effects_[run];
    }
    turn.commit();
    if (const int signal = tool_strikes_.exchange(0); signal != 0) {
      ::kill(struck_, signal);
      // The answer must not overtake the stop.
      if (signal == SIGSTOP)
        static_cast<void>(eventually([&] { return gateway.semel.is_stopped(); }));
    }
    std::string body = "done for " + run;
    if (run.starts_with("long")) body.append(100'000, '.');
    turn.send(response_text(201, body));
  }

  TempFolder folder_;  // Before the gateway: its options name a file in it.
  std::mutex mutex_;
  std::map<std::string, int> effects_;
  std::atomic<pid_t> struck_{0};  ///< The process that runs while a point is armed.
  std::atomic<int> tool_strikes_{0};

 public:
  OperatedGateway operated;
  Gateway& gateway = operated.gateway;
};

/// What a client was told, in one word: its problem, else its Idempotency-Status, else `cut`.
inline std::string told(const Response& response) {
  if (!response.is_complete()) return "cut";
  if (response.header("Content-Type") == "application/problem+json") return problem_slug(response);
  return response.header("Idempotency-Status").value_or("nothing");
}

/// Expects what holds whatever happened between the first call and its repetition: at most one
/// effect where the tool is effectful, and an outcome that stays what it is.
inline void expect_laws(CrashSite& site, const std::string& path, const std::string& run,
                        int effects_before, const Response& first, const Response& retry) {
  const int effects = site.effects_of(run);
  if (path == CrashSite::kEffectful) {
    EXPECT_LE(effects, 1) << "the promise";
    if (told(retry) == "executed") {
      EXPECT_EQ(effects_before, 0) << "a second run";
    }
  }
  if (told(first) == "executed") {
    EXPECT_EQ(told(retry), "replayed") << "an answer that was given is durable";
    EXPECT_TRUE(retry.body == first.body);
  }
  const Response again = site.call(path, run);
  EXPECT_EQ(told(again), told(retry) == "executed" ? "replayed" : told(retry));
  EXPECT_EQ(site.effects_of(run), effects);
}

}  // namespace semel::testing
