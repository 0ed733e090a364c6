#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// What `synchronous_standby_names` asks of a commit.
struct PgStandbyNames {
  std::size_t count = 1;           ///< So many of them have to confirm it.
  std::vector<std::string> names;  ///< As they are compared, without regard to case.

  /// Whoever confirms it, each of these has it. Not so where fewer than all have to, nor where `*`
  /// stands for any number of them.
  [[nodiscard]] bool are_all_waited_for() const;
};

/// Pure: no server is asked.
/// @param setting  As `SHOW synchronous_standby_names` spells it.
/// @return         Absent: it is empty, or nothing that PostgreSQL would take.
/// @source PostgreSQL 15, src/backend/replication/syncrep_gram.y and syncrep_scanner.l.
[[nodiscard]] std::optional<PgStandbyNames> parse_standby_names(std::string_view setting);

}  // namespace semel
