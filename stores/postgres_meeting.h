#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stores/open.h"
#include "stores/pg_facts.h"
#include "stores/pg_value.h"
#include "stores/server_clock.h"
#include "stores/shared_witness.h"

namespace semel::postgres {

/// What one process knows of the store that it shares in PostgreSQL, and what the store says to
/// that: asked on each new connection, and with each claim.
///
/// @thread Any, but for construction and destruction.
/// @source spec 9, "Loss detection" and "Clocks".
class Meeting {
 public:
  /// Locks the folder of the witness. @throws StoreError
  Meeting(const PostgresOptions& options, StoreClock clock);

  /// The parameters of kMeet.
  [[nodiscard]] std::vector<PgValue> question() const;
  /// @param answer  Of kMeet.
  /// @faults StoreUnreachable: there is no store of this version.
  [[nodiscard]] Result<void> judge(const PgFacts& facts, const Result<PgRows>& answer);

  /// The same for a process that begins: it meets the store that there is.
  /// @throws StoreError if it is empty, or of another version.
  void begin(const PgFacts& facts, const PgRows& answer, std::chrono::nanoseconds asked);
  /// The answer of kMeet. @return false: there is no store of this version.
  bool hear(const PgRows& answer);

  /// A claim that was told, as durable as the grade says.
  void note(std::size_t lane, Fence fence);
  struct Known {
    std::size_t lane = 0;
    Fence fence;
  };
  /// The highest claim that this process was told.
  [[nodiscard]] Known highest() const;
  [[nodiscard]] const std::string& writer() const { return witness_.writer(); }
  [[nodiscard]] std::string store_id() const { return witness_.store_id(); }

  [[nodiscard]] std::chrono::nanoseconds boot() const { return clock_.boot(); }
  /// The server's time, as an answer to a question of then carried it.
  void observe(StoreTime server, std::chrono::nanoseconds asked);
  [[nodiscard]] StoreTime latest() const { return server_clock_.latest(); }
  /// Its time so long after now.
  [[nodiscard]] StoreTime after(std::chrono::milliseconds span) const;

  /// How often operators have given their word, as we know it.
  [[nodiscard]] std::int64_t acknowledgements() const { return acknowledgements_; }
  /// What was a leap of the clock before a word is none after it.
  /// True once for each time that an answer had a clock that has leapt: to be written down.
  [[nodiscard]] bool takes_leap() { return has_leapt_.exchange(false); }
  void see_acknowledgements(std::int64_t count);

  [[nodiscard]] PgFacts facts() const;
  void refresh(const PgFacts& facts);
  /// What an operator should know; empty: nothing.
  [[nodiscard]] std::string remark() const;

 private:
  struct Met;
  /// Absent: there is no store, or what answers is none.
  static std::optional<Met> met_of(const PgRows& answer);
  /// This store is the process's own from now on.
  void follow(const Met& met);

  const StoreClock clock_;
  SharedWitness witness_;
  ServerClock server_clock_;
  std::atomic<std::int64_t> acknowledgements_{0};
  std::atomic<bool> has_leapt_{false};
  mutable std::mutex mutex_;
  Known highest_;
  PgFacts facts_;
  std::string remark_;  ///< What the start found.
};

}  // namespace semel::postgres
