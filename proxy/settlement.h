#pragma once

#include <chrono>
#include <optional>

#include "core/dispatch.h"
#include "proxy/metrics.h"
#include "proxy/release_queue.h"
#include "stores/store.h"

namespace semel::proxy {

class Worker;

/// How a held claim ends: record, release or mark. What the store would not write at once is
/// written again in the background, with the same token, until the lease ends. A claim of which
/// nothing was sent is given back also later.
/// @thread One worker's.
class Settlement {
 public:
  /// @param lease_ends  CLOCK_BOOTTIME.
  Settlement(Worker& worker, Attempt attempt, std::chrono::nanoseconds lease_ends)
      : worker_(worker), attempt_(attempt), lease_ends_(lease_ends) {}

  /// @return Written, WriteStale, NoRoom (nothing goes on behind it) or WriteFailed (it does).
  [[nodiscard]] Task<Event> record(StoredResponsePtr response);
  /// The same for the last form that the answer has: also without room it goes on behind.
  [[nodiscard]] Task<Event> record_bare(StoredResponsePtr response);
  [[nodiscard]] Task<Event> release(GiveBack until);
  [[nodiscard]] Task<Event> mark(IndeterminateReason reason, std::optional<std::uint16_t> status);
  /// A claim whose outcome was marked unknown: no further byte of its attempt can come.
  [[nodiscard]] Task<Event> end_attempt();
  /// A claim whose answer never came: its token is released in the background.
  void disown(GiveBack until);

  [[nodiscard]] const Attempt& attempt() const { return attempt_; }
  [[nodiscard]] std::chrono::nanoseconds lease_ends() const { return lease_ends_; }

 private:
  struct Behind;
  [[nodiscard]] Task<Event> write_mark(IndeterminateReason reason,
                                       std::optional<std::uint16_t> status);
  [[nodiscard]] static Task<> go_on(Behind behind);
  [[nodiscard]] Event conclude(StoreOperation operation, const Result<WriteReply>& result,
                               std::chrono::steady_clock::time_point asked);

  Worker& worker_;
  Attempt attempt_;
  std::chrono::nanoseconds lease_ends_;
};

}  // namespace semel::proxy
