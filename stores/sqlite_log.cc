// The only file that knows SQLite. It runs statements and grades their failures; what a row means
// is the business of sqlite_store.
#include "stores/sqlite_log.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "stores/open.h"

namespace semel {
namespace {

constexpr int kApplicationId = 0x53454D4C;  // "SEML"
constexpr int kSchemaVersion = 1;
constexpr int kCheckpointPages = 2000;           // About 8 MB of write-ahead log.
constexpr std::int64_t kPageInLog = 4'096 + 24;  // With SQLite's header of a frame.
constexpr std::int64_t kLogHeader = 32;

constexpr char kSchema[] =
    "CREATE TABLE log(seq INTEGER PRIMARY KEY, key BLOB NOT NULL, entry BLOB NOT NULL,"
    "                 response BLOB);"
    "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK(id = 1), store_id TEXT NOT NULL,"
    "                  boot_id TEXT NOT NULL, boot_ns INTEGER NOT NULL,"
    "                  store_ns INTEGER NOT NULL, fence INTEGER NOT NULL);";

/// Younger than version 1: a file without it is given it when it is opened.
constexpr char kRoutesTable[] =
    "CREATE TABLE IF NOT EXISTS routes(id INTEGER PRIMARY KEY CHECK(id = 1), terms BLOB NOT NULL)";

/// The library's own closing functions as deleters.
struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

/// Leaves a statement ready for its next use, whatever happened in this one.
class Use {
 public:
  explicit Use(const Statement& statement) : statement_(statement.get()) {}
  ~Use() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  /// @owns `bytes` stays the caller's and has to outlive step().
  void bind_blob(int at, std::string_view bytes) {
    sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  void bind_text(int at, const std::string& text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  [[nodiscard]] int step() { return sqlite3_step(statement_); }
  [[nodiscard]] std::int64_t integer(int column) {
    return sqlite3_column_int64(statement_, column);
  }
  [[nodiscard]] std::string_view blob(int column) {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {static_cast<const char*>(bytes), bytes ? static_cast<std::size_t>(size) : 0};
  }
  [[nodiscard]] bool is_null(int column) {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }

 private:
  sqlite3_stmt* statement_;
};

Database open_file(const std::string& path) {
  // Nobody asks for SQLite's statistics, and each of its allocations would take a lock for them.
  // Too late where the process has used SQLite before: then they stay.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(configured);
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) throw StoreError("cannot open " + path + ": " + sqlite3_errstr(code));
  sqlite3_extended_result_codes(raw, 1);
  return database;
}

void run_or_throw(sqlite3* database, const char* sql, const std::string& path) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw StoreError(path + ": " + sqlite3_errmsg(database));
  }
}

Statement prepare(sqlite3* database, const char* sql, const std::string& path) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
      SQLITE_OK) {
    throw StoreError(path + ": " + sqlite3_errmsg(database));
  }
  return Statement(raw);
}

std::string first_column(sqlite3* database, const char* sql, const std::string& path) {
  const Statement statement = prepare(database, sql, path);
  Use use(statement);
  const int code = use.step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    throw StoreError(path + ": " + sqlite3_errmsg(database));
  }
  return code == SQLITE_ROW ? std::string(use.blob(0)) : std::string();
}

void make_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw StoreError("cannot create " + path + ": " + std::generic_category().message(errno));
  }
  ::close(descriptor);
}

void bind_meta(Use& use, const SqliteLog::Meta& meta) {
  use.bind_text(1, meta.anchor.boot_id);
  use.bind(2, meta.anchor.boot.count());
  use.bind(3, meta.anchor.store.count());
  use.bind(4, static_cast<std::int64_t>(meta.fence.value));
}

}  // namespace

struct SqliteLog::Connection {
  Database database;
  std::string store_id;
  Meta meta_at_open;
  std::uint64_t last_seq = 0;
  int wal_pages = 0;
  std::optional<std::string> routes_at_open;
  Statement begin, commit, rollback, append, remove, put_meta, put_routes, read_response;

  [[nodiscard]] Fault fault(int code) const {
    const int primary = code & 0xFF;
    const int error = sqlite3_system_errno(database.get());
    if (primary == SQLITE_FULL) return Fault::StoreFull;
    if (primary == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT)) return Fault::StoreFull;
    return Fault::StoreBroken;
  }
  [[nodiscard]] Result<void> finish(Use& use) const {
    const int code = use.step();
    if (code != SQLITE_DONE) return fault(code);
    return {};
  }
  [[nodiscard]] Result<void> finish(const Statement& statement) const {
    Use use(statement);
    return finish(use);
  }
};

bool SqliteLog::create(const std::string& path, const std::string& store_id, const Meta& meta) {
  make_file(path);
  const Database database = open_file(path);
  run_or_throw(database.get(), "PRAGMA synchronous=FULL; BEGIN IMMEDIATE", path);
  const std::string owner = first_column(database.get(), "PRAGMA application_id", path);
  if (owner == std::to_string(kApplicationId)) return false;
  if (first_column(database.get(), "SELECT count(*) FROM sqlite_master", path) != "0") {
    throw StoreError(path + " is a database of another program: give the store a file of its own");
  }
  const std::string marks = "PRAGMA application_id=" + std::to_string(kApplicationId) +
                            "; PRAGMA user_version=" + std::to_string(kSchemaVersion);
  run_or_throw(database.get(), kSchema, path);
  run_or_throw(database.get(), kRoutesTable, path);
  run_or_throw(database.get(), marks.c_str(), path);
  {
    const Statement insert = prepare(
        database.get(),
        "INSERT INTO meta(boot_id, boot_ns, store_ns, fence, store_id, id) VALUES(?,?,?,?,?,1)",
        path);
    Use use(insert);
    bind_meta(use, meta);
    use.bind_text(5, store_id);
    if (use.step() != SQLITE_DONE) throw StoreError(path + ": " + sqlite3_errmsg(database.get()));
  }
  run_or_throw(database.get(), "COMMIT; PRAGMA journal_mode=WAL", path);
  return true;
}

