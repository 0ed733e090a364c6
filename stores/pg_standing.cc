#include "stores/pg_standing.h"

#include <algorithm>

namespace semel {

void PgStanding::up(std::size_t lane, const PgFacts& facts) {
  const std::lock_guard lock(mutex_);
  if (lanes_up_.empty()) trouble_.clear();  // The next outage has reasons of its own.
  lanes_up_.insert(lane);
  facts_ = facts;
  reached_at_ = Clock::now();
}

void PgStanding::down(std::size_t lane, const std::string& trouble) {
  const std::lock_guard lock(mutex_);
  lanes_up_.erase(lane);
  if (!trouble.empty()) trouble_ = trouble;
}

void PgStanding::complain(const std::string& trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = trouble;
}

void PgStanding::haunt(Clock::time_point until) {
  const std::lock_guard lock(mutex_);
  ghosts_until_ = std::max(ghosts_until_, until);
}

bool PgStanding::is_up() const {
  const std::lock_guard lock(mutex_);
  return !lanes_up_.empty();
}

bool PgStanding::is_reached_since(Clock::time_point since) const {
  const std::lock_guard lock(mutex_);
  return reached_at_ > since;
}

std::optional<PgFacts> PgStanding::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::string PgStanding::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

PgStanding::Clock::time_point PgStanding::ghosts_until() const {
  const std::lock_guard lock(mutex_);
  return ghosts_until_;
}

}  // namespace semel
