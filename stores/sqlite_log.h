#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/claim.h"
#include "core/result.h"
#include "stores/event.h"
#include "stores/store_timeline.h"

namespace semel {

class SqliteEvents;

/// What to do about a file whose pages or rows are not what they should be.
inline constexpr char kDamageCure[] =
    ". Nothing was changed. Put the file back together with its own -wal, or move the -wal away if "
    "it is of another file";

/// An append-only table of log entries in one SQLite file, opened for this process alone: WAL,
/// synchronous=FULL, locking_mode=EXCLUSIVE. Knows transactions and rows, not what they mean.
///
/// @faults  StoreFull: no space; the transaction is to be rolled back, the next may succeed.
///          StoreBroken: anything else; whether the transaction is durable only a re-open can tell.
/// @thread  One at a time.
/// @source  docs/record-format.md; docs/adr/0003-sqlite-append-log.md.
class SqliteLog {
 public:
  /// What the single row of `meta` holds beside the store's name.
  struct Meta {
    TimeAnchor anchor;
    Fence fence;  ///< The highest ever given: rows that showed it may be gone.
  };
  struct Row {
    std::uint64_t seq = 0;
    std::string_view key;    ///< 32 bytes, unless the file is damaged.
    std::string_view entry;  ///< @owns Valid until the visitor returns.
  };

  /// Makes the file and its schema. @return false if a store is there already: it was left
  /// untouched.
  /// @throws StoreError
  static bool create(const std::string& path, const std::string& store_id, const Meta& meta);

  /// @throws StoreError for a file that is missing, is no store, or has another schema version.
  explicit SqliteLog(const std::string& path);
  ~SqliteLog();
  SqliteLog(const SqliteLog&) = delete;
  SqliteLog& operator=(const SqliteLog&) = delete;

  [[nodiscard]] const std::string& store_id() const;
  [[nodiscard]] const Meta& meta_at_open() const;
  /// What put_routes() wrote last; absent: nothing ever.
  [[nodiscard]] const std::optional<std::string>& routes_at_open() const;
  /// Every row in the order of its writing.
  [[nodiscard]] Result<void> read_all(const std::function<void(const Row&)>& visit);

  /// Whether the rows that read_all() found are the ones that were noted with the last commit; true
  /// also where none were noted, as in a file of before.
  [[nodiscard]] bool adds_up() const;
  /// Whether SQLite finds every page where it belongs; reads the whole file.
  /// @throws StoreError
  [[nodiscard]] bool is_sound();
  /// Whether the write-ahead log that lay beside the file was begun on what the file holds; true
  /// also where that cannot be told: no log, no note, a file of before.
  [[nodiscard]] bool is_log_own() const;
  /// From here on the file is written: first of all by what the log beside it holds. Before,
  /// closing leaves both as they were found, so that they can still be told apart.
  /// @throws StoreError
  [[nodiscard]] Result<void> accept();
  /// The transition log in the same file: what it writes is of the transaction under way. After
  /// accept().
  /// @param kept  Absent: nothing is told any more.
  /// @owns  Of use as long as this is.
  /// @throws StoreError
  [[nodiscard]] std::unique_ptr<SqliteEvents> open_events(
      const std::optional<EventRetention>& kept);

  /// The response beside an entry; absent if the row has none or is gone.
  [[nodiscard]] Result<std::optional<std::string>> read_response(std::uint64_t seq);

  /// The number of the newest row ever appended in this file, as far as it shows.
  [[nodiscard]] std::uint64_t last_row() const;

  /// After accept().
  [[nodiscard]] Result<void> begin();
  /// @return the new row's number, greater than every one before.
  [[nodiscard]] Result<std::uint64_t> append(const IdempotencyKey& key, std::string_view entry,
                                             std::optional<std::string_view> response);
  [[nodiscard]] Result<void> remove(std::uint64_t seq);
  [[nodiscard]] Result<void> put_meta(const Meta& meta);
  /// Replaces the bytes that say under which routes keys are made.
  [[nodiscard]] Result<void> put_routes(std::string_view bytes);
  /// Returns once the transaction is on the disk.
  [[nodiscard]] Result<void> commit();
  void rollback();

  /// Allocates that many bytes behind the end of the write-ahead log, if they are to be had, so
  /// that nobody else takes them before the next commits do.
  void allocate_ahead(std::size_t bytes);
  /// Copies the write-ahead log into the file once it has grown; cheap when it has not.
  [[nodiscard]] Result<void> checkpoint_if_due();
  /// Copies all of it and cuts it to nothing, so that what was erased is in neither file.
  [[nodiscard]] Result<void> checkpoint_all();

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace semel
