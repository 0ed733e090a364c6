#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/e2e/crash_site.h"
#include "tests/e2e/effect_tool.h"
#include "tests/e2e/nth_call.h"
#include "tests/e2e/scene.h"

namespace semel::testing {

/// A `semel` on a SQLite file, whose N-th system call is struck, before a tool that counts.
class FaultRig {
 public:
  explicit FaultRig(const CallTimes& times = ample_times())
      : gateway(crash_options(times, semel_binary(), strikes.environment())) {
    gateway.upstream.script([this](Turn& turn) { tool.play(turn); });
  }

  [[nodiscard]] Response ask(const Scene& scene, const std::string& run) {
    ++keyed_calls;
    return gateway.call_tool(scene.path, kBooking, {{"X-Run-Id", run}});
  }
  /// Asks again for as long as it is told one of these words: a machine may be slow for a moment.
  [[nodiscard]] Response ask_past(const std::set<std::string>& words, const Scene& scene,
                                  const std::string& run) {
    Response response;
    static_cast<void>(eventually([&] {
      response = ask(scene, run);
      return !words.contains(told(response));
    }));
    return response;
  }
  void start_again() {
    gateway.semel.kill9();
    gateway.semel.start();
  }
  [[nodiscard]] std::string next_run(const Scene& scene) {
    return scene.run + std::string("-") + std::to_string(++runs_);
  }

  /// Plays the scene once, with a blow; then again, until what it left is known, and expects that
  /// it keeps the promise.
  /// @return What the client was told; absent where the blow struck nothing.
  std::optional<std::string> strike(const Scene& scene, const Place& place, bool on_a_fresh_start) {
    const std::string run = next_run(scene);
    SCOPED_TRACE(std::string(scene.name) + ", " + run + ": " + place.blow.name + " at " +
                 name(place.call) + " " + std::to_string(place.nth));
    std::optional<Response> before;
    if (scene.before != Scene::Before::Nothing) before = ask(scene, run);
    if (on_a_fresh_start || scene.before == Scene::Before::ItsAnswerOnDisk) start_again();
    strikes.arm(place.call, place.blow, place.nth);
    const Response first = ask(scene, run);
    // What the store still does behind an answer it has done before it gives the next one.
    if (scene.carries_over() && !strikes.has_struck()) {
      static_cast<void>(ask(scene, next_run({"", scene.path, "short"})));
    }
    const bool struck = strikes.disarm();
    revive(struck && place.kills());
    judge(scene, place, run, before ? *before : first, first);
    if (!struck) return std::nullopt;
    ++faults;
    return told(first);
  }

  /// Expects of every call so far that a process which starts now tells what was told last.
  void expect_nothing_is_forgotten() {
    start_again();
    for (const auto& [run, last] : last_) {
      SCOPED_TRACE(run);
      const Response later = ask(last.scene, run);
      EXPECT_EQ(told(later), told(last.answer));
      EXPECT_TRUE(later.body == last.answer.body || told(later) != "replayed");
    }
    last_.clear();
    EXPECT_EQ(second_effects, 0) << "the promise";
  }

  EffectTool tool;
  NthCall strikes;
  Gateway gateway;
  int keyed_calls = 0;
  int faults = 0;
  int second_effects = 0;  ///< Of EFFECTFUL calls.

 private:
  struct Last {
    Scene scene;
    Response answer;
  };

  void revive(bool was_killed) {
    SemelProcess& semel = gateway.semel;
    if (!was_killed && semel.is_running()) return;
    const std::optional<Exit> exit = semel.wait();
    EXPECT_TRUE(was_killed) << "it died of what it should have survived:\n" << semel.stderr_text();
    EXPECT_TRUE(exit && exit->signal == (was_killed ? SIGKILL : 0));
    semel.start();
  }

  void judge(const Scene& scene, const Place& place, const std::string& run, const Response& given,
             const Response& first) {
    EXPECT_NE(name(first.end), "timed out") << "nobody is left waiting";
    const int before = tool.effects_of(run);
    if (says_not_dispatched(first)) {
      EXPECT_EQ(before, scene.before == Scene::Before::Nothing ? 0 : 1) << told(first);
    }
    Response retry = ask(scene, run);
    if (told(retry) == "store-unavailable" && place.may_break_the_store()) {
      start_again();
    }
    if (told(retry) == "store-unavailable") retry = ask_past({"store-unavailable"}, scene, run);
    EXPECT_NE(told(retry), "store-unavailable") << "a store that is down without need";
    if (retry.status == 400) {  // The tool's refusal, which frees the key: then it runs.
      EXPECT_EQ(tool.effects_of(run), 0);
      retry = ask(scene, run);
    }
    expect_allowed(scene, place, told(retry));
    if (told(retry) == "executed" && scene.is_effectful()) {
      EXPECT_EQ(before, 0) << "a second run; the first was told " << told(first);
    }
    if (is_kept(given) && !may_be_lost(scene, place, told(retry))) {
      EXPECT_EQ(told(retry), "replayed") << "an answer that was given is durable";
      EXPECT_TRUE(retry.body == given.body);
    }
    const Response again = ask(scene, run);
    const bool is_known = told(retry) == "executed" || told(retry) == "collapsed";
    EXPECT_EQ(told(again), is_known ? "replayed" : told(retry));
    EXPECT_TRUE(again.body == retry.body || !is_kept(again)) << "replays are equal";
    if (scene.is_effectful()) {
      EXPECT_LE(tool.effects_of(run), 1) << "the promise";
      second_effects += std::max(0, tool.effects_of(run) - 1);
    }
    last_.insert_or_assign(run, Last{scene, again});
    if (!place.kills()) expect_works(scene);
  }

  void expect_works(const Scene& scene) {
    const std::string run = next_run({"", scene.path, "short"});
    EXPECT_TRUE(eventually([&] {
      const std::string word = told(ask(scene, run));
      return word == "executed" || word == "replayed";
    })) << "it heals by itself, or by a restart where the rule says so";
  }

  static void expect_allowed(const Scene& scene, const Place& place, const std::string& word) {
    std::set<std::string> allowed = {"executed", "replayed", "collapsed"};
    if (scene.is_effectful()) allowed.insert("indeterminate");
    if (place.fills_the_disk()) allowed.insert("result-not-kept");
    EXPECT_TRUE(allowed.contains(word)) << word;
  }

  /// An answer that its client has whole, and later ones have not (guarantee 5.5 and 5.6).
  static bool may_be_lost(const Scene& scene, const Place& place, const std::string& retry) {
    return (place.fills_the_disk() && retry == "result-not-kept") ||
           (place.may_break_the_store() && scene.flows_live() && retry == "indeterminate");
  }

  static bool is_kept(const Response& response) {
    return response.status == 201 && (told(response) == "executed" || told(response) == "replayed");
  }

  static bool says_not_dispatched(const Response& response) {
    return response.is_complete() &&
           response.header("Content-Type") == "application/problem+json" &&
           Json::parse(response.body)["dispatched"].text() == "false";
  }

  int runs_ = 0;
  std::map<std::string, Last> last_;
};

}  // namespace semel::testing
