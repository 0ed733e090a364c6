#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/sim/checker.h"

namespace semel::sim {

/// A place in the history; kNever: it did not happen.
using At = std::size_t;
inline constexpr At kNever = static_cast<At>(-1);

/// One claim token, from the asking on.
struct AttemptBook {
  At asked = kNever;  ///< The last time.
  At granted = kNever;
  At told = kNever;
  At dispatched = kNever;
  At received = kNever;
  At effect = kNever;
  At answered = kNever;  ///< The tool's whole answer.
  At arrived = kNever;   ///< The same, at the proxy.
  At released = kNever;
  At lost = kNever;   ///< A write of it changed nothing.
  At ruled = kNever;  ///< An operator said that it happened.
  std::uint32_t record = Happening::kNone;
  std::uint32_t epoch = 0;
  std::uint32_t payload = 0;
  std::uint16_t caller = 0;
  std::uint16_t proxy = 0;
  std::uint16_t route = 0;
  std::uint64_t fence = 0;
};

enum class Standing : std::uint8_t { Absent, InFlight, Completed, Indeterminate, Freed };
inline constexpr std::size_t kStandingCount = 5;

/// Status and digest of an answer.
using Answer = std::pair<std::uint16_t, std::uint64_t>;

/// One key of the store.
struct RecordBook {
  Standing standing = Standing::Absent;
  Because because = Because::Ended;
  bool bare = false;
  std::uint32_t attempt = Happening::kNone;
  std::uint32_t epoch = 0;  ///< Rises where the promise allows another run.
  std::uint32_t key = Happening::kNone;
  At since = 0;  ///< Where it came to stand so.
  std::int64_t lease_end = 0;
  std::int64_t changed_at = 0;
  Answer answer{};
  /// Where each standing ended last.
  std::array<At, kStandingCount> left{kNever, kNever, kNever, kNever, kNever};
  At left_bare = kNever;
  std::map<Answer, At> left_answer;      ///< Where each answer stood last.
  std::map<std::uint16_t, At> asked_by;  ///< Where each proxy asked for it last.
};

/// What is known of one call that clients meant, under whatever keys.
struct MeaningBook {
  std::uint32_t record = Happening::kNone;  ///< The last that a proxy made of it.
  At sent = kNever;                         ///< The last call.
  std::uint32_t calls = 0;
  std::uint32_t received = 0;
  At last_received = kNever;
  std::map<std::uint32_t, At> effects;  ///< By epoch: the first.
  std::map<Answer, At> told;            ///< The tool's whole answers, the last of each.
  std::map<std::uint32_t, At> payloads;
  std::map<std::uint16_t, At> callers;
  std::map<std::uint16_t, At> by_proxy;  ///< The last call through each, and
  std::map<std::uint16_t, std::uint32_t> calls_by_proxy;
};

struct CallBook {
  At sent = kNever;
  At ended = kNever;
  std::uint32_t key = Happening::kNone;
};

struct ProxyBook {
  At killed = kNever;
  At paused = kNever;
  At faulted = kNever;       ///< A call to the store went wrong, or the store was down.
  std::vector<At> troubles;  ///< All of these, in their order.
  bool disagrees = false;    ///< It sees that another one has changed its routes.
  At disagreed = kNever;     ///< Where that ended last.
};

/// What counts against a process only if nothing troubled it: a call to the store that was lost
/// shows itself at its deadline, and not before.
struct Suspicion {
  Verdict verdict;
  std::uint16_t proxy = 0;
  At since = kNever;
  std::int64_t until = 0;
};

/// Everything that the rules look at. Grows with the history, read in O(log n) of few entries.
struct Books {
  explicit Books(const History& told) : history(told) {}

  const History& history;
  std::vector<Verdict> verdicts;
  std::vector<Suspicion> suspicions;
  std::vector<AttemptBook> attempts;
  std::vector<RecordBook> records;
  std::vector<MeaningBook> meanings;
  std::vector<CallBook> calls;
  std::vector<ProxyBook> proxies;
  std::unordered_map<std::uint64_t, std::uint32_t> by_fence;
  std::uint64_t last_fence = 0;
  bool store_down = false;

  AttemptBook& attempt(std::uint32_t id) { return grown(attempts, id); }
  RecordBook& record(std::uint32_t id) { return grown(records, id); }
  MeaningBook& meaning(std::uint32_t id) { return grown(meanings, id); }
  CallBook& call(std::uint32_t id) { return grown(calls, id); }
  ProxyBook& proxy(std::uint16_t id) { return grown(proxies, id); }
  [[nodiscard]] const RouteTerms& terms(std::uint16_t route) const { return history.routes[route]; }
  [[nodiscard]] const Happening& at(At where) const { return history.all()[where]; }

  void blame(Rule rule, std::uint32_t key, std::uint32_t record, std::vector<At> events);
  /// A verdict unless that process was troubled between `since` and shortly after the last event.
  void suspect(Rule rule, std::uint32_t key, std::uint32_t record, std::vector<At> events,
               std::uint16_t suspected, At since);

 private:
  template <class T>
  static T& grown(std::vector<T>& table, std::size_t id) {
    if (id >= table.size()) table.resize(std::max(id + 1, table.size() * 2));
    return table[id];
  }
};

/// Each takes one event of its kind. In checker_store.cc.
void judge_claim(Books& books, At where);
void judge_write(Books& books, At where);
void judge_word_of_operator(Books& books, At where);
void judge_end_of_record(Books& books, At where);
/// A claim that its living owner left to its lease.
void judge_open_claim(Books& books, std::uint32_t record, At where);
/// The tool's answer came while it was still listened to, and the outcome stayed unknown.
void judge_late_answer(Books& books, std::uint32_t record, At where);

/// In checker_tool.cc.
void judge_dispatch(Books& books, At where);
void judge_tool(Books& books, At where);

/// In checker_answers.cc.
void judge_answer(Books& books, At where);

[[nodiscard]] bool contains(const std::vector<std::uint16_t>& statuses, std::uint16_t status);

}  // namespace semel::sim
