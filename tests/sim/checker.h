#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/history.h"

namespace semel::sim {

/// What no history may show. Each is a sentence of docs/guarantee.md or of docs/store-contract.md;
/// sentence() says it in words.
enum class Rule : std::uint8_t {
  // The tool.
  SecondEffect,
  EffectAfterRelease,
  KeysMixed,
  ForwardedTwice,  ///< Of a plain call.
  // Sending.
  DispatchWithoutGrant,
  DispatchUntold,
  DispatchTwice,
  DispatchLate,
  DispatchWithoutClaim,
  // The store.
  FenceNotRising,
  GrantUnasked,
  GrantLate,
  GrantWhileHeld,
  EffectfulReclaimed,
  IndeterminateRunAgain,
  WindowCutShort,
  ClaimExpired,
  StaleWriteTaken,
  OwnerRefused,
  ReleasedAfterDispatch,
  RecordedUntold,
  RecordedFailure,
  RecordOverwritten,
  MarkedEarly,
  MarkedHarmless,
  ResolvedOther,
  ResolvedKnown,
  ResolvedAlive,
  // What an owner owes.
  LeftOpen,
  FalseUnknown,
  LateIgnored,
  // What a client is told.
  AnswerUntold,
  ReplayDiffers,
  ReplayToAnother,
  NotDurable,
  WordUntrue,
  RefusedWithoutCause,
  RepeatInvited,
  NotAnswered,
  CutWithoutCause,
};
inline constexpr std::size_t kRuleCount = static_cast<std::size_t>(Rule::CutWithoutCause) + 1;
/// `second-effect`.
[[nodiscard]] std::string_view name(Rule rule);
/// The law that was broken, as a user would say it.
[[nodiscard]] std::string_view sentence(Rule rule);

struct Verdict {
  Rule rule = Rule::SecondEffect;
  std::uint32_t key = Happening::kNone;     ///< What the client meant, where that is known.
  std::uint32_t record = Happening::kNone;  ///< What the proxies made of it, where that is known.
  std::vector<std::size_t> events;          ///< Those that prove it, as indices, oldest first.
};

/// Whether what is still open at the history's end may be held against anybody.
enum class Ending : std::uint8_t {
  Settled,  ///< The world was left alone until nothing moved any more.
  Sudden,   ///< The history just stops.
};

/// Judges a whole history, key by key, in one pass: its cost is linear in its length.
/// @return What was broken, in the order in which it showed; at most kVerdictsMax.
[[nodiscard]] std::vector<Verdict> judge(const History& history, Ending ending = Ending::Settled);
inline constexpr std::size_t kVerdictsMax = 64;

/// Rule, key, sentence and the events' lines.
[[nodiscard]] std::string report(const History& history, const Verdict& verdict);

}  // namespace semel::sim
