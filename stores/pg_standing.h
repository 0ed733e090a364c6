#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "stores/pg_facts.h"

namespace semel {

/// How the connections of one store stand, as all workers see it.
/// @thread Any.
class PgStanding {
 public:
  using Clock = std::chrono::steady_clock;

  void up(std::size_t lane, const PgFacts& facts);
  void down(std::size_t lane, const std::string& trouble);
  /// A call went wrong by itself.
  void complain(const std::string& trouble);
  /// Calls of a connection that broke may be carried out until then.
  void haunt(Clock::time_point until);

  [[nodiscard]] bool is_up() const;
  /// True if a connection was let through later than that: whoever has none may try at once.
  [[nodiscard]] bool is_reached_since(Clock::time_point since) const;
  [[nodiscard]] std::optional<PgFacts> facts() const;
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] Clock::time_point ghosts_until() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::size_t> lanes_up_;
  std::optional<PgFacts> facts_;
  std::string trouble_;
  Clock::time_point reached_at_ = Clock::time_point::min();
  Clock::time_point ghosts_until_ = Clock::time_point::min();
};

}  // namespace semel
