#pragma once

#include <string>

namespace semel {

/// Where the blocks are kept that a full disk gets back: beside the file, where SQLite's own
/// companions of it lie too.
[[nodiscard]] std::string reserve_path(const std::string& path);

/// Whether a write-ahead log with content lies beside the file, as after a crash. SQLite takes
/// whatever lies there for the file's own.
[[nodiscard]] bool is_log_beside(const std::string& path);

}  // namespace semel
