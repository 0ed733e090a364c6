#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/result.h"
#include "io/parked.h"
#include "io/task.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"

namespace semel {

/// One call on its way to the server and back, and the coroutine that waits for it.
/// @thread One worker's.
struct PgCall {
  using Clock = std::chrono::steady_clock;

  PgCall(const PgStatement& asked, std::vector<PgValue> with, Clock::time_point until)
      : statement(asked), params(std::move(with)), deadline(until) {}

  const PgStatement& statement;
  std::vector<PgValue> params;  ///< Gone once they have been sent.
  const Clock::time_point deadline;
  std::optional<Result<PgRows>> reply;
  Parked waits;  ///< Whoever asked, until there is a reply. Nobody has to.
};

using PgCalls = std::vector<std::shared_ptr<PgCall>>;

/// Resumes all that wait for these, each of which has its reply, before anything that they ask is
/// sent.
inline void resume_later(const Executor& executor, const PgCalls& settled) {
  for (const auto& call : settled) call->waits.resume_later(executor);
}

}  // namespace semel
