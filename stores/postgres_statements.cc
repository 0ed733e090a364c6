#include "stores/postgres_statements.h"

namespace semel::postgres {

using enum PgType;
using Kind = PgStatement::Kind;

const PgStatement kMeet{"semel_meet",
                        "SELECT * FROM semel.meet($1, $2, $3, $4)",
                        Kind::Write,
                        {Text, Text, Int8Array, Int8Array}};

const PgStatement kClaim{
    "semel_claim",
    "SELECT * FROM semel.claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
    " $16::semel.policy, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)",
    Kind::Write,
    {Text,  Text,       Int4,       Int4,       Int8,       Int8,       Int8,  Int8,  Bool, Bytea,
     Bytea, Bytea,      Bytea,      Bytea,      Bytea,      Text,       Bytea, Bytea, Int8, Int8,
     Int8,  ByteaArray, ByteaArray, ByteaArray, ByteaArray, ByteaArray, Bytea, Int8}};

const PgStatement kRecord{"semel_record",
                          "SELECT * FROM semel.record($1, $2, $3, $4, $5, $6, $7)",
                          Kind::Write,
                          {Bytea, Bytea, Int8, Int4, Bytea, Int8, Bool}};

const PgStatement kRelease{"semel_release",
                           "SELECT * FROM semel.release($1, $2, $3, $4, $5)",
                           Kind::Write,
                           {Bytea, Bytea, Int8, Int8, Bool}};

const PgStatement kMark{"semel_mark",
                        "SELECT * FROM semel.mark($1, $2, $3, $4::semel.reason, $5, $6, $7)",
                        Kind::Write,
                        {Bytea, Bytea, Int8, Text, Int4, Int8, Bool}};

const PgStatement kWake{"semel_wake", "SELECT semel.wake($1)", Kind::Read, {ByteaArray}};

const PgStatement kFind{
    "semel_find", "SELECT * FROM semel.find($1, $2, $3)", Kind::Read, {Bytea, Bytea, Int8}};

const PgStatement kList{"semel_list",
                        "SELECT * FROM semel.list($1::semel.state, $2, $3, $4, $5, $6)",
                        Kind::Read,
                        {Text, Bytea, Int8, Int4, Int4, Int8}};

const PgStatement kResolve{"semel_resolve",
                           "SELECT * FROM semel.resolve($1, $2, $3, $4, $5, $6)",
                           Kind::Write,
                           {Bytea, Bool, Int4, Bytea, Int8, Bool}};

const PgStatement kForget{"semel_forget",
                          "SELECT * FROM semel.forget($1, $2, $3, $4, $5)",
                          Kind::Write,
                          {Bytea, Int8, Int4, Int4, Int8}};

const PgStatement kRoutes{"semel_routes", "SELECT * FROM semel.routes()", Kind::Read, {}};

const PgStatement kAdopt{"semel_adopt",
                         "SELECT * FROM semel.adopt($1, $2, $3, $4, $5, $6)",
                         Kind::Write,
                         {Bytea, ByteaArray, TextArray, Int8Array, Int8Array, Int8}};

const PgStatement kSweep{"semel_sweep",
                         "SELECT * FROM semel.sweep($1, $2, $3, $4, $5, $6)",
                         Kind::Write,
                         {Int4, Int8, Bool, Int8, Int8, Text}};

const PgStatement kHealth{"semel_health", "SELECT * FROM semel.health()", Kind::Read, {}};

const PgStatement kAcknowledge{
    "semel_acknowledge", "SELECT * FROM semel.acknowledge($1)", Kind::Write, {Int8}};

const PgStatement kDoubtClock{
    "semel_doubt_clock", "SELECT semel.doubt_clock($1)", Kind::Write, {Int8}};

const PgStatement kEvents{"semel_events",
                          "SELECT * FROM semel.events($1::xid8, $2, $3, $4)",
                          Kind::Read,
                          {Text, Int8, Int8, Int4}};

const PgStatement kForgetEvents{"semel_forget_events",
                                "SELECT * FROM semel.forget_events($1, $2::xid8, $3, $4)",
                                Kind::Write,
                                {Bytea, Text, Int8, Int4}};

const PgStatement kHasStore{
    "semel_has_store", "SELECT to_regclass('semel.store') IS NOT NULL", Kind::Read, {}};

const PgStatement kFormat{
    "semel_format", "SELECT s.format, s.store_id FROM semel.store s", Kind::Read, {}};

}  // namespace semel::postgres
