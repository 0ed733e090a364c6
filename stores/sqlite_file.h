#pragma once

// Opening a file with SQLite, and the first questions to it. For sqlite_log.cc alone.

#include <optional>
#include <string>

#include "core/fault.h"
#include "stores/log_note.h"
#include "stores/open.h"
#include "stores/sqlite_statement.h"

namespace semel::sqlite {

/// Says what to do where the folder of a file that is to be made is missing. @throws StoreError
void expect_folder(const std::string& path);

/// Makes an empty file where there is none, but no folder: that of a volume which is not mounted is
/// missing too. @throws StoreError
void make_file(const std::string& path);

/// For reading and writing. Closing it leaves a write-ahead log as it is, until that is changed.
/// @throws StoreError
[[nodiscard]] Database open_file(const std::string& path);

/// The last error of `database` as a sentence, with its cure where the file is damaged.
[[nodiscard]] StoreError failure(sqlite3* database, const std::string& path);
/// What the code with which a statement ended says of the world: StoreFull or StoreBroken.
[[nodiscard]] Fault fault_of(sqlite3* database, int code);
/// @throws StoreError
void run_or_throw(sqlite3* database, const char* sql, const std::string& path);
/// @throws StoreError
[[nodiscard]] Statement prepare(sqlite3* database, const char* sql, const std::string& path);
/// @return The first column of the first row; empty if there is no row. @throws StoreError
[[nodiscard]] std::string first_column(sqlite3* database, const char* sql, const std::string& path);

/// The log note of a store and its tally; absent: it has none, or none that can be relied on.
[[nodiscard]] std::optional<NotedState> read_note(sqlite3* database);
/// The same of the file as it is without the write-ahead log that may lie beside it. Touches
/// neither.
[[nodiscard]] std::optional<NotedState> read_note_without_log(const std::string& path);

}  // namespace semel::sqlite
