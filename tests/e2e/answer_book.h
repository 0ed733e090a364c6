#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/e2e/crash_site.h"

namespace semel::testing {

/// What clients were told about each run, by many at a time and whatever became of the program
/// meanwhile, and where it breaks the promise.
///
/// @thread All members may be called from any thread.
class AnswerBook {
 public:
  enum class Policy : std::uint8_t { Effectful, Idempotent };

  /// What was known of a run when a call of it began.
  struct Known {
    bool is_kept = false;     ///< Its recorded answer was told: no later call may be told another.
    bool is_unknown = false;  ///< That its outcome is unknown was told: it may not run any more.
  };
  [[nodiscard]] Known known(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return pages_[run].known;
  }

  /// Notes one answer. @return Whether the caller has no reason to ask again.
  bool note(const std::string& run, Policy policy, const Known& at_its_begin,
            const Response& answer) {
    const std::string word = told(answer);
    const std::lock_guard lock(mutex_);
    ++words_[word];
    Page& page = pages_[run];
    const bool answers = answer.is_complete() && answer.status == 201;
    if (answers) compare(run, policy, page, word, answer.body);
    if (at_its_begin.is_kept && (word == "executed" || word == "indeterminate")) {
      complain(run, "was " + word + " after its recorded answer had been told");
    }
    if (policy == Policy::Effectful && at_its_begin.is_unknown && word == "executed") {
      complain(run, "ran after its outcome had been told to be unknown");
    }
    if (word == "indeterminate") page.known.is_unknown = true;
    return answers || word == "indeterminate" || word == "result-not-kept";
  }
  void complain(const std::string& run, const std::string& what) {
    complaints_.push_back(run + " " + what);
  }

  /// How often each word was told.
  [[nodiscard]] std::map<std::string, int> words() {
    const std::lock_guard lock(mutex_);
    return words_;
  }
  [[nodiscard]] std::vector<std::string> complaints() {
    const std::lock_guard lock(mutex_);
    return complaints_;
  }

 private:
  struct Page {
    Known known;
    std::string body;  ///< Of the answer that was told first.
  };

  /// Equal answers only: of an EFFECTFUL run from the first on, of an IDEMPOTENT one from the first
  /// recorded on. A live answer has its word before its record: it is kept once it is replayed.
  void compare(const std::string& run, Policy policy, Page& page, const std::string& word,
               const std::string& body) {
    const bool is_live = run.starts_with("long");
    const bool kept = word == "replayed" || (word == "executed" && !is_live);
    const bool binds = policy == Policy::Effectful || page.known.is_kept;
    if (page.body.empty() || (!binds && kept)) page.body = body;
    if (binds && page.body != body) complain(run, "has two answers, the second " + word);
    page.known.is_kept = page.known.is_kept || kept;
  }

  std::mutex mutex_;
  std::map<std::string, Page> pages_;
  std::map<std::string, int> words_;
  std::vector<std::string> complaints_;
};

}  // namespace semel::testing
