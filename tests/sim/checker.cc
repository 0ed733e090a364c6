// Reads a history once and hands each event to the rules that it concerns.
#include "tests/sim/checker.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/sim/checker_books.h"

namespace semel::sim {
namespace {

struct RuleRow {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array<RuleRow, kRuleCount> kRules = {{
    {"second-effect", "at most one effect per key within the window"},
    {"effect-after-release", "a released claim had no effect"},
    {"keys-mixed", "calls that differ have keys that differ"},
    {"forwarded-twice", "a call without a policy is forwarded once"},
    {"dispatch-without-grant", "nothing is sent without a granted claim"},
    {"dispatch-untold", "a claim whose answer is unknown is never dispatched"},
    {"dispatch-twice", "an EFFECTFUL request of which a byte may have left is never sent again"},
    {"dispatch-late", "the first byte leaves by dispatch_by, or none does"},
    {"dispatch-without-claim", "nothing is sent for a claim that is over"},
    {"fence-not-rising", "fences rise strictly over the whole store"},
    {"grant-unasked", "a claim is granted to the attempt that asked for that key"},
    {"grant-late", "a claim that reaches the store too late is not granted: nobody waits for it"},
    {"grant-while-held", "a claim is never granted to two"},
    {"effectful-reclaimed", "the claim of an EFFECTFUL call is never superseded"},
    {"indeterminate-run-again", "an unknown outcome is never run again before it is resolved"},
    {"window-cut-short",
     "a record is kept until its window, counted from its last change, is over"},
    {"claim-expired", "a claim has no expiry, only its lease"},
    {"stale-write-taken", "a write with an old token or fence changes nothing"},
    {"owner-refused", "while a claim or its unknown outcome stands, its owner's word is taken"},
    {"released-after-dispatch", "what may have been sent is released on the tool's refusal alone"},
    {"recorded-untold", "what is recorded is a whole answer of the tool to that attempt"},
    {"recorded-failure", "a status in release_on or indeterminate_on is not recorded"},
    {"record-overwritten", "the first recorded answer stays"},
    {"marked-early", "a holder is lost when its lease is over, not before"},
    {"marked-harmless", "the outcome of an IDEMPOTENT call is never unknown"},
    {"resolved-other", "an operator's word names one attempt and changes no other"},
    {"resolved-known", "an operator's word changes nothing where the outcome is known"},
    {"resolved-alive", "it did not happen is taken only once the attempt is over"},
    {"left-open", "a living owner that can reach the store settles its claim within the lease"},
    {"false-unknown", "a whole answer in time is no unknown outcome"},
    {"late-ignored", "a late answer of the same attempt is taken"},
    {"answer-untold", "a fresh answer is one that the tool gave to this call"},
    {"replay-differs", "a duplicate's answer is the recorded one"},
    {"replay-to-another", "another caller or payload gets no stored byte"},
    {"not-durable", "the last byte is sent after the record is durable"},
    {"word-untrue", "an answer says what it is"},
    {"refused-without-cause", "what a refusal says was so at some moment since the request"},
    {"repeat-invited", "no client is invited to repeat what may have had an effect"},
    {"not-answered", "a client that waits is answered"},
    {"cut-without-cause", "an answer that is whole is whole for the client"},
}};

void trouble(ProxyBook& proxy, At ProxyBook::* kind, At where) {
  proxy.*kind = where;
  proxy.troubles.push_back(where);
}

void end_disagreement(ProxyBook& proxy, At where) {
  if (std::exchange(proxy.disagrees, false)) proxy.disagreed = where;
}

void judge_machine(Books& books, At where) {
  const Happening& now = books.at(where);
  switch (now.kind) {
    case Kind::Killed:
      end_disagreement(books.proxy(now.proxy), where);  // The next one has not looked yet.
      return trouble(books.proxy(now.proxy), &ProxyBook::killed, where);
    case Kind::Paused:
    case Kind::Resumed:
      return trouble(books.proxy(now.proxy), &ProxyBook::paused, where);
    case Kind::StoreFault:
      return trouble(books.proxy(now.proxy), &ProxyBook::faulted, where);
    case Kind::RoutesChanged:
      books.proxy(now.proxy).disagrees = true;
      return;
    case Kind::RoutesAgreed:
      return end_disagreement(books.proxy(now.proxy), where);
    case Kind::StoreDown:
    case Kind::StoreUp:
      books.store_down = now.kind == Kind::StoreDown;
      for (ProxyBook& proxy : books.proxies) trouble(proxy, &ProxyBook::faulted, where);
      return;
    default:
      return;
  }
}

void send_call(Books& books, At where) {
  const Happening& now = books.at(where);
  CallBook& call = books.call(now.call);
  call.sent = where;
  call.key = now.key;
  books.proxy(now.proxy);  // So that a store that goes down is known to have troubled it.
  MeaningBook& meaning = books.meaning(now.key);
  meaning.sent = where;
  meaning.calls += 1;
  meaning.calls_by_proxy[now.proxy] += 1;
  meaning.payloads[now.payload] = where;
  meaning.callers[now.caller] = where;
}

void judge_event(Books& books, At where) {
  switch (books.at(where).kind) {
    case Kind::CallSent:
      return send_call(books, where);
    case Kind::CallAnswered:
      return judge_answer(books, where);
    case Kind::CallGivenUp:
      books.call(books.at(where).call).ended = where;
      return;
    case Kind::Dispatched:
      return judge_dispatch(books, where);
    case Kind::ToolReceived:
    case Kind::Effect:
    case Kind::ToolAnswered:
    case Kind::AnswerArrived:
      return judge_tool(books, where);
    case Kind::ClaimAsked:
    case Kind::Granted:
    case Kind::GrantedAgain:
    case Kind::Superseded:
    case Kind::GrantTold:
      return judge_claim(books, where);
    case Kind::Recorded:
    case Kind::Released:
    case Kind::Marked:
    case Kind::AttemptOver:
    case Kind::WriteStale:
      return judge_write(books, where);
    case Kind::ResolvedHappened:
    case Kind::ResolvedNotHappened:
      return judge_word_of_operator(books, where);
    case Kind::Expired:
    case Kind::Forgotten:
      return judge_end_of_record(books, where);
    case Kind::StoreFault:
    case Kind::StoreDown:
    case Kind::StoreUp:
    case Kind::Started:
    case Kind::Killed:
    case Kind::Paused:
    case Kind::Resumed:
    case Kind::ClockMoved:
    case Kind::RoutesChanged:
    case Kind::RoutesAgreed:
      return judge_machine(books, where);
  }
}

bool was_troubled(Books& books, const Suspicion& suspicion) {
  const std::vector<At>& troubles = books.proxy(suspicion.proxy).troubles;
  const auto first = std::upper_bound(troubles.begin(), troubles.end(), suspicion.since);
  return first != troubles.end() && books.at(*first).at <= suspicion.until;
}

void judge_ending(Books& books) {
  const At end = books.history.all().size() - 1;
  for (std::uint32_t id = 0; id < books.records.size(); ++id) {
    judge_open_claim(books, id, end);
    judge_late_answer(books, id, end);
  }
  for (Suspicion& suspicion : books.suspicions) {
    if (was_troubled(books, suspicion)) continue;
    Verdict& verdict = suspicion.verdict;
    books.blame(verdict.rule, verdict.key, verdict.record, std::move(verdict.events));
  }
  for (const CallBook& call : books.calls) {
    if (call.sent == kNever || call.ended != kNever) continue;
    const std::uint16_t proxy = books.at(call.sent).proxy;
    const At killed = books.proxy(proxy).killed;
    if (killed != kNever && killed > call.sent) continue;
    books.blame(Rule::NotAnswered, call.key, Happening::kNone, {call.sent});
  }
}

}  // namespace

std::string_view name(Rule rule) { return kRules[static_cast<std::size_t>(rule)].name; }

std::string_view sentence(Rule rule) { return kRules[static_cast<std::size_t>(rule)].sentence; }

void Books::blame(Rule rule, std::uint32_t key, std::uint32_t record, std::vector<At> events) {
  if (verdicts.size() >= kVerdictsMax) return;
  std::erase(events, kNever);
  std::sort(events.begin(), events.end());
  verdicts.push_back({rule, key, record, std::move(events)});
}

void Books::suspect(Rule rule, std::uint32_t key, std::uint32_t record, std::vector<At> events,
                    std::uint16_t suspected, At since) {
  // A call to the store has its deadline, and shows that it failed a little later.
  constexpr std::int64_t kStoreDeadline = 1'500'000'000;
  std::sort(events.begin(), events.end());
  const std::int64_t until = at(events.back()).at + kStoreDeadline;
  suspicions.push_back({{rule, key, record, std::move(events)}, suspected, since, until});
}

bool contains(const std::vector<std::uint16_t>& statuses, std::uint16_t status) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

std::vector<Verdict> judge(const History& history, Ending ending) {
  if (history.all().empty()) return {};
  Books books(history);
  books.attempts.reserve(history.all().size() / 8);
  for (At where = 0; where < history.all().size(); ++where) judge_event(books, where);
  if (ending == Ending::Settled) judge_ending(books);
  return std::move(books.verdicts);
}

std::string report(const History& history, const Verdict& verdict) {
  std::string text(name(verdict.rule));
  if (verdict.key != Happening::kNone) text += " key " + std::to_string(verdict.key);
  if (verdict.record != Happening::kNone) text += " record " + std::to_string(verdict.record);
  ((text += ": ") += sentence(verdict.rule)) += '\n';
  for (const std::size_t event : verdict.events) {
    text += "  [" + std::to_string(event) + "] " + line_of(history.all()[event]) + '\n';
  }
  return text;
}

}  // namespace semel::sim
