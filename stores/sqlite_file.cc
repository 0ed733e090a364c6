#include "stores/sqlite_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stores/sqlite_log.h"
#include "stores/sqlite_schema.h"

namespace semel::sqlite {
namespace {

/// A path as SQLite takes it in a URI, whatever bytes it has.
std::string percent_encoded(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    if (c != '%' && c != '?' && c != '#') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
  }
  return encoded;
}

/// Before the first use. Nobody asks for SQLite's statistics, and each of its allocations would
/// take a lock for them. Too late where the process has used SQLite before: then they stay.
void configure() {
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(configured);
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT; }

/// Why the last sync failed. SQLite tells a COMMIT's reason to the file alone that it synced: one
/// of two, and what the other remembers is at worst a full disk of earlier.
int sync_errno(sqlite3* database) {
  int reason = 0;
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    int remembered = 0;
    sqlite3_file_control(database, "main", which, &file);
    if (file == nullptr || file->pMethods == nullptr) continue;
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &remembered);
    if (remembered != 0 && (reason == 0 || is_full(reason))) reason = remembered;
  }
  return reason;
}

}  // namespace

void expect_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::exists(folder, ignored)) return;
  throw StoreError("cannot create " + path + ": the folder " + folder +
                   " does not exist: make it (`mkdir -p " + folder +
                   "`), or mount the volume that it belongs to");
}

void make_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const std::string reason = std::generic_category().message(errno);
    expect_folder(path);
    throw StoreError("cannot create " + path + ": " + reason);
  }
  ::close(descriptor);
}

Database open_file(const std::string& path) {
  configure();
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) throw StoreError("cannot open " + path + ": " + sqlite3_errstr(code));
  sqlite3_extended_result_codes(raw, 1);
  // Closing would copy a write-ahead log into a file that it may not belong to.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return database;
}

StoreError failure(sqlite3* database, const std::string& path) {
  const bool damaged = (sqlite3_errcode(database) & 0xFF) == SQLITE_CORRUPT;
  return StoreError(path + ": " + sqlite3_errmsg(database) + (damaged ? kDamageCure : ""));
}

Fault fault_of(sqlite3* database, int code) {
  const int primary = code & 0xFF;
  if (primary == SQLITE_FULL) return Fault::StoreFull;
  if (primary == SQLITE_IOERR && is_full(sqlite3_system_errno(database))) return Fault::StoreFull;
  if (code == SQLITE_IOERR_FSYNC && is_full(sync_errno(database))) return Fault::StoreFull;
  return Fault::StoreBroken;
}

void run_or_throw(sqlite3* database, const char* sql, const std::string& path) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw failure(database, path);
  }
}

Statement prepare(sqlite3* database, const char* sql, const std::string& path) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
      SQLITE_OK) {
    throw failure(database, path);
  }
  return Statement(raw);
}

std::string first_column(sqlite3* database, const char* sql, const std::string& path) {
  const Statement statement = prepare(database, sql, path);
  Use use(statement);
  const int code = use.step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    throw failure(database, path);
  }
  return code == SQLITE_ROW ? std::string(use.blob(0)) : std::string();
}

std::optional<NotedState> read_note(sqlite3* database) {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(database, schema::kSelectLogNote, -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return std::nullopt;  // A file of before lacks the column.
  Use use(statement);
  if (use.step() != SQLITE_ROW) return std::nullopt;
  const RowTally tally{static_cast<std::uint64_t>(use.integer(1)),
                       static_cast<std::uint64_t>(use.integer(2))};
  const auto note = decode_log_note(use.blob(0), tally, StoreTime(use.integer(3)));
  if (!note) return std::nullopt;
  return NotedState{*note, tally};
}

std::optional<NotedState> read_note_without_log(const std::string& path) {
  configure();
  sqlite3* raw = nullptr;
  const std::string uri = "file:" + percent_encoded(path) + "?immutable=1";
  const int code = sqlite3_open_v2(
      uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  const Database database(raw);
  if (code != SQLITE_OK) return std::nullopt;
  return read_note(raw);
}

}  // namespace semel::sqlite
