#pragma once

#include <ostream>
#include <span>

#include "tests/sim/checker.h"
#include "tests/sim/story.h"

namespace semel::sim {

/// A history that should not be, and the rule that it breaks.
struct BadHistory {
  const char* name;
  Rule rule;
  void (*tell)(Story&);
};
inline std::ostream& operator<<(std::ostream& out, const BadHistory& shown) {
  return out << shown.name;
}

/// By who went wrong.
[[nodiscard]] std::span<const BadHistory> bad_stores();
[[nodiscard]] std::span<const BadHistory> bad_wires();
[[nodiscard]] std::span<const BadHistory> bad_answers();

inline constexpr Story::Subject kBooking{0, 0, Story::kEffectful};
inline constexpr Story::Subject kPut{0, 0, Story::kIdempotent};
inline constexpr Story::Subject kPlain{0, Happening::kNone, Story::kPlain};

/// Claimed and sent; the tool took effect and has not answered.
inline void began(Story& story, const Story::Subject& of = kBooking) {
  story.sends(of, 0);
  story.claims(of, 0, 1);
  story.takes_effect(of, 1);
}

/// The same, and its time has passed.
inline void unanswered(Story& story) {
  began(story);
  story.pass(std::chrono::seconds(3));
  story.marks(kBooking, 0, Because::Open);
  story.retry(Retry::No);
  story.is_told(kBooking, 0, Word::Indeterminate, 409, 0);
  story.retry(Retry::Silent);
}

}  // namespace semel::sim
