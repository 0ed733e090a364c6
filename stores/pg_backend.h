#pragma once

#include <cstdint>

namespace semel {

/// The process of a server that serves one connection. No other one, of any server, has both: a pid
/// that is given again begins at another time.
struct PgBackend {
  std::int64_t pid = 0;
  std::int64_t started = 0;  ///< Microseconds since 1970, by the server's clock.
  friend bool operator==(const PgBackend&, const PgBackend&) = default;
};

}  // namespace semel
