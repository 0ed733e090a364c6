#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "stores/pg_call.h"
#include "stores/pg_connection.h"
#include "stores/pg_fault.h"

namespace semel {

/// The calls of one connection in the order in which they were asked: some still to be sent, some
/// without an answer yet. Each has a sync of its own behind it, so that an error ends its own call
/// and no other. Waits for nothing: whoever owns it says when the socket is ready.
class PgPipeline {
 public:
  enum class State : std::uint8_t {
    Fine,
    Stuffed,  ///< The socket takes no more: send again when it does.
    Worn,     ///< Of no more use: nothing more is sent, and it breaks with the last answer.
    Broken,   ///< abandon() the calls.
  };

  /// @param connection  In a pipeline.
  explicit PgPipeline(PgConnection& connection) : connection_(connection) {}

  void ask(std::shared_ptr<PgCall> call) { asked_.push_back(std::move(call)); }
  /// Hands over what was asked, as much as the socket takes.
  [[nodiscard]] State send();
  /// Takes the answers that have arrived.
  /// @param settled  Calls that have their reply now are appended.
  [[nodiscard]] State receive(PgCalls& settled);
  /// No answer will come any more. What was not sent has StoreUnreachable for its reply, what was
  /// sent has StoreTimeout.
  /// @return Until when a call that was sent may still be carried out.
  PgCall::Clock::time_point abandon(PgCalls& settled);

  [[nodiscard]] std::size_t size() const { return asked_.size() + sent_.size(); }
  [[nodiscard]] bool is_silent() const { return sent_.empty(); }
  /// The first deadline to pass.
  [[nodiscard]] std::optional<PgCall::Clock::time_point> deadline() const;
  /// What went wrong since it was asked last; empty: nothing.
  [[nodiscard]] std::string take_trouble() { return std::exchange(trouble_, {}); }

 private:
  struct Sent {
    std::shared_ptr<PgCall> call;
    bool prepares = false;  ///< And that is not answered yet.
    PgRows rows;
    std::optional<PgAnswer> error;
  };

  [[nodiscard]] bool send(Sent& sent);
  [[nodiscard]] State collect(PgCalls& settled);
  void settle(PgCalls& settled);
  [[nodiscard]] State broken();

  PgConnection& connection_;
  std::deque<std::shared_ptr<PgCall>> asked_;
  std::deque<Sent> sent_;
  std::unordered_set<const PgStatement*> prepared_;
  std::string trouble_;
  bool is_worn_ = false;
};

}  // namespace semel
