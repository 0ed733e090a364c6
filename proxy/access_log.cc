#include "proxy/access_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "core/json_text.h"
#include "proxy/utc_time.h"

namespace semel::proxy {
namespace {

/// A method is a client's word, and may be long.
constexpr std::size_t kMethodShown = 32;

void append_number(std::string& out, std::uint64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_string(std::string& out, std::string_view name, std::string_view value) {
  out.append(",\"").append(name).append("\":");
  append_json_string(out, value);
}

void append_micros(std::string& out, std::string_view name, std::chrono::nanoseconds time) {
  out.append(",\"").append(name).append("\":");
  append_number(out, static_cast<std::uint64_t>(
                         std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
}

void append_time(std::string& out) {
  out.append("{\"time\":\"");
  append_utc(out, std::chrono::system_clock::now());
  out.append("\"");
}

/// As many lines from the front as `bytes` hold; one at least.
std::string_view whole_lines(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto last = text.rfind('\n', bytes - 1);
  return text.substr(0, (last == std::string_view::npos ? text.find('\n') : last) + 1);
}

}  // namespace

int open_access_log(const std::optional<std::string>& path) {
  if (!path) return -1;
  if (*path == "-") return STDOUT_FILENO;
  const int fd = ::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd >= 0) return fd;
  throw std::runtime_error("access_log.path: cannot open " + *path + ": " + std::strerror(errno));
}

AccessLog::AccessLog(int fd, Counter& dropped) : fd_(fd), dropped_(dropped) {
  struct stat what{};
  is_file_ = fd_ >= 0 && ::fstat(fd_, &what) == 0 && S_ISREG(what.st_mode);
}

void AccessLog::write(const AccessEntry& entry) {
  if (!is_on()) return;
  if (pending_.size() >= kKeptMax) {
    dropped_.add();
    return;
  }
  append_time(pending_);
  append_string(pending_, "method", entry.method.substr(0, kMethodShown));
  append_string(pending_, "route", entry.route);
  append_string(pending_, "policy", name(entry.policy));
  append_string(pending_, "outcome", name(entry.outcome));
  pending_.append(",\"status\":");
  append_number(pending_, entry.status);
  if (!entry.problem.empty()) append_string(pending_, "problem", entry.problem);
  if (entry.key != nullptr) append_string(pending_, "key", key_prefix(*entry.key));
  if (!entry.reference.empty()) append_string(pending_, "reference", entry.reference);
  if (entry.upstream_end) append_string(pending_, "upstream_end", name(*entry.upstream_end));
  if (!entry.upstream_failure.empty()) {
    append_string(pending_, "upstream_failure", entry.upstream_failure);
  }
  append_string(pending_, "stage", name(entry.last_stage));
  append_string(pending_, "act", name(entry.last_act));
  append_micros(pending_, "duration_us", entry.duration);
  append_micros(pending_, "upstream_us", entry.upstream_duration);
  pending_.append(",\"bytes\":");
  append_number(pending_, entry.bytes_sent);
  if (!entry.trace_id.empty()) append_string(pending_, "trace_id", entry.trace_id);
  if (entry.client_gone) pending_.append(",\"client_gone\":true");
  pending_.append("}\n");
  if (pending_.size() >= kBlock) flush();
}

void AccessLog::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    std::string_view piece = rest;
    if (!is_file_) {
      pollfd other_end{fd_, POLLOUT, 0};
      if (::poll(&other_end, 1, 0) != 1 || (other_end.revents & POLLOUT) == 0) break;
      piece = whole_lines(rest, kPiece);
    }
    const auto written = ::write(fd_, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // A full disk or a closed pipe.
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  pending_.erase(0, pending_.size() - rest.size());
}

}  // namespace semel::proxy
