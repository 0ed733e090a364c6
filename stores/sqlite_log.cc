// The only file that knows SQLite, with sqlite_statement.h and sqlite_file, which are its own. It
// runs statements and grades their failures; what a row means is the business of durable_ledger.
#include "stores/sqlite_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/random.h"
#include "stores/log_note.h"
#include "stores/open.h"
#include "stores/row_tally.h"
#include "stores/sqlite_events.h"
#include "stores/sqlite_file.h"
#include "stores/sqlite_schema.h"

namespace semel {
namespace {

using sqlite::blob_of;
using sqlite::Database;
using sqlite::failure;
using sqlite::fault_of;
using sqlite::first_column;
using sqlite::open_file;
using sqlite::prepare;
using sqlite::run_or_throw;
using sqlite::Statement;
using sqlite::Use;

constexpr int kCheckpointPages = 2000;           // About 8 MB of write-ahead log.
constexpr std::int64_t kPageInLog = 4'096 + 24;  // With SQLite's header of a frame.
constexpr std::int64_t kLogHeader = 32;

/// What the row of `meta` says of itself beside SqliteLog::Meta.
struct Noting {
  std::optional<LogNote> note;
  RowTally tally;
  bool begins_log = false;  ///< The file holds all there is: what is written next is a new log.
};

LogNote new_log(const Noting& before) {
  RandomBits random;
  return {random.number(), before.note ? before.note->log_id : 0, before.tally};
}

/// @param note_bytes  Has to outlive the step.
void bind_meta(Use& use, const SqliteLog::Meta& meta, const RowTally& tally,
               const std::string& note_bytes) {
  use.bind_text(1, meta.anchor.boot_id);
  use.bind(2, meta.anchor.boot.count());
  use.bind(3, meta.anchor.store.count());
  use.bind(4, static_cast<std::int64_t>(meta.fence.value));
  use.bind(5, static_cast<std::int64_t>(tally.rows));
  use.bind(6, static_cast<std::int64_t>(tally.hash));
  if (!note_bytes.empty()) use.bind_blob(7, note_bytes);
}

}  // namespace

struct SqliteLog::Connection {
  Database database;
  std::string store_id;
  Meta meta_at_open;
  std::uint64_t last_seq = 0;
  int wal_pages = 0;
  std::optional<std::string> routes_at_open;
  RowHash hash;
  RowTally tally;            ///< With what the transaction under way has done.
  RowTally committed_tally;  ///< Before it.
  std::optional<RowTally> tally_at_open;
  Noting noting;  ///< With what the transaction under way has done.
  Noting noted;   ///< Before it.
  bool is_log_own = true;
  Statement begin, commit, rollback, append, remove, put_meta, put_routes, read_response;

  [[nodiscard]] Fault fault(int code) const { return fault_of(database.get(), code); }
  [[nodiscard]] Result<void> finish(Use& use) const {
    const int code = use.step();
    if (code != SQLITE_DONE) return fault(code);
    return {};
  }
  [[nodiscard]] Result<void> finish(const Statement& statement) const {
    Use use(statement);
    return finish(use);
  }

