#pragma once

#include <string>

#include "core/fault.h"
#include "stores/pg_connection.h"

namespace semel {

/// What an error of the server means for the call that it answers.
struct PgVerdict {
  Fault fault = Fault::StoreUnreachable;
  /// The connection is of no more use: the server is read-only, or what was prepared is stale.
  bool renew = false;
};

/// Of an error after which the server goes on: the call's transaction was rolled back.
/// @source PostgreSQL 15, Appendix A, "PostgreSQL Error Codes".
[[nodiscard]] PgVerdict verdict_on(const PgAnswer& error);

/// For an operator: which statement, what the server said, and the cure where there is one. Never a
/// value of a parameter.
[[nodiscard]] std::string sentence_of(const PgStatement& statement, const PgAnswer& error);

}  // namespace semel
