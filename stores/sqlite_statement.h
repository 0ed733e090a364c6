#pragma once

// SQLite's objects with owners. For sqlite_log.cc and sqlite_file.cc alone.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace semel::sqlite {

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

/// @owns Valid as long as the value is, which is the library's.
inline std::string_view blob_of(sqlite3_value* value) {
  const void* bytes = sqlite3_value_blob(value);
  const int size = sqlite3_value_bytes(value);
  return {static_cast<const char*>(bytes), bytes ? static_cast<std::size_t>(size) : 0};
}

}  // namespace semel::sqlite
