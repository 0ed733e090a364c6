#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stores/pg_backend.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"

namespace semel {

/// Backends that one worker's connections were closed on before they had answered. A commit that
/// waits for a standby ends by no timeout and by no closed socket: it keeps its locks, and is made
/// in the end. Whoever dialled such a lane again would leave the next one behind, up to the
/// server's `max_connections`. So a lane stays down until its backend is done, and of all lanes
/// that wait one at a time keeps a connection, to watch over all of them.
/// @thread One worker's.
class PgLeftBehind {
 public:
  using ByLane = std::map<std::size_t, PgBackend>;

  /// Of two that a lane leaves the first one counts: behind it nothing but questions was asked.
  void leave(std::size_t lane, const PgBackend& backend) { left_.emplace(lane, backend); }
  [[nodiscard]] bool has(std::size_t lane) const { return left_.contains(lane); }

  /// @return false: something of it was left behind, and another lane watches.
  [[nodiscard]] bool may_dial(std::size_t lane);
  void stop_watching(std::size_t lane);

  [[nodiscard]] ByLane all() const { return left_; }
  /// Which of these are still at work: asked on a connection to whatever server there is now.
  [[nodiscard]] static const PgStatement& question();
  [[nodiscard]] static std::vector<PgValue> params(const ByLane& asked);
  /// Forgets those that are done, of those that were asked for: others may have come since.
  void note(const ByLane& asked, const PgRows& answer);
  /// For an operator: what the lane's is doing.
  [[nodiscard]] std::string trouble(std::size_t lane) const;

 private:
  ByLane left_;
  std::map<std::size_t, std::string> busy_;  ///< What they wait for, as the server calls it.
  std::optional<std::size_t> watching_;
};

}  // namespace semel
