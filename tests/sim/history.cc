// The log of a simulated world: ids for long names, one line an event, one number over all of it.
#include "tests/sim/history.h"

#include <array>
#include <cstdio>

#include "core/check.h"

namespace semel::sim {
namespace {

constexpr std::uint64_t kFnvStart = 14'695'981'039'346'656'037ULL;
constexpr std::uint64_t kFnvPrime = 1'099'511'628'211ULL;

void mix(std::uint64_t& sum, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    sum = (sum ^ (value & 0xff)) * kFnvPrime;
    value >>= 8;
  }
}

constexpr std::array<std::string_view, kKindCount> kKinds = {"call_sent",
                                                             "call_answered",
                                                             "call_given_up",
                                                             "dispatched",
                                                             "tool_received",
                                                             "effect",
                                                             "tool_answered",
                                                             "answer_arrived",
                                                             "claim_asked",
                                                             "granted",
                                                             "granted_again",
                                                             "superseded",
                                                             "grant_told",
                                                             "recorded",
                                                             "released",
                                                             "marked",
                                                             "attempt_over",
                                                             "write_stale",
                                                             "resolved_happened",
                                                             "resolved_not_happened",
                                                             "expired",
                                                             "forgotten",
                                                             "store_fault",
                                                             "store_down",
                                                             "store_up",
                                                             "started",
                                                             "killed",
                                                             "paused",
                                                             "resumed",
                                                             "clock_moved",
                                                             "routes_changed",
                                                             "routes_agreed"};

// The words of `Idempotency-Status`, then the last segments of the problems' types.
constexpr std::size_t kFirstProblem = static_cast<std::size_t>(Word::InFlight);
constexpr std::array<std::string_view, kWordCount> kWords = {"",
                                                             "executed",
                                                             "replayed",
                                                             "collapsed",
                                                             "unrecorded",
                                                             "marked-indeterminate",
                                                             "bypassed",
                                                             "in-flight",
                                                             "indeterminate",
                                                             "result-not-kept",
                                                             "key-reused",
                                                             "caller-mismatch",
                                                             "store-unavailable",
                                                             "store-suspect",
                                                             "overloaded",
                                                             "draining",
                                                             "too-many-waiters",
                                                             "quota",
                                                             "upstream-unreachable",
                                                             "upstream-timeout",
                                                             "upstream-failed",
                                                             "internal",
                                                             "other-problem"};

template <class Ids>
std::uint32_t id_of(Ids& ids, std::string_view bytes) {
  const auto known = ids.find(bytes);
  if (known != ids.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(ids.size());
  ids.emplace(std::string(bytes), id);
  return id;
}

void append_id(std::string& line, const char* letter, std::uint32_t id) {
  if (id != Happening::kNone) line += ' ' + (letter + std::to_string(id));
}

}  // namespace

std::string_view name(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string_view name(Word word) { return kWords[static_cast<std::size_t>(word)]; }

Word word_of(std::string_view status, std::string_view problem) {
  if (!problem.empty()) {
    for (std::size_t at = kFirstProblem; at < kWordCount; ++at) {
      if (kWords[at] == problem) return static_cast<Word>(at);
    }
    return Word::OtherProblem;
  }
  if (status == "indeterminate") return Word::MarkedIndeterminate;
  for (std::size_t at = 0; at < kFirstProblem; ++at) {
    if (kWords[at] == status) return static_cast<Word>(at);
  }
  return Word::None;
}

std::size_t History::add(const Happening& happening) {
  all_.push_back(happening);
  return all_.size() - 1;
}

void History::clear() { *this = History(); }

std::uint32_t History::record_of(std::string_view key_bytes) { return id_of(records_, key_bytes); }

std::uint32_t History::attempt_of(std::string_view token_bytes) {
  return id_of(attempts_, token_bytes);
}

void History::bind_reference(std::string_view reference_bytes, std::uint32_t attempt) {
  const auto [at, is_new] = references_.emplace(std::string(reference_bytes), attempt);
  SEMEL_CHECK(is_new || at->second == attempt);
}

std::uint32_t History::attempt_by_reference(std::string_view reference_bytes) const {
  const auto known = references_.find(reference_bytes);
  return known == references_.end() ? Happening::kNone : known->second;
}

std::uint64_t History::digest() const {
  std::uint64_t sum = kFnvStart;
  for (const Happening& h : all_) {
    mix(sum, static_cast<std::uint64_t>(h.at));
    mix(sum, h.digest);
    mix(sum, h.fence);
    mix(sum, std::uint64_t{h.call} << 32 | h.key);
    mix(sum, std::uint64_t{h.record} << 32 | h.attempt);
    mix(sum, std::uint64_t{h.payload} << 32 | std::uint32_t{h.caller} << 16 | h.status);
    mix(sum, std::uint64_t{h.proxy} << 16 | h.route);
    mix(sum, static_cast<std::uint64_t>(h.kind) << 24 | static_cast<std::uint64_t>(h.word) << 16 |
                 static_cast<std::uint64_t>(h.retry) << 8 | static_cast<std::uint64_t>(h.because));
    mix(sum, (h.cut ? 1U : 0U) | (h.bare ? 2U : 0U) | (h.excused ? 4U : 0U) | (h.flows ? 8U : 0U));
  }
  return sum;
}

std::string line_of(const Happening& h) {
  std::array<char, 48> time{};
  std::snprintf(time.data(), time.size(), "%lld.%09llds",
                static_cast<long long>(h.at / 1'000'000'000),
                static_cast<long long>(h.at % 1'000'000'000));
  std::string line = time.data();
  if (h.proxy != 0) line += " p" + std::to_string(h.proxy);
  append_id(line, "c", h.call);
  append_id(line, "k", h.key);
  append_id(line, "r", h.record);
  line += ' ';
  line += name(h.kind);
  append_id(line, "a", h.attempt);
  if (h.fence != 0) line += " f" + std::to_string(h.fence);
  if (h.payload != 0) line += " payload" + std::to_string(h.payload);
  if (h.caller != 0) line += " caller" + std::to_string(h.caller);
  if (h.status != 0) line += ' ' + std::to_string(h.status);
  if (h.word != Word::None) (line += ' ') += name(h.word);
  if (h.retry != Retry::Silent) line += h.retry == Retry::Yes ? " retry" : " no-retry";
  if (h.kind == Kind::Marked) {
    constexpr std::array kReasons = {" ended", " open", " owner-lost"};
    line += kReasons[static_cast<std::size_t>(h.because)];
  }
  if (h.digest != 0) {
    std::array<char, 20> hex{};
    std::snprintf(hex.data(), hex.size(), " #%016llx", static_cast<unsigned long long>(h.digest));
    line += hex.data();
  }
  if (h.cut) line += " cut";
  if (h.bare) line += " bare";
  if (h.flows) line += " flows";
  if (h.excused) line += " excused";
  return line;
}

std::uint64_t digest_of(std::string_view bytes) {
  std::uint64_t sum = kFnvStart;
  for (const char byte : bytes) sum = (sum ^ static_cast<std::uint8_t>(byte)) * kFnvPrime;
  return sum;
}

}  // namespace semel::sim
