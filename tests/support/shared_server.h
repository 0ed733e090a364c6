#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/postgres_server.h"
#include "tests/support/redis_server.h"

namespace semel::testing {

enum class SharedKind : std::uint8_t { Redis, Postgres };
/// Those that the program can have its store on.
inline constexpr std::array<SharedKind, 2> kSharedKinds = {SharedKind::Redis, SharedKind::Postgres};
[[nodiscard]] std::string_view name(SharedKind kind);

/// The server of a store that replicas share, whichever it is: what it has told outlives its kill.
class SharedServer {
 public:
  [[nodiscard]] static bool is_installed(SharedKind kind);

  /// @param wall  Its clock; it outlives the server. Null: this machine's.
  explicit SharedServer(SharedKind kind, const MovedWall* wall = nullptr);

  [[nodiscard]] std::uint16_t port() const;
  /// What a configuration says below `store:`, for somebody who reaches it at that port.
  /// @param more  Further keys: `, wait_replicas: 1`.
  [[nodiscard]] std::string yaml(std::uint16_t port, const std::string& more = {}) const;

  void kill9();
  void pause();
  void resume();
  void restart();
  /// All that Semel has there.
  void lose_the_store();

 private:
  // One of the two.
  std::unique_ptr<RedisServer> redis_;
  std::unique_ptr<PostgresServer> postgres_;
};

}  // namespace semel::testing
