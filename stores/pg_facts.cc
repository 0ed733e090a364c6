#include "stores/pg_facts.h"

#include <charconv>
#include <chrono>

namespace semel {
namespace {

const PgStatement kFacts{
    "semel_facts",
    "SELECT current_setting('server_version_num')::int4,"
    " pg_is_in_recovery(),"
    " current_setting('transaction_read_only')::bool,"
    " (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::int8,"
    " (extract(epoch FROM clock_timestamp()) * 1000000)::int8,"
    " current_setting('fsync'),"
    " current_setting('full_page_writes'),"
    " current_setting('synchronous_commit'),"
    " current_setting('synchronous_standby_names'),"
    " (SELECT count(*) FROM pg_stat_replication),"
    " (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),"
    " current_user::text,"
    " pg_backend_pid()::int8,"
    " (SELECT (extract(epoch FROM a.backend_start) * 1000000)::int8"
    " FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()),"
    " has_function_privilege('pg_control_system()', 'execute')"
    " AND has_function_privilege('pg_walfile_name(pg_lsn)', 'execute')",
    PgStatement::Kind::Read,
    {}};

// The control file names the timeline of the last checkpoint, which a promotion does not wait for:
// the name of the file that is being written has the one that counts.
const PgStatement kOrigin{"semel_origin",
                          "SELECT (SELECT system_identifier::text FROM pg_control_system()),"
                          " CASE WHEN pg_is_in_recovery() THEN '0'"
                          " ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END",
                          PgStatement::Kind::Read,
                          {}};

std::string text(const PgValue& value) { return value.value_or(""); }
std::int64_t number(const PgValue& value) { return pg_integer(value).value_or(0); }

}  // namespace

const PgStatement& pg_facts_statement() { return kFacts; }
const PgStatement& pg_origin_statement() { return kOrigin; }

std::optional<PgFacts> pg_facts_of(const PgRows& answer) {
  if (answer.rows.size() != 1 || answer.rows.front().size() != 15) return std::nullopt;
  const PgRow& row = answer.rows.front();
  PgFacts found;
  found.version = static_cast<int>(number(row[0]));
  found.is_standby = number(row[1]) != 0;
  found.is_read_only = number(row[2]) != 0;
  found.started = std::chrono::microseconds(number(row[3]));
  found.time = std::chrono::microseconds(number(row[4]));
  found.fsync = text(row[5]);
  found.full_page_writes = text(row[6]);
  found.synchronous_commit = text(row[7]);
  found.synchronous_standby_names = text(row[8]);
  found.standbys = static_cast<std::size_t>(number(row[9]));
  found.synchronous_standbys = static_cast<std::size_t>(number(row[10]));
  found.role = text(row[11]);
  found.backend = {number(row[12]), number(row[13])};
  found.has_origin = number(row[14]) != 0;
  return found;
}

bool add_origin(PgFacts& facts, const PgRows& answer) {
  if (answer.rows.size() != 1 || answer.rows.front().size() != 2) return false;
  facts.system_id = text(answer.rows.front()[0]);
  const std::string timeline = text(answer.rows.front()[1]);
  const char* end = timeline.data() + timeline.size();
  return std::from_chars(timeline.data(), end, facts.timeline, 16).ptr == end;
}

std::string refusal_of(const PgFacts& facts) {
  if (facts.is_standby) return "the server is a standby: name the primary";
  if (facts.is_read_only) return "the server takes no writes: default_transaction_read_only is on";
  return {};
}

}  // namespace semel
