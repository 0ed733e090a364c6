#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::proxy {

/// What an operator did, or tried to. No body and no token has a place here.
struct AuditEntry {
  std::string_view action;            ///< `resolve`, `forget`, `acknowledge`, `reload`, `start`.
  std::string reference;              ///< Of a resolve.
  std::optional<std::string> tenant;  ///< Of a forget.
  std::string_view decision;          ///< Of a resolve.
  std::vector<std::string> acknowledged;  ///< Of a reload or start: routes whose keys may be freed.
  std::optional<std::size_t> forgotten;   ///< Of a forget that was done: how many records.
  std::string operator_name;
  std::string note;
  std::string_view result;  ///< `done`, or the word of what stood in the way.
};

/// Who gave a command that names nobody: `$USER`, or an empty text.
[[nodiscard]] std::string user_at_the_keyboard();

/// One JSON line, `"kind":"audit"`, for each thing that an operator did, among the lines of the
/// access log. A line that the log does not take at once goes to standard error: it is never lost
/// in silence.
class AuditLog {
 public:
  /// @param access_log_fd  -1: standard error. Not owned.
  explicit AuditLog(int access_log_fd);
  void write(const AuditEntry& entry);

 private:
  int fd_;
};

}  // namespace semel::proxy