  void read_meta(const std::string& path) {
    const Statement meta = prepare(database.get(), schema::kSelectMeta, path);
    Use use(meta);
    if (use.step() != SQLITE_ROW) {
      throw StoreError(path + " has no meta row: the file is damaged" + kDamageCure);
    }
    store_id = use.blob(0);
    meta_at_open.anchor.boot_id = use.blob(1);
    meta_at_open.anchor.boot = std::chrono::nanoseconds(use.integer(2));
    meta_at_open.anchor.store = StoreTime(use.integer(3));
    meta_at_open.fence.value = static_cast<std::uint64_t>(use.integer(4));
    if (use.integer(5) != 0) {
      tally_at_open = RowTally{static_cast<std::uint64_t>(use.integer(6)),
                               static_cast<std::uint64_t>(use.integer(7))};
    }
    hash = RowHash(store_id);
  }
  /// @param file  What it says without the write-ahead log.
  void read_note(const std::optional<NotedState>& file) {
    const auto with_log = sqlite::read_note(database.get());
    if (!with_log) return;
    noted = {with_log->note, with_log->tally};
    is_log_own = !file || is_log_of(*file, *with_log);
  }
  void read_routes(const std::string& path) {
    const Statement routes = prepare(database.get(), "SELECT terms FROM routes WHERE id = 1", path);
    Use found(routes);
    const int code = found.step();
    if (code == SQLITE_ROW) routes_at_open = found.blob(0);
    if (code != SQLITE_ROW && code != SQLITE_DONE) throw failure(database.get(), path);
  }
  [[nodiscard]] Result<void> checkpoint(int mode) {
    int pages = 0;
    int copied = 0;
    const int code = sqlite3_wal_checkpoint_v2(database.get(), nullptr, mode, &pages, &copied);
    if (code != SQLITE_OK) return fault(code);
    wal_pages = 0;
    if (pages == copied) noted.begins_log = true;
    return {};
  }
  /// The SQL function `discount(seq, key, entry, length of the response)`: 1, and the row is
  /// counted no more.
  static void discount(sqlite3_context* call, int, sqlite3_value** row) {
    auto* connection = static_cast<Connection*>(sqlite3_user_data(call));
    std::optional<std::uint64_t> response_bytes;
    if (sqlite3_value_type(row[3]) != SQLITE_NULL) response_bytes = sqlite3_value_int64(row[3]);
    const auto seq = static_cast<std::uint64_t>(sqlite3_value_int64(row[0]));
    connection->tally.discount(
        connection->hash.of(seq, blob_of(row[1]), blob_of(row[2]), response_bytes));
    sqlite3_result_int(call, 1);
  }
};

bool SqliteLog::create(const std::string& path, const std::string& store_id, const Meta& meta) {
  sqlite::make_file(path);
  const Database database = open_file(path);
  run_or_throw(database.get(), "PRAGMA synchronous=FULL; BEGIN IMMEDIATE", path);
  const std::string owner = first_column(database.get(), "PRAGMA application_id", path);
  if (owner == std::to_string(schema::kApplicationId)) return false;
  if (first_column(database.get(), "SELECT count(*) FROM sqlite_master", path) != "0") {
    throw StoreError(path + " is a database of another program: give the store a file of its own");
  }
  const std::string marks = "PRAGMA application_id=" + std::to_string(schema::kApplicationId) +
                            "; PRAGMA user_version=" + std::to_string(schema::kVersion);
  run_or_throw(database.get(), schema::kTables, path);
  run_or_throw(database.get(), schema::kRoutesTable, path);
  run_or_throw(database.get(), schema::kTallyColumns, path);
  run_or_throw(database.get(), schema::kLogNoteColumn, path);
  run_or_throw(database.get(), marks.c_str(), path);
  {
    const Statement insert = prepare(database.get(), schema::kInsertMeta, path);
    Use use(insert);
    const std::string note = encode_log_note(new_log(Noting()), RowTally(), meta.anchor.store);
    bind_meta(use, meta, RowTally(), note);
    use.bind_text(8, store_id);
    if (use.step() != SQLITE_DONE) throw failure(database.get(), path);
  }
  run_or_throw(database.get(), "COMMIT; PRAGMA journal_mode=WAL", path);
  return true;
}

SqliteLog::SqliteLog(const std::string& path) : connection_(std::make_unique<Connection>()) {
  Connection& c = *connection_;
  const auto file_note = sqlite::read_note_without_log(path);
  c.database = open_file(path);
  sqlite3* database = c.database.get();
  run_or_throw(database, "PRAGMA locking_mode=EXCLUSIVE", path);
  if (first_column(database, "PRAGMA application_id", path) !=
      std::to_string(schema::kApplicationId)) {
    throw StoreError(path + " holds no store: run `semel store init CONFIG`");
  }
  const std::string version = first_column(database, "PRAGMA user_version", path);
  if (version != std::to_string(schema::kVersion)) {
    throw StoreError(path + " has schema version " + version + ", this program reads version " +
                     std::to_string(schema::kVersion) +
                     ": use the program that wrote it, or another path");
  }
  if (first_column(database, "PRAGMA journal_mode=WAL", path) != "wal") {
    throw StoreError(path + ": this file system allows no write-ahead log");
  }
  run_or_throw(database,
               "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON;"
               "BEGIN IMMEDIATE; COMMIT",
               path);
  run_or_throw(database, schema::kRoutesTable, path);
  if (first_column(database, schema::kHasTallyColumns, path) == "0") {
    run_or_throw(database, (std::string("BEGIN;") + schema::kTallyColumns + "COMMIT").c_str(),
                 path);
  }
  sqlite3_wal_hook(
      database,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &c.wal_pages);

  c.read_meta(path);
  c.read_note(file_note);
  c.read_routes(path);
  sqlite3_create_function_v2(database, "discount", 4, SQLITE_UTF8 | SQLITE_DIRECTONLY, &c,
                             Connection::discount, nullptr, nullptr, nullptr);

  c.begin = prepare(database, "BEGIN IMMEDIATE", path);
  c.commit = prepare(database, "COMMIT", path);
  c.rollback = prepare(database, "ROLLBACK", path);
  c.append = prepare(database, "INSERT INTO log(seq, key, entry, response) VALUES(?,?,?,?)", path);
  c.remove = prepare(database, schema::kDeleteRow, path);
  c.put_routes = prepare(database, "INSERT OR REPLACE INTO routes(id, terms) VALUES(1, ?)", path);
  c.read_response = prepare(database, "SELECT response FROM log WHERE seq = ?", path);
}

SqliteLog::~SqliteLog() = default;

const std::string& SqliteLog::store_id() const { return connection_->store_id; }

const SqliteLog::Meta& SqliteLog::meta_at_open() const { return connection_->meta_at_open; }

const std::optional<std::string>& SqliteLog::routes_at_open() const {
  return connection_->routes_at_open;
}

Result<void> SqliteLog::read_all(const std::function<void(const Row&)>& visit) {
  Connection& c = *connection_;
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(c.database.get(), schema::kSelectRows, -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return c.fault(prepared);
  Use use(statement);
  int code = SQLITE_ROW;
  c.tally = RowTally();
  while ((code = use.step()) == SQLITE_ROW) {
    c.last_seq = static_cast<std::uint64_t>(use.integer(0));
    std::optional<std::uint64_t> response_bytes;
    if (!use.is_null(3)) response_bytes = use.integer(3);
    c.tally.count(c.hash.of(c.last_seq, use.blob(1), use.blob(2), response_bytes));
    visit({c.last_seq, use.blob(1), use.blob(2)});
  }
  if (code != SQLITE_DONE) return c.fault(code);
  return {};
}

Result<std::optional<std::string>> SqliteLog::read_response(std::uint64_t seq) {
  Connection& c = *connection_;
  Use use(c.read_response);
  use.bind(1, static_cast<std::int64_t>(seq));
  const int code = use.step();
  if (code == SQLITE_DONE) return std::optional<std::string>();
  if (code != SQLITE_ROW) return c.fault(code);
  if (use.is_null(0)) return std::optional<std::string>();
  return std::optional<std::string>(use.blob(0));
}

std::uint64_t SqliteLog::last_row() const { return connection_->last_seq; }

bool SqliteLog::adds_up() const {
  const auto& noted = connection_->tally_at_open;
  return !noted || *noted == connection_->tally;
}

bool SqliteLog::is_sound() {
  return first_column(connection_->database.get(), "PRAGMA integrity_check(1)", "") == "ok";
}

bool SqliteLog::is_log_own() const { return connection_->is_log_own; }

Result<void> SqliteLog::accept() {
  Connection& c = *connection_;
  sqlite3* database = c.database.get();
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  // Two copies of a file and its log would go on with one log id otherwise. Without the space for
  // it they do, until a checkpoint finds some.
  const auto copied = checkpoint_all();
  if (!copied && copied.error() != Fault::StoreFull) return copied;
  const std::string path = sqlite3_db_filename(database, "main");
  if (first_column(database, schema::kHasLogNoteColumn, path) == "0") {
    run_or_throw(database, schema::kLogNoteColumn, path);
  }
  c.put_meta = prepare(database, schema::kUpdateMeta, path);
  return {};
}

std::unique_ptr<SqliteEvents> SqliteLog::open_events(const std::optional<EventRetention>& kept) {
  return std::make_unique<SqliteEvents>(connection_->database.get(), connection_->store_id, kept);
}

Result<void> SqliteLog::begin() {
  connection_->committed_tally = connection_->tally;
  connection_->noting = connection_->noted;
  return connection_->finish(connection_->begin);
}

Result<std::uint64_t> SqliteLog::append(const IdempotencyKey& key, std::string_view entry,
                                        std::optional<std::string_view> response) {
  Connection& c = *connection_;
  Use use(c.append);
  const std::uint64_t seq = c.last_seq + 1;
  use.bind(1, static_cast<std::int64_t>(seq));
  const std::string_view key_bytes(reinterpret_cast<const char*>(key.bytes.data()),
                                   key.bytes.size());
  use.bind_blob(2, key_bytes);
  use.bind_blob(3, entry);
  if (response) use.bind_blob(4, *response);
  if (const auto done = c.finish(use); !done) return done.error();
  c.last_seq = seq;
  std::optional<std::uint64_t> response_bytes;
  if (response) response_bytes = response->size();
  c.tally.count(c.hash.of(seq, key_bytes, entry, response_bytes));
  return seq;
}

Result<void> SqliteLog::remove(std::uint64_t seq) {
  Use use(connection_->remove);
  use.bind(1, static_cast<std::int64_t>(seq));
  return connection_->finish(use);
}

Result<void> SqliteLog::put_meta(const Meta& meta) {
  Connection& c = *connection_;
  if (std::exchange(c.noting.begins_log, false)) c.noting.note = new_log(c.noted);
  c.noting.tally = c.tally;
  std::string note;
  if (c.noting.note) note = encode_log_note(*c.noting.note, c.tally, meta.anchor.store);
  Use use(c.put_meta);
  bind_meta(use, meta, c.tally, note);
  return c.finish(use);
}

Result<void> SqliteLog::put_routes(std::string_view bytes) {
  Use use(connection_->put_routes);
  use.bind_blob(1, bytes);
  return connection_->finish(use);
}

Result<void> SqliteLog::commit() {
  const auto done = connection_->finish(connection_->commit);
  if (done) connection_->noted = connection_->noting;
  return done;
}

void SqliteLog::rollback() {
  connection_->tally = connection_->committed_tally;
  // SQLite has rolled back by itself after some errors; asking again would be an error of its own.
  if (sqlite3_get_autocommit(connection_->database.get()) != 0) return;
  static_cast<void>(connection_->finish(connection_->rollback));
}

void SqliteLog::allocate_ahead(std::size_t bytes) {
  Connection& c = *connection_;
  const std::string log = std::string(sqlite3_db_filename(c.database.get(), "main")) + "-wal";
  const int descriptor = ::open(log.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  const off_t end = kLogHeader + c.wal_pages * kPageInLog;
  static_cast<void>(::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, end, static_cast<off_t>(bytes)));
  ::close(descriptor);
}

Result<void> SqliteLog::checkpoint_if_due() {
  if (connection_->wal_pages < kCheckpointPages) return {};
  return connection_->checkpoint(SQLITE_CHECKPOINT_PASSIVE);
}

Result<void> SqliteLog::checkpoint_all() {
  return connection_->checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

}  // namespace semel
