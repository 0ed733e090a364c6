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
#include "proxy/outcome.h"

namespace semel::proxy {

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
  std::uint16_t status = 0;
  Stage last_stage = Stage::Done;
  Act last_act = Act::Finish;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds upstream_duration{0};
  std::uint64_t bytes_sent = 0;
  std::string_view trace_id;  ///< 32 hex digits; empty where unknown.
  bool client_gone = false;
};

/// JSON lines, gathered per worker and written a block at a time.
/// @thread One worker's. Several may share a file: each block is one append of whole lines.
class AccessLog {
 public:
  /// @param fd  -1: off. Not owned.
  explicit AccessLog(int fd) : fd_(fd) {}
  [[nodiscard]] bool is_on() const { return fd_ >= 0; }
  void write(const AccessEntry& entry);
  void flush();

 private:
  static constexpr std::size_t kBlock = 32 * 1024;
  int fd_;
  std::string pending_;
};

}  // namespace semel::proxy