SqliteLog::SqliteLog(const std::string& path) : connection_(std::make_unique<Connection>()) {
  Connection& c = *connection_;
  c.database = open_file(path);
  sqlite3* database = c.database.get();
  run_or_throw(database, "PRAGMA locking_mode=EXCLUSIVE", path);
  if (first_column(database, "PRAGMA application_id", path) != std::to_string(kApplicationId)) {
    throw StoreError(path + " holds no store: run `semel store init CONFIG`");
  }
  const std::string version = first_column(database, "PRAGMA user_version", path);
  if (version != std::to_string(kSchemaVersion)) {
    throw StoreError(path + " has schema version " + version + ", this program reads version " +
                     std::to_string(kSchemaVersion) +
                     ": use the program that wrote it, or another path");
  }
  if (first_column(database, "PRAGMA journal_mode=WAL", path) != "wal") {
    throw StoreError(path + ": this file system allows no write-ahead log");
  }
  run_or_throw(database,
               "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON;"
               "BEGIN IMMEDIATE; COMMIT",
               path);
  run_or_throw(database, kRoutesTable, path);
  sqlite3_wal_hook(
      database,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &c.wal_pages);

  const Statement meta = prepare(
      database, "SELECT store_id, boot_id, boot_ns, store_ns, fence FROM meta WHERE id = 1", path);
  Use use(meta);
  if (use.step() != SQLITE_ROW) throw StoreError(path + " has no meta row: the file is damaged");
  c.store_id = use.blob(0);
  c.meta_at_open.anchor.boot_id = use.blob(1);
  c.meta_at_open.anchor.boot = std::chrono::nanoseconds(use.integer(2));
  c.meta_at_open.anchor.store = StoreTime(use.integer(3));
  c.meta_at_open.fence.value = static_cast<std::uint64_t>(use.integer(4));

  const Statement routes = prepare(database, "SELECT terms FROM routes WHERE id = 1", path);
  Use found(routes);
  const int code = found.step();
  if (code == SQLITE_ROW) c.routes_at_open = found.blob(0);
  if (code != SQLITE_ROW && code != SQLITE_DONE) throw StoreError(path + " is damaged");

  c.begin = prepare(database, "BEGIN IMMEDIATE", path);
  c.commit = prepare(database, "COMMIT", path);
  c.rollback = prepare(database, "ROLLBACK", path);
  c.append = prepare(database, "INSERT INTO log(seq, key, entry, response) VALUES(?,?,?,?)", path);
  c.remove = prepare(database, "DELETE FROM log WHERE seq = ?", path);
  c.put_meta = prepare(
      database, "UPDATE meta SET boot_id = ?, boot_ns = ?, store_ns = ?, fence = ? WHERE id = 1",
      path);
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
  // `response` is the last column: its overflow pages are not read here.
  const int prepared = sqlite3_prepare_v2(
      c.database.get(), "SELECT seq, key, entry FROM log ORDER BY seq", -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return c.fault(prepared);
  Use use(statement);
  int code = SQLITE_ROW;
  while ((code = use.step()) == SQLITE_ROW) {
    c.last_seq = static_cast<std::uint64_t>(use.integer(0));
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

Result<void> SqliteLog::begin() { return connection_->finish(connection_->begin); }

Result<std::uint64_t> SqliteLog::append(const IdempotencyKey& key, std::string_view entry,
                                        std::optional<std::string_view> response) {
  Connection& c = *connection_;
  Use use(c.append);
  const std::uint64_t seq = c.last_seq + 1;
  use.bind(1, static_cast<std::int64_t>(seq));
  use.bind_blob(2, {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()});
  use.bind_blob(3, entry);
  if (response) use.bind_blob(4, *response);
  if (const auto done = c.finish(use); !done) return done.error();
  c.last_seq = seq;
  return seq;
}

Result<void> SqliteLog::remove(std::uint64_t seq) {
  Use use(connection_->remove);
  use.bind(1, static_cast<std::int64_t>(seq));
  return connection_->finish(use);
}

Result<void> SqliteLog::put_meta(const Meta& meta) {
  Use use(connection_->put_meta);
  bind_meta(use, meta);
  return connection_->finish(use);
}

Result<void> SqliteLog::put_routes(std::string_view bytes) {
  Use use(connection_->put_routes);
  use.bind_blob(1, bytes);
  return connection_->finish(use);
}

Result<void> SqliteLog::commit() { return connection_->finish(connection_->commit); }

void SqliteLog::rollback() {
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
  Connection& c = *connection_;
  if (c.wal_pages < kCheckpointPages) return {};
  const int code = sqlite3_wal_checkpoint_v2(c.database.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             nullptr, nullptr);
  if (code != SQLITE_OK) return c.fault(code);
  c.wal_pages = 0;
  return {};
}

Result<void> SqliteLog::checkpoint_all() {
  Connection& c = *connection_;
  const int code = sqlite3_wal_checkpoint_v2(c.database.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                             nullptr, nullptr);
  if (code != SQLITE_OK) return c.fault(code);
  c.wal_pages = 0;
  return {};
}

}  // namespace semel
