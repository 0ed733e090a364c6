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

/// The transition log: made when it is first asked for.
inline constexpr char kHasEventTables[] =
    "SELECT count(*) FROM sqlite_master WHERE name = 'event_span'";
inline constexpr char kEventTables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE event(number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key BLOB NOT NULL,"
    "                   reference BLOB NOT NULL, fence INTEGER NOT NULL, policy INTEGER NOT NULL,"
    "                   tenant BLOB NOT NULL, route BLOB NOT NULL, reason INTEGER, status INTEGER,"
    "                   happened INTEGER, at_ns INTEGER NOT NULL, store_ns INTEGER NOT NULL);"
    "CREATE TABLE event_span(id INTEGER PRIMARY KEY CHECK(id = 1), trimmed INTEGER NOT NULL,"
    "                        last INTEGER NOT NULL);"
    "INSERT INTO event_span(id, trimmed, last) VALUES(1, 0, 0);"
    "COMMIT";
inline constexpr char kSelectEventSpan[] =
    "SELECT trimmed, max(last, ifnull((SELECT max(number) FROM event), 0)) FROM event_span";
inline constexpr char kUpdateEventSpan[] = "UPDATE event_span SET trimmed = ?1, last = ?2";
inline constexpr char kInsertEvent[] =
    "INSERT INTO event(number, kind, key, reference, fence, policy, tenant, route, reason, status,"
    "                  happened, at_ns, store_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)";
inline constexpr char kSelectEvents[] =
    "SELECT number, kind, key, reference, fence, policy, tenant, route, reason, status, happened,"
    "       at_ns FROM event WHERE number > ?1 ORDER BY number LIMIT ?2";
inline constexpr char kSelectOldestEvents[] =
    "SELECT number, store_ns FROM event ORDER BY number LIMIT ?1";
inline constexpr char kSelectEndOfEvents[] =
    "SELECT max(number) FROM (SELECT number FROM event WHERE number > ?1 ORDER BY number LIMIT ?2)";
inline constexpr char kDropEvents[] = "DELETE FROM event WHERE number <= ?1";
inline constexpr char kForgetEvents[] =
    "DELETE FROM event WHERE number > ?1 AND number <= ?2 AND tenant = ?3";

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
