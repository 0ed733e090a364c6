#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/claim.h"
#include "core/dispatch.h"
#include "core/policy.h"
#include "core/upstream_end.h"
#include "proxy/metrics.h"
#include "proxy/outcome.h"

namespace semel::proxy {

/// Opens the log for appending.
/// @param path  As configured: `-` is standard output; absent: there is no log.
/// @return -1 where there is none.
/// @throws std::runtime_error that names the file and says why it cannot be opened.
[[nodiscard]] int open_access_log(const std::optional<std::string>& path);

/// What one line says of one exchange. No body, argument, token or full key has a place here.
struct AccessEntry {
  std::string_view method;
  std::string_view route;  ///< Empty: none matched.
  Policy policy = Policy::None;
  Outcome outcome = Outcome::Refused;
  std::string_view problem;  ///< The refusal's slug; empty where there was none.
  const IdempotencyKey* key = nullptr;
  std::string_view reference;
  std::optional<UpstreamEnd> upstream_end;
  std::string_view upstream_failure;  ///< Why there was no answer; empty where there was one.
  std::uint16_t status = 0;
  Stage last_stage = Stage::Done;
  Act last_act = Act::Finish;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds upstream_duration{0};
  std::uint64_t bytes_sent = 0;
  std::string_view trace_id;  ///< 32 hex digits; empty where unknown.
  bool client_gone = false;
};

/// JSON lines, gathered per worker and written a block at a time. A reader that does not read costs
/// lines, which are counted, and never a request: nothing here waits.
/// @thread One worker's. Several may share a file or a pipe: each write is one append of whole
/// lines.
class AccessLog {
 public:
  /// @param fd       -1: off. Not owned.
  /// @param dropped  Counts the lines that nobody took.
  AccessLog(int fd, Counter& dropped);
  [[nodiscard]] bool is_on() const { return fd_ >= 0; }
  void write(const AccessEntry& entry);
  /// Writes what the other end takes now, and keeps the rest.
  void flush();

 private:
  static constexpr std::size_t kBlock = 32 * 1024;
  /// A write of at most this much is whole, and does not wait where poll() says writable (POSIX).
  static constexpr std::size_t kPiece = 4096;
  static constexpr std::size_t kKeptMax = 1024 * 1024;
  int fd_;
  bool is_file_ = false;
  Counter& dropped_;
  std::string pending_;
};

}  // namespace semel::proxy
