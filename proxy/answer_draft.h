#pragma once

#include <string>

#include "core/dispatch.h"
#include "core/route.h"
#include "core/stored_response.h"
#include "proxy/site.h"
#include "proxy/upstream.h"

namespace semel::proxy {

/// What a tool has said on one call, as far as a record may keep it.
struct AnswerDraft {
  std::string body;      ///< Empty once it was dropped.
  bool dropped = false;  ///< Longer than `record.max_body`, or memory had no room for it.
  BufferBudget::Share
      share;  ///< Of `limits.buffered_bytes`, for what is longer than a whole answer.

  /// Lets go of a body that no record will keep.
  void drop_what_is_not_kept(const RecordRules& rules);
};

/// What a complete answer with this status means: Answered, AnsweredRefusal or AnsweredFailure.
[[nodiscard]] Event verdict(std::uint16_t status, const Route& route);
/// True where the route repeats a call that was answered so.
[[nodiscard]] bool is_retried(std::uint16_t status, const Route& route);

/// The complete answer of `call` as a replay will show it. Takes the draft's body if it is kept.
[[nodiscard]] StoredResponsePtr stored_form(const UpstreamCall& call, const Route& route,
                                            AnswerDraft& draft);
/// The same answer without its body.
[[nodiscard]] StoredResponsePtr bare_form(const StoredResponse& answer);

}  // namespace semel::proxy
