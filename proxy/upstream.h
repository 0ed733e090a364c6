#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"
#include "core/upstream_end.h"
#include "io/dial.h"
#include "io/tcp.h"
#include "proxy/arena.h"
#include "proxy/body_framing.h"
#include "proxy/forwarded_request.h"
#include "proxy/recycled.h"
#include "proxy/request_body.h"
#include "proxy/upstream_pool.h"

namespace semel::proxy {

class Counter;

/// Why an upstream call is not Answered.
enum class CallFailure : std::uint8_t {
  None,
  Unreachable,  ///< NeverSent: nobody to send it to.
  NoSlot,       ///< NeverSent: every connection was in use until it was too late to wait on.
  TooLate,      ///< NeverSent: `dispatch_by` had passed before the first byte.
  Withheld,     ///< NeverSent: LastWord said no.
  Timeout,
  Cut,
  Malformed,
};

/// The word of the access log; empty for None.
[[nodiscard]] constexpr std::string_view name(CallFailure failure) {
  constexpr std::string_view kNames[] = {"",         "unreachable", "no_slot", "too_late",
                                         "withheld", "timeout",     "cut",     "malformed"};
  return kNames[static_cast<std::size_t>(failure)];
}

/// Has the last word before the first byte, after every wait of the attempt: the world may have
/// changed meanwhile.
struct LastWord {
  bool (*permits)(void* speaker) = nullptr;  ///< Null: nobody objects.
  void* speaker = nullptr;

  [[nodiscard]] bool is_yes() const { return permits == nullptr || permits(speaker); }
};

/// One worker's side of one configured upstream.
struct UpstreamSite {
  UpstreamSite(Executor home, Deadlines& sweep, BufferPool& blocks, const config::Upstream& what)
      : executor(home),
        deadlines(sweep),
        buffers(blocks),
        config(what),
        pool(what.endpoints.size(), what.connections_max) {}
  Executor executor;
  Deadlines& deadlines;
  BufferPool& buffers;
  const config::Upstream& config;
  UpstreamPool pool;
  std::size_t next_endpoint = 0;
  std::vector<std::string> spare_heads;  ///< Rendered requests' rooms, to be used again.
  /// Calls that are still heard after their time. They hold no slot of the pool: a tool that hangs
  /// must not keep those out who come after; but there are at most as many again.
  std::size_t late_calls = 0;
};

/// Starts a coroutine on the worker, held by its gate.
using Spawn = std::function<void(Task<>)>;

/// One attempt: one request on one connection, and the answer to it. It never retries by itself
/// once a byte may have left (spec 7).
/// @thread One worker's.
class UpstreamCall : public Recycled<UpstreamCall> {
 public:
  using Clock = Deadlines::Clock;

  /// Before the first byte.
  struct Dispatch {
    std::chrono::nanoseconds not_after;  ///< CLOCK_BOOTTIME; nothing is sent later.
    Clock::time_point connect_until;     ///< A slot is waited for until then, too.
    Clock::duration pooled_age_max;      ///< Oldest last answer of a pooled connection.
    LastWord last_word;
    Counter* waiting = nullptr;  ///< Of the calls that wait for a slot; null: nobody counts them.
  };

  UpstreamCall(UpstreamSite& site, const Spawn& spawn);
  ~UpstreamCall();
  UpstreamCall(const UpstreamCall&) = delete;
  UpstreamCall& operator=(const UpstreamCall&) = delete;

  /// Sends the request, once there is a slot of the pool for it. What the kernel does not take at
  /// once goes on while the answer is read.
  /// @param request, body, stream  Must outlive the call. `stream` follows `body`; null: `body` is
  /// all.
  /// @return NeverSent with failure() Unreachable, NoSlot, TooLate or Withheld; Unanswered never;
  /// Answered: a byte left.
  [[nodiscard]] Task<UpstreamEnd> send(const ForwardedRequest& request, std::string_view body,
                                       RequestBody* stream, Dispatch dispatch);

  /// Reads the final response's head. 1xx are skipped, at most 16.
  /// @return Answered: head() is there. Unanswered: failure() says why.
  [[nodiscard]] Task<UpstreamEnd> read_head(Clock::time_point until);
  [[nodiscard]] const ResponseHead& head() const { return head_; }
  /// The head and everything that arrived with it stay where they are until the first body read.
  [[nodiscard]] bool has_head() const { return has_head_; }

  struct Piece {
    enum class End : std::uint8_t { More, Last, Broken };
    End end = End::More;
    std::string_view data;  ///< Good until the next call. The head's views are, too.
  };
  /// The next piece of the body, from what is here already. More without data: it has to be waited
  /// for.
  [[nodiscard]] Piece piece_now();
  [[nodiscard]] Task<Piece> piece(Clock::time_point until);
  [[nodiscard]] bool ended_at_close() const { return framing_.ends_at_close(); }

  /// Ends the sending, so that the call may be heard after its request, body and stream are gone.
  /// @return false: not the whole request has left, the end is known already, or too many are
  /// heard.
  [[nodiscard]] Task<bool> outlive_request();

  /// Ends the call: the connection goes back to the pool if the answer was complete and nothing
  /// else came, else it is closed. Waits for a request body that is still being sent.
  [[nodiscard]] Task<> finish();

  /// False: proof that no byte of the request has left on this call.
  [[nodiscard]] bool may_have_sent() const { return may_have_sent_; }
  [[nodiscard]] CallFailure failure() const { return failure_; }
  /// How reading the client's streaming body ended, when that ended the call.
  [[nodiscard]] RequestBody::End request_body_end() const { return request_body_end_; }
  /// When the first byte left.
  [[nodiscard]] Clock::time_point sent_at() const { return sent_at_; }
  [[nodiscard]] Connection* connection() { return connection_.get(); }

 private:
  struct Pump;
  [[nodiscard]] Task<bool> send_on(std::unique_ptr<Connection> connection,
                                   const ForwardedRequest& request, std::string_view body,
                                   RequestBody* stream);
  [[nodiscard]] static Task<> run_pump(std::shared_ptr<Pump> pump);
  [[nodiscard]] Task<bool> read_more(Clock::time_point until);
  void fail(CallFailure failure) { failure_ = failure; }
  void complete() {
    complete_ = true;
    answered_at_ = Clock::now();
  }
  void drop_connection();
  void give_up_slot();
  [[nodiscard]] Task<> stop_pump();

  UpstreamSite& site_;
  const Spawn& spawn_;
  std::unique_ptr<Connection> connection_;
  std::size_t endpoint_ = 0;
  bool has_slot_ = false;  ///< Of the pool, with or without a connection in it.
  std::shared_ptr<Pump> pump_;
  std::string request_head_;
  Buffer in_;
  ResponseHead head_;
  bool may_have_sent_ = false;
  bool is_late_ = false;  ///< Outlived its request, and gave its slot back.
  bool has_head_ = false;
  bool complete_ = false;
  bool saw_close_ = false;
  std::string method_;
  Buffer body_in_;  // Body bytes behind the head's buffer, so that the head's views stay good.
  std::string_view head_rest_;
  BodyFraming framing_;
  std::size_t to_consume_ = 0;
  CallFailure failure_ = CallFailure::None;
  RequestBody::End request_body_end_ = RequestBody::End::More;
  Clock::time_point sent_at_{};
  Clock::time_point answered_at_{};
};

}  // namespace semel::proxy
