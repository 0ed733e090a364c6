#pragma once

#include <string>

#include "core/dispatch.h"
#include "core/route.h"
#include "core/stored_response.h"
#include "proxy/site.h"
#include "proxy/upstream.h"
#include "stores/claim_reply.h"

namespace semel::proxy {

/// What a tool has said on one call, as far as a record may keep it.
struct AnswerDraft {
  std::string body;           ///< Empty once it was dropped.
  bool dropped = false;       ///< Longer than `record.max_body`, or memory had no room for it.
  BufferBudget::Share share;  ///< Of `limits.buffered_bytes`, once it is longer than kWholeMax.

  /// Adds a piece, and lets go of a body that no record will keep.
  void keep(std::string_view piece, const RecordRules& rules, BufferBudget& budget);
};
/// An answer that is whole within this much is made durable before its first byte is sent (spec 6).
inline constexpr std::size_t kWholeMax = 64 * 1024;

/// What a complete answer with this status means: Answered, AnsweredRefusal or AnsweredFailure.
[[nodiscard]] Event verdict(std::uint16_t status, const Route& route);
/// Why the outcome of a call that ended like this is unknown.
[[nodiscard]] IndeterminateReason unknown_because(CallFailure failure);
/// True where the route repeats a call that was answered so.
[[nodiscard]] bool is_retried(std::uint16_t status, const Route& route);

/// The complete answer of `call` as a replay will show it. Takes the draft's body if it is kept.
[[nodiscard]] StoredResponsePtr stored_form(const UpstreamCall& call, const Route& route,
                                            AnswerDraft& draft);
/// The same answer without its body.
[[nodiscard]] StoredResponsePtr bare_form(const StoredResponse& answer);

}  // namespace semel::proxy
