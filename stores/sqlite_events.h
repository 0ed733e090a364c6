#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"
#include "stores/event_span.h"
#include "stores/record.h"
#include "stores/transition.h"

struct sqlite3;

namespace semel {

/// The transition log in a store's file: a table beside the records, written in their
/// transactions. What is asked of it takes effect with write(), which the owner calls in each
/// transaction, and counts once settle() has said that the transaction is durable.
///
/// @faults  As SqliteLog.
/// @thread  One at a time.
/// @source  docs/record-format.md, "The transition log".
class SqliteEvents {
 public:
  /// @param store_id  The log's name.
  /// @param kept      Absent: nothing is told. No table is made then; of one that is there nothing
  ///                  is read any more, and sweeping empties it.
  /// @throws StoreError
  SqliteEvents(sqlite3* database, const std::string& store_id,
               const std::optional<EventRetention>& kept);
  ~SqliteEvents();
  SqliteEvents(const SqliteEvents&) = delete;
  SqliteEvents& operator=(const SqliteEvents&) = delete;

  /// What is durable behind a position.
  [[nodiscard]] Result<std::variant<EventPage, EventGap>> read(const EventFilter& filter);

  /// Takes up to `limit` events away that are not to be kept. @return True if more are.
  [[nodiscard]] Result<bool> trim(std::size_t limit, const Now& now);

  /// Takes the tenant's away among the first `rows` behind the number `after`.
  /// @return The number of the last of those rows; absent: there are none.
  [[nodiscard]] Result<std::optional<std::uint64_t>> forget(const std::string& tenant,
                                                            std::uint64_t after, std::size_t rows);
  /// Takes the tenant's away behind that number, as far as the log goes.
  /// @param untold  Transitions of this group that are still to be written and that count too.
  void forget_rest(const std::string& tenant, std::uint64_t after, std::size_t untold);

  /// Events may have been lost, or positions given that nobody remembers: whoever reads on is told
  /// of a gap.
  void leap(std::uint64_t numbers);

  /// Whether anything beside new transitions is waiting for write().
  [[nodiscard]] bool is_asked() const;
  /// In the transaction under way: adds these, and takes away what was asked.
  [[nodiscard]] Result<void> write(const std::vector<Transition>& transitions, const Now& now);
  /// The transaction of the last write() is durable.
  void settle();
  /// It is not. What was asked is asked still.
  void rollback();
  /// What was asked since settle() is not to be done.
  void undo();

 private:
  struct Statements;
  struct Erasure {
    std::string tenant;
    std::uint64_t after = 0;
    std::uint64_t last = 0;
  };

  void read_span(const std::string& path);
  [[nodiscard]] Result<void> append(const Transition& transition, const Now& now);
  [[nodiscard]] bool is_kept(std::uint64_t number, StoreTime noted, const Now& now) const;
  [[nodiscard]] Fault fault(int code) const;

  sqlite3* database_;
  std::optional<EventRetention> kept_;
  std::unique_ptr<Statements> statements_;  ///< Null: there is no table.
  EventSpan span_;                          ///< With what the transaction under way has done.
  std::uint64_t durable_trimmed_ = 0;       ///< Before it.
  std::uint64_t durable_last_ = 0;          ///< The same.
  bool has_moved_ = false;  ///< The span is to be written without a reason of write()'s.
  std::uint64_t drop_to_ = 0;
  std::vector<Erasure> erasures_;
};

}  // namespace semel
