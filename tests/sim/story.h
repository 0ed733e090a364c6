#pragma once

#include <map>

#include "tests/sim/history.h"

namespace semel::sim {

/// Histories written by hand, one event after the other, a millisecond apart. Two proxies, and
/// routes whose lease is 10 s: `kEffectful`, `kIdempotent` and `kPlain`.
class Story {
 public:
  static constexpr std::uint16_t kEffectful = 0;
  static constexpr std::uint16_t kIdempotent = 1;
  static constexpr std::uint16_t kPlain = 2;
  static constexpr std::uint64_t kAnswer = 77;  ///< The digest of the tool's answer.

  /// One call as a client means it, and the record that proxies make of it.
  struct Subject {
    std::uint32_t key = 0;
    std::uint32_t record = 0;
    std::uint16_t route = kEffectful;
  };

  Story() {
    using std::chrono::seconds;
    RouteTerms terms;
    terms.name = "book";
    terms.lease = seconds(10);
    terms.retention = seconds(100);
    terms.dispatch_by = seconds(1);
    terms.timeout = seconds(3);
    terms.settle = seconds(4);
    terms.release_on = {429};
    terms.indeterminate_on = {500, 503};
    history_.routes.push_back(terms);
    terms.name = "put";
    terms.policy = Policy::Idempotent;
    terms.indeterminate_retention = seconds(100);
    history_.routes.push_back(terms);
    terms.name = "plain";
    terms.policy = Policy::None;
    history_.routes.push_back(terms);
  }

  [[nodiscard]] const History& history() const { return history_; }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

  // A client.
  void sends(const Subject& of, std::uint32_t call, std::uint16_t proxy = 1) {
    Happening h = about(of, Kind::CallSent, proxy);
    h.record = Happening::kNone;
    h.call = call;
    h.payload = payload_;
    h.caller = caller_;
    sent_[proxy] = call;
    tell(h);
  }
  void is_told(const Subject& of, std::uint32_t call, Word word, std::uint16_t status,
               std::uint32_t attempt = Happening::kNone, std::uint16_t proxy = 1) {
    Happening h = about(of, Kind::CallAnswered, proxy);
    h.record = Happening::kNone;
    h.call = call;
    h.word = word;
    h.status = status;
    h.attempt = attempt;
    h.payload = payload_;
    h.caller = caller_;
    h.digest = word < Word::InFlight ? digest_ : 1;
    h.retry = retry_;
    h.cut = cut_;
    tell(h);
  }
  /// What all that follows is, until it is said otherwise.
  void payload(std::uint32_t payload) { payload_ = payload; }
  void caller(std::uint16_t caller) { caller_ = caller; }
  void retry(Retry retry) { retry_ = retry; }
  void digest(std::uint64_t digest) { digest_ = digest; }
  void cut(bool cut) { cut_ = cut; }

  // A proxy, the store and the tool.
  void claims(const Subject& of, std::uint32_t attempt, std::uint64_t fence,
              std::uint16_t proxy = 1) {
    note(of, Kind::ClaimAsked, attempt, 0, proxy);
    note(of, Kind::Granted, attempt, fence, proxy);
    note(of, Kind::GrantTold, attempt, fence, proxy);
  }
  void note(const Subject& of, Kind kind, std::uint32_t attempt, std::uint64_t fence = 0,
            std::uint16_t proxy = 1) {
    Happening h = about(of, kind, proxy);
    h.key = Happening::kNone;
    h.attempt = attempt;
    h.fence = fence;
    tell(h);
  }
  void records(const Subject& of, std::uint32_t attempt, std::uint16_t status = 200) {
    Happening h = about(of, Kind::Recorded, 1);
    h.key = Happening::kNone;
    h.attempt = attempt;
    h.status = status;
    h.digest = digest_;
    tell(h);
  }
  void marks(const Subject& of, std::uint32_t attempt, Because because) {
    Happening h = about(of, Kind::Marked, 1);
    h.key = Happening::kNone;
    h.attempt = attempt;
    h.because = because;
    tell(h);
  }
  enum class Clock { Watched, StoppedBefore };
  void dispatches(const Subject& of, std::uint64_t fence, std::uint16_t proxy = 1,
                  Clock clock = Clock::Watched) {
    Happening h = about(of, Kind::Dispatched, proxy);
    h.key = Happening::kNone;
    h.call = sent_[proxy];
    h.fence = fence;
    h.excused = clock == Clock::StoppedBefore;
    tell(h);
  }
  void tool(const Subject& of, Kind kind, std::uint64_t fence, std::uint16_t status = 0) {
    Happening h = about(of, kind, 0);
    h.fence = fence;
    h.payload = payload_;
    h.caller = caller_;
    h.status = status;
    h.digest = status == 0 ? 0 : digest_;
    h.cut = cut_;
    tell(h);
  }
  void takes_effect(const Subject& of, std::uint64_t fence, std::uint16_t proxy = 1) {
    dispatches(of, fence, proxy);
    tool(of, Kind::ToolReceived, fence);
    tool(of, Kind::Effect, fence);
  }
  void answers(const Subject& of, std::uint64_t fence, std::uint16_t status = 200) {
    tool(of, Kind::ToolAnswered, fence, status);
    tool(of, Kind::AnswerArrived, fence, status);
  }
  /// A whole call, from the request to its recorded answer.
  void runs(const Subject& of, std::uint32_t call, std::uint32_t attempt, std::uint64_t fence,
            std::uint16_t proxy = 1) {
    sends(of, call, proxy);
    claims(of, attempt, fence, proxy);
    takes_effect(of, fence, proxy);
    answers(of, fence);
    records(of, attempt);
    is_told(of, call, Word::Executed, 200, attempt, proxy);
  }
  void happens(Kind kind, std::uint16_t proxy = 0) {
    Happening h;
    h.kind = kind;
    h.proxy = proxy;
    tell(h);
  }

 private:
  static Happening about(const Subject& of, Kind kind, std::uint16_t proxy) {
    Happening h;
    h.kind = kind;
    h.key = of.key;
    h.record = of.record;
    h.route = of.route;
    h.proxy = proxy;
    return h;
  }
  void tell(Happening happening) {
    now_ += std::chrono::milliseconds(1);
    happening.at = now_.count();
    history_.add(happening);
  }

  std::map<std::uint16_t, std::uint32_t> sent_;  ///< The last call through each proxy.
  History history_;
  std::chrono::nanoseconds now_{0};
  std::uint64_t digest_ = kAnswer;
  std::uint32_t payload_ = 0;
  std::uint16_t caller_ = 0;
  Retry retry_ = Retry::Silent;
  bool cut_ = false;
};

}  // namespace semel::sim
