#pragma once

#include <memory>

#include "core/dispatch.h"
#include "proxy/answer_draft.h"
#include "proxy/settlement.h"
#include "proxy/upstream.h"
#include "proxy/worker.h"

namespace semel::proxy {

/// An EFFECTFUL call whose client was told that the outcome is unknown, while the tool may still
/// answer. Goes on with the dispatch table where its exchange stopped, at Listening, and settles
/// what it hears.
/// @thread One worker's.
/// @source spec 6, "late news of the same attempt".
class LateCall {
 public:
  /// @param outfit  Of the exchange: keeps route and upstream while this listens.
  LateCall(Worker& worker, std::shared_ptr<const Outfit> outfit, const Route& route,
           std::unique_ptr<UpstreamCall> call, Settlement settlement, AnswerDraft draft)
      : worker_(worker),
        outfit_(std::move(outfit)),
        route_(route),
        call_(std::move(call)),
        settlement_(settlement),
        draft_(std::move(draft)) {}

  /// Listens until the tool's news is whole, its connection ends, or `until` has passed.
  [[nodiscard]] static Task<> run(std::unique_ptr<LateCall> late,
                                  Deadlines::Clock::time_point until);

 private:
  [[nodiscard]] Task<Event> hear(Deadlines::Clock::time_point until);
  [[nodiscard]] Task<Event> perform(Act act);
  [[nodiscard]] Event broken_off() const;

  Worker& worker_;
  std::shared_ptr<const Outfit> outfit_;
  const Route& route_;
  std::unique_ptr<UpstreamCall> call_;
  Settlement settlement_;
  AnswerDraft draft_;
  StoredResponsePtr answer_;
};

}  // namespace semel::proxy
