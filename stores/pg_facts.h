#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stores/pg_backend.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"
#include "stores/record.h"

namespace semel {

/// What one server says of itself when a connection to it is made.
struct PgFacts {
  int version = 0;          ///< As `server_version_num`: 150014 is 15.14.
  bool has_origin = false;  ///< The role may read the two that follow.
  std::string system_id;    ///< Drawn at initdb, decimal.
  /// Of the WAL that is being written: rises when a standby is promoted or a backup restored.
  /// 0 on a standby.
  std::uint32_t timeline = 0;
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
  PgBackend backend;                      ///< What serves this connection.

  [[nodiscard]] int major() const { return version / 10'000; }
};

/// What a new connection is asked first.
[[nodiscard]] const PgStatement& pg_facts_statement();
[[nodiscard]] std::optional<PgFacts> pg_facts_of(const PgRows& answer);
/// Asked where `has_origin`.
[[nodiscard]] const PgStatement& pg_origin_statement();
/// @return false: that is no answer to it.
[[nodiscard]] bool add_origin(PgFacts& facts, const PgRows& answer);
/// Why a store cannot live there: a standby, or one that takes no writes. Empty: it can.
[[nodiscard]] std::string refusal_of(const PgFacts& facts);

}  // namespace semel
