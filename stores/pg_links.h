#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "io/task.h"
#include "stores/open.h"
#include "stores/pg_facts.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"

namespace semel {

/// What every new connection has to pass before calls are let through. A standby is refused without
/// being asked.
struct PgAdmission {
  /// Asked on the new connection itself. Null: the facts alone are judged.
  const PgStatement* question = nullptr;
  std::function<std::vector<PgValue>(std::size_t lane)> params;
  /// @param answer  Of the question; empty rows where there is none.
  /// @return A fault: the connection is given up and tried again later, and calls meanwhile end
  ///         with this fault. Absent function: everything is admitted.
  std::function<Result<void>(const PgFacts& facts, std::size_t lane, const Result<PgRows>& answer)>
      judge;
};

/// Notifications of one channel, on a connection of their own.
struct PgListening {
  std::string channel;  ///< Empty: nothing is listened to.
  std::function<void(std::string_view payload)> on_message;
  /// News may have been missed: the connection broke, or listens again.
  std::function<void()> on_loss;
};

struct PgLinkOptions {
  PgAdmission admission;
  PgListening listening;
  std::size_t connections_per_worker = 4;
};

/// How the links stand.
struct PgLinksState {
  bool up = false;               ///< Some connection lets calls through.
  std::optional<PgFacts> facts;  ///< As the latest connection was told them.
  std::string trouble;           ///< The latest failure, without secrets; empty: none.
};

/// The connections of one store to PostgreSQL: a few for each worker that calls, in pipeline mode.
/// What is asked in one turn of the worker leaves in one flush. Each call has a Sync, and so a
/// transaction, of its own: it waits, fails and commits alone.
///
/// A connection that breaks, or leaves a call unanswered for the deadline, is closed and made anew
/// in the background, within 2 s of the server's return; meanwhile calls end at once. Only a
/// worker's very first calls wait for the connection to be made. What it was closed on is
/// outwaited: of each connection the server has one backend at work at the most, and of each worker
/// one more that watches.
///
/// @thread Any worker calls. close() and the destructor: any, once the workers stand still.
/// @source spec 9.
class PgLinks {
 public:
  /// Connects with the first call of each worker.
  /// @throws StoreError if the URL cannot be read; no password is in its sentence.
  PgLinks(const PostgresOptions& options, PgLinkOptions link_options);
  ~PgLinks();
  PgLinks(const PgLinks&) = delete;
  PgLinks& operator=(const PgLinks&) = delete;

  /// One statement on the connection that `spread` chooses: calls of one worker with one spread are
  /// carried out in order.
  /// @faults StoreUnreachable: not carried out. StoreTimeout: it MAY have been carried out.
  ///         StoreFull: the server has no room. RecordCorrupt: it found a broken page or index.
  [[nodiscard]] Task<Result<PgRows>> call(const PgStatement& statement, std::size_t spread,
                                          std::vector<PgValue> params);
  /// The same, whose answer nobody waits for: it may get lost, and where the connection is down it
  /// is not sent.
  /// @thread The worker of `executor`.
  void tell(const Executor& executor, const PgStatement& statement, std::size_t spread,
            std::vector<PgValue> params);
  /// The number of the connection that this call would take: unique in this process, and the same
  /// after a reconnect.
  [[nodiscard]] std::size_t lane_of(const Executor& executor, std::size_t spread);

  /// Until then a call of a connection that broke may still be carried out. Each call's own
  /// `not_after` has passed by then if it lies within the deadline of the asking.
  [[nodiscard]] std::chrono::steady_clock::time_point ghosts_until() const;
  [[nodiscard]] PgLinksState state() const;
  /// Nothing more is let in; calls under way end with a fault, connections close.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace semel
