#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy.h"

namespace semel::sim {

/// What happened in a simulated world, as somebody saw it who sees everything: news from the
/// clients, from the tool, from the store and from the machines. Who writes what is in brackets.
enum class Kind : std::uint8_t {
  // [clients]
  CallSent,      ///< The whole request has been handed to the network.
  CallAnswered,  ///< Status, word, retry word, digest; cut: the answer broke off. No status: none.
  CallGivenUp,   ///< The client closed its connection and no longer wants an answer.
  // [the kernel: the wire between proxy and tool]
  Dispatched,  ///< The first byte of a request left the proxy. Its head names key and fence.
  // [the tool]
  ToolReceived,   ///< A whole request is there. Which call it is says its body, not its key.
  Effect,         ///< The tool took effect.
  ToolAnswered,   ///< The answer's last byte left the tool; cut: it was broken off.
  AnswerArrived,  ///< All bytes of a whole answer reached the proxy's socket.
  // [the store: at the moment of the change, not when the proxy learns of it]
  ClaimAsked,           ///< A proxy asks for the key (again). Names the attempt and its terms.
  Granted,              ///< The key was given, with a new fence.
  GrantedAgain,         ///< The same token found its own claim, with its old fence.
  Superseded,           ///< Granted in the place of an abandoned claim, with a new fence.
  GrantTold,            ///< The proxy has read a grant: of this attempt, with this fence.
  Recorded,             ///< Completed with this status and digest; bare: without its body.
  Released,             ///< The claim is gone.
  Marked,               ///< The outcome is unknown. By the owner, a reader or the sweep.
  AttemptOver,          ///< A mark on what was marked says that nothing more can come.
  WriteStale,           ///< A write of this attempt changed nothing: it owns nothing any more.
  ResolvedHappened,     ///< An operator named this attempt's reference; bare: no answer was given.
  ResolvedNotHappened,  ///< The same; the key is free.
  Expired,              ///< The record's window is over and it was erased.
  Forgotten,            ///< The tenant was forgotten: erased, if it was completed.
  StoreFault,           ///< A call of this proxy was lost, delayed past its deadline or refused.
  StoreDown,
  StoreUp,
  // [the machines]
  Started,
  Killed,
  Paused,
  Resumed,
  ClockMoved,     ///< The wall clock only.
  RoutesChanged,  ///< This proxy sees that another one has changed its routes, and
  RoutesAgreed,   ///< that they are again what the store remembers.
};
inline constexpr std::size_t kKindCount = static_cast<std::size_t>(Kind::RoutesAgreed) + 1;
[[nodiscard]] std::string_view name(Kind kind);

/// What an answer says of itself: `Idempotency-Status`, or the last segment of a problem's `type`.
enum class Word : std::uint8_t {
  None,  ///< Neither: an answer of an unguarded route.
  Executed,
  Replayed,
  Collapsed,
  Unrecorded,
  MarkedIndeterminate,  ///< The tool's own answer, with the word `indeterminate`.
  Bypassed,
  // Problems.
  InFlight,
  Indeterminate,
  ResultNotKept,
  KeyReused,
  CallerMismatch,
  StoreUnavailable,
  StoreSuspect,
  Overloaded,
  Draining,
  TooManyWaiters,
  Quota,
  UpstreamUnreachable,
  UpstreamTimeout,
  UpstreamFailed,
  Internal,
  OtherProblem,  ///< Any other refusal, among them those of a malformed request.
};
inline constexpr std::size_t kWordCount = static_cast<std::size_t>(Word::OtherProblem) + 1;
[[nodiscard]] std::string_view name(Word word);
/// @param status   The value of `Idempotency-Status`; empty: absent.
/// @param problem  The last segment of the problem's `type`; empty: the answer is no problem.
[[nodiscard]] Word word_of(std::string_view status, std::string_view problem);

/// `x-should-retry`.
enum class Retry : std::uint8_t { Silent, Yes, No };

/// Why an outcome is unknown, as far as a judge has to know.
enum class Because : std::uint8_t {
  Ended,      ///< The tool ended it (cut, a status): nothing more can come.
  Open,       ///< The tool may be at work still (timeout, malformed, our own failure).
  OwnerLost,  ///< A reader or the sweep says so.
};

/// One thing that happened, in 64 bytes. Which fields mean something, the kind says.
struct Happening {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::int64_t at = 0;           ///< Nanoseconds of the simulation's own time, which never jumps.
  std::uint64_t digest = 0;      ///< Of an answer's body. Equal bodies, equal digests; 0: none.
  std::uint64_t fence = 0;       ///< 0: not known.
  std::uint32_t call = kNone;    ///< One request of one client; a retry is another call.
  std::uint32_t key = kNone;     ///< What the client meant: calls that are one call share it. Known
                                 ///< to clients and to the tool, never to a proxy.
  std::uint32_t record = kNone;  ///< What a proxy made of that: its key, interned.
  std::uint32_t attempt = kNone;  ///< A claim's token, or the reference that was drawn with it.
  std::uint32_t payload = 0;      ///< Which guards and fingerprint the request carries.
  std::uint16_t caller = 0;       ///< Who asks.
  std::uint16_t status = 0;
  std::uint16_t proxy = 0;  ///< From 1; 0: none.
  std::uint16_t route = 0;  ///< Index into History::routes.
  Kind kind = Kind::CallSent;
  Word word = Word::None;
  Retry retry = Retry::Silent;
  Because because = Because::Ended;
  bool cut = false;
  bool bare = false;
  bool flows = false;    ///< ToolAnswered: longer than 64 KiB, or an event stream.
  bool excused = false;  ///< Dispatched: the proxy was stopped between its last look at the clock
                         ///< and this byte. CallAnswered: the simulation broke the connection.
};

/// What the configuration of the simulated world promises on one route.
struct RouteTerms {
  std::string name;
  Policy policy = Policy::Effectful;
  std::chrono::nanoseconds lease{0};
  std::chrono::nanoseconds retention{0};
  std::optional<std::chrono::nanoseconds> indeterminate_retention;  ///< Absent: never.
  std::chrono::nanoseconds dispatch_by{0};
  std::chrono::nanoseconds timeout{0};
  std::chrono::nanoseconds stream_timeout{0};  ///< 0: as long as timeout.
  std::chrono::nanoseconds settle{0};
  std::vector<std::uint16_t> release_on;
  std::vector<std::uint16_t> indeterminate_on;
  bool forwards_when_down = false;  ///< `on_store_down: forward`.
};

/// Everything that happened, in its order, and the names of the ids in it.
class History {
 public:
  /// @return its index, for amend().
  std::size_t add(const Happening& happening);
  /// What became known later of something that is here already (the head of a request whose first
  /// byte had left before).
  [[nodiscard]] Happening& amend(std::size_t index) { return all_[index]; }
  [[nodiscard]] const std::vector<Happening>& all() const { return all_; }
  void reserve(std::size_t count) { all_.reserve(count); }
  void clear();

  std::vector<RouteTerms> routes;
  /// Later than this after it was asked for, no claim is granted.
  std::chrono::nanoseconds claim_deadline{std::chrono::seconds(1)};

  /// A small number for a key's, a token's or a reference's bytes; the same for the same bytes.
  [[nodiscard]] std::uint32_t record_of(std::string_view key_bytes);
  [[nodiscard]] std::uint32_t attempt_of(std::string_view token_bytes);
  /// The reference names the same attempt as the token that was drawn with it.
  void bind_reference(std::string_view reference_bytes, std::uint32_t attempt);
  /// @return kNone: nobody drew it.
  [[nodiscard]] std::uint32_t attempt_by_reference(std::string_view reference_bytes) const;

  /// One number over everything that happened: two runs of one seed have the same.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  using Ids = std::map<std::string, std::uint32_t, std::less<>>;
  std::vector<Happening> all_;
  Ids records_;
  Ids attempts_;
  Ids references_;
};

/// One line without its end: `12.345678s p2 k7 granted a3 f12`.
[[nodiscard]] std::string line_of(const Happening& happening);
/// FNV-1a, for bodies: a digest of no bytes is not 0.
[[nodiscard]] std::uint64_t digest_of(std::string_view bytes);

}  // namespace semel::sim
