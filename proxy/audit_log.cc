#include "proxy/audit_log.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "core/json_object.h"
#include "proxy/utc_time.h"

namespace semel::proxy {
namespace {

/// A tenant is a client's word, and may be long.
constexpr std::size_t kTenantShown = 256;
/// A write of at most this much does not wait where poll() says writable (POSIX).
constexpr std::size_t kPiece = 4096;

std::string line_of(const AuditEntry& entry) {
  std::string line;
  std::string time;
  append_utc(time, std::chrono::system_clock::now());
  JsonObject object(line);
  object.text("time", time);
  object.text("kind", "audit");
  object.text("action", entry.action);
  if (!entry.reference.empty()) object.text("reference", entry.reference);
  if (entry.tenant) object.text("tenant", entry.tenant->substr(0, kTenantShown));
  if (!entry.decision.empty()) object.text("decision", entry.decision);
  if (!entry.acknowledged.empty()) {
    object.begin("acknowledged");
    char separator = '[';
    for (const std::string& route : entry.acknowledged) {
      line += separator;
      append_json_string(line, route);
      separator = ',';
    }
    line += ']';
  }
  if (!entry.operator_name.empty()) object.text("operator", entry.operator_name);
  if (!entry.note.empty()) object.text("note", entry.note);
  object.text("result", entry.result);
  if (entry.forgotten) object.number("forgotten", *entry.forgotten);
  object.end();
  return line + "\n";
}

bool takes(int fd, const std::string& line) {
  pollfd other_end{fd, POLLOUT, 0};
  if (::poll(&other_end, 1, 0) != 1 || (other_end.revents & POLLOUT) == 0) return false;
  return line.size() <= kPiece &&
         ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace

std::string user_at_the_keyboard() {
  const char* const user = std::getenv("USER");
  return user != nullptr ? user : "";
}

AuditLog::AuditLog(int access_log_fd) : fd_(access_log_fd) {}

void AuditLog::write(const AuditEntry& entry) {
  const std::string line = line_of(entry);
  if (fd_ >= 0 && takes(fd_, line)) return;
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;  // There is nobody left to tell.
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace semel::proxy
