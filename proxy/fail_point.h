#pragma once

#include <chrono>
#include <cstdint>

namespace semel::proxy {

/// The places of the promise at which the tests let the process die or stand still
/// (tests/support/fail_points).
enum class FailPoint : std::uint8_t {
  BeforeClaim,     ///< The clock of `dispatch_by` runs; the store was not asked.
  AfterClaim,      ///< Granted, and the exchange knows it.
  BeforeDispatch,  ///< A connection is there; the last look at the clock comes next.
  AfterDispatch,   ///< The kernel has taken a byte of the request.
  AfterAnswer,     ///< The tool's answer is whole.
  LateAnswer,      ///< The same after its time was over.
  BeforeRecord,    ///< The store was not told.
  AfterRecord,     ///< The store has answered.
  BeforeReply,     ///< No byte of the answer has left.
  MidReply,        ///< A piece of a live answer has left, but not its last byte.
};

#ifdef SEMEL_FAIL_POINTS
/// Lets happen what the test has planned for this point.
/// @thread Any.
void fail_point(FailPoint point);
/// How long a follower waits for news from elsewhere before it looks for itself: as long as the
/// test says.
std::chrono::milliseconds until_next_look(std::chrono::milliseconds usual);
#else
/// Nothing: only the tests' program `semel_failpoints` stops here.
[[gnu::always_inline]] constexpr void fail_point(FailPoint) {}
[[gnu::always_inline]] constexpr std::chrono::milliseconds until_next_look(
    std::chrono::milliseconds usual) {
  return usual;
}
#endif

}  // namespace semel::proxy
