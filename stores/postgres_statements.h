#pragma once

#include "stores/pg_statement.h"

namespace semel::postgres {

/// What is asked of the functions of the schema `semel` (stores/postgres/), one for each operation
/// of a store. The first column of each answer is the server's time.
extern const PgStatement kMeet;
extern const PgStatement kClaim;  ///< Also supersede().
extern const PgStatement kRecord;
extern const PgStatement kRelease;
extern const PgStatement kMark;
extern const PgStatement kWake;  ///< Answers nothing.
extern const PgStatement kFind;
extern const PgStatement kList;
extern const PgStatement kResolve;
extern const PgStatement kForget;
extern const PgStatement kRoutes;
extern const PgStatement kAdopt;
extern const PgStatement kSweep;
extern const PgStatement kHealth;
extern const PgStatement kAcknowledge;
extern const PgStatement kDoubtClock;
extern const PgStatement kEvents;        ///< Its first column is the store's id.
extern const PgStatement kForgetEvents;  ///< Its columns are a position.

/// Whether there is a store, and of which format: asked without relying on either.
extern const PgStatement kHasStore;
extern const PgStatement kFormat;

}  // namespace semel::postgres
