#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

enum class ServerKind : std::uint8_t { Nginx, Haproxy, Apache, Node };
[[nodiscard]] std::string_view name(ServerKind kind);

/// One request as a server's own parser saw it.
struct SeenRequest {
  int status = 0;      ///< What the server answered by itself.
  std::string method;  ///< Empty, as what follows, where the server could not read it.
  std::string target;
  std::string tenant;  ///< The value of X-Tenant-Id.
  std::string key;     ///< The value of Idempotency-Key.
  std::string body;    ///< Without the chunked coding.
};

/// A server from a Debian package, with a small configuration of its own, on a free port of
/// 127.0.0.1 and in a temporary folder. It answers `200` with `X-Seen`, and tells in a file what
/// it parsed.
class RealServer {
 public:
  /// Where its program is; absent where it is not installed.
  [[nodiscard]] static std::optional<std::string> program(ServerKind kind);

  /// Starts it and waits until it accepts connections.
  /// @throws std::runtime_error with what it wrote if it does not come up.
  explicit RealServer(ServerKind kind);
  ~RealServer();
  RealServer(const RealServer&) = delete;
  RealServer& operator=(const RealServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Every request so far, in the order in which they ended; a refused one is among them.
  [[nodiscard]] std::vector<SeenRequest> seen() const;
  /// Ends it, with all its children.
  void stop();

 private:
  [[nodiscard]] std::vector<std::string> command() const;
  void copy(const std::string& template_name) const;
  /// What never came to Apache's program, because the server answered by itself.
  void add_refused(std::vector<SeenRequest>& all) const;

  ServerKind kind_;
  TempFolder folder_;
  std::uint16_t port_;
  std::unique_ptr<Process> process_;
};

}  // namespace semel::testing
