#pragma once

// The tables of a store's file as SQL. docs/record-format.md says what is in them.

namespace semel::schema {

inline constexpr int kApplicationId = 0x53454D4C;  // "SEML"
inline constexpr int kVersion = 1;

inline constexpr char kTables[] =
    "CREATE TABLE log(seq INTEGER PRIMARY KEY, key BLOB NOT NULL, entry BLOB NOT NULL,"
    "                 response BLOB);"
    "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK(id = 1), store_id TEXT NOT NULL,"
    "                  boot_id TEXT NOT NULL, boot_ns INTEGER NOT NULL,"
    "                  store_ns INTEGER NOT NULL, fence INTEGER NOT NULL);";

/// Younger than version 1: a file without it is given it when it is opened.
inline constexpr char kRoutesTable[] =
    "CREATE TABLE IF NOT EXISTS routes(id INTEGER PRIMARY KEY CHECK(id = 1), terms BLOB NOT NULL)";

/// Younger than version 1, too. Null: the rows were never counted.
inline constexpr char kTallyColumns[] =
    "ALTER TABLE meta ADD COLUMN row_count INTEGER;"
    "ALTER TABLE meta ADD COLUMN row_hash INTEGER;"
    "ALTER TABLE meta ADD COLUMN tally_ns INTEGER;";
inline constexpr char kHasTallyColumns[] =
    "SELECT count(*) FROM pragma_table_info('meta') WHERE name = 'tally_ns'";

/// And this. Null: which log the row was written in is not known.
inline constexpr char kLogNoteColumn[] = "ALTER TABLE meta ADD COLUMN log_note BLOB";
inline constexpr char kHasLogNoteColumn[] =
    "SELECT count(*) FROM pragma_table_info('meta') WHERE name = 'log_note'";
inline constexpr char kSelectLogNote[] =
    "SELECT log_note, row_count, row_hash, store_ns FROM meta WHERE id = 1";

inline constexpr char kInsertMeta[] =
    "INSERT INTO meta(boot_id, boot_ns, store_ns, fence, row_count, row_hash, tally_ns, log_note,"
    "                 store_id, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?3, ?7, ?8, 1)";
/// A program that knows no tally moves `store_ns` alone: what it leaves behind is uncounted.
inline constexpr char kUpdateMeta[] =
    "UPDATE meta SET boot_id = ?1, boot_ns = ?2, store_ns = ?3, fence = ?4, row_count = ?5,"
    "                row_hash = ?6, tally_ns = ?3, log_note = ?7 WHERE id = 1";
inline constexpr char kSelectMeta[] =
    "SELECT store_id, boot_id, boot_ns, store_ns, fence, tally_ns IS store_ns, row_count, row_hash"
    "  FROM meta WHERE id = 1";

/// `response` is the last column: its overflow pages are not read for its length.
inline constexpr char kSelectRows[] =
    "SELECT seq, key, entry, length(response) FROM log ORDER BY seq";
/// `discount` is ours: the row that goes is the row that is counted no more.
inline constexpr char kDeleteRow[] =
    "DELETE FROM log WHERE seq = ? AND discount(seq, key, entry, length(response))";

}  // namespace semel::schema
