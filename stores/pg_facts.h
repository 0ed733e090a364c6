#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "stores/record.h"

namespace semel {

/// What one server says of itself when a connection to it is made.
struct PgFacts {
  int version = 0;             ///< As `server_version_num`: 150014 is 15.14.
  std::string system_id;       ///< Drawn at initdb, decimal. Empty: the role may not read it.
  std::uint32_t timeline = 0;  ///< Of the WAL that is being written: rises when a standby is
                               ///< promoted, or a backup restored. 0 on a standby.
  bool is_standby = false;
  bool is_read_only = false;  ///< `default_transaction_read_only`, or a standby.
  StoreTime started{0};       ///< When its postmaster started: since 1970, by its own clock.
  StoreTime time{0};          ///< Its clock, when it answered.
  std::string fsync;          ///< These three as the server spells them: `on`, `off`, `local`, ...
  std::string full_page_writes;
  std::string synchronous_commit;
  std::string synchronous_standby_names;  ///< Empty: a commit waits for no standby.
  std::size_t standbys = 0;               ///< That are connected.
  std::size_t synchronous_standbys = 0;   ///< Of these; 0 where the role may not see it.
  std::string role;                       ///< Who we are to it.

  [[nodiscard]] int major() const { return version / 10'000; }
};

}  // namespace semel
