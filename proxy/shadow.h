#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/dispatch.h"
#include "core/key.h"
#include "proxy/answer_draft.h"
#include "proxy/request_body.h"
#include "proxy/settlement.h"
#include "proxy/worker.h"

namespace semel::proxy {

/// What a route in `mode: shadow` would have done, beside a call that is forwarded as if it had no
/// policy. Derives the key, asks the store, and writes down what the tool really answered. The
/// client waits for nothing of it, and nothing of it can refuse.
/// @thread One worker's.
/// @source spec 4, "shadow adds no wait and no refusal".
class Shadow : public std::enable_shared_from_this<Shadow> {
 public:
  /// @param outfit  Of the exchange: keeps the route while this watches.
  Shadow(Worker& worker, std::shared_ptr<const Outfit> outfit, const Route& route,
         RouteMetrics& metrics);

  /// The whole request is here: claims its key, if it has one, beside the forward.
  /// @param inputs  Viewed during the call only.
  void ask(const KeyInputs& inputs);
  /// The same where the body streams by, a piece at a time. @param inputs  All but the body.
  void overhear(const RequestBody::Piece& piece, KeyInputs inputs);
  /// A piece of the answer's body passes.
  void hear(std::string_view piece);
  /// The answer is whole with this last piece.
  void answered(const UpstreamCall& call, std::string_view last_piece);
  /// The exchange is gone, whatever became of it. Without effect where the end was told.
  void give_up() noexcept;
  /// The call is over. Without effect after answered().
  void ended_without(const UpstreamCall& call);

 private:
  [[nodiscard]] static Task<> run(std::shared_ptr<Shadow> self);
  [[nodiscard]] Task<bool> claim();
  [[nodiscard]] Task<> settle();
  void copy(std::string_view data);
  void tell(Event news);

  Worker& worker_;
  std::shared_ptr<const Outfit> outfit_;
  const Route& route_;
  RouteMetrics& metrics_;
  std::string request_body_;  // Of a request that streams by; empty once it was too long.
  BufferBudget::Share request_share_;
  bool is_too_long_ = false;
  std::optional<DerivedKey> key_;
  std::vector<EarlierKey> earlier_;  // Of the route's earlier key versions.
  std::optional<Settlement> settlement_;
  AnswerDraft draft_;
  StoredResponsePtr answer_;
  std::optional<Event> news_;  // How the call ended, once it has.
  IndeterminateReason reason_ = IndeterminateReason::Cut;
  Worker::Timer told_;
};

}  // namespace semel::proxy
