#include "stores/pg_left_behind.h"

#include <algorithm>

namespace semel {
namespace {

// One that waits for its client has nothing under way: where a network lost the connection's end,
// it may do so for hours. Those of another role, and of another server, are none of ours.
const PgStatement kAtWork{"semel_at_work",
                          "SELECT b.pid, b.started, coalesce(a.wait_event, 'nothing')"
                          " FROM unnest($1, $2) AS b (pid, started)"
                          " JOIN pg_stat_activity a ON a.pid = b.pid"
                          " AND (extract(epoch FROM a.backend_start) * 1000000)::int8 = b.started"
                          " WHERE a.wait_event_type IS DISTINCT FROM 'Client'",
                          PgStatement::Kind::Read,
                          {PgType::Int8Array, PgType::Int8Array}};

}  // namespace

bool PgLeftBehind::may_dial(std::size_t lane) {
  if (!has(lane)) return true;
  if (!watching_) watching_ = lane;
  return *watching_ == lane;
}

void PgLeftBehind::stop_watching(std::size_t lane) {
  if (watching_ == lane) watching_.reset();
}

const PgStatement& PgLeftBehind::question() { return kAtWork; }

std::vector<PgValue> PgLeftBehind::params(const ByLane& asked) {
  std::vector<PgValue> pids;
  std::vector<PgValue> starts;
  for (const auto& [lane, backend] : asked) {
    pids.push_back(pg_int8(backend.pid));
    starts.push_back(pg_int8(backend.started));
  }
  return {pg_array(PgType::Int8, pids), pg_array(PgType::Int8, starts)};
}

void PgLeftBehind::note(const ByLane& asked, const PgRows& answer) {
  busy_.clear();
  for (const auto& [lane, backend] : asked) {
    const auto row = std::find_if(answer.rows.begin(), answer.rows.end(), [&](const PgRow& each) {
      return each.size() == 3 && pg_integer(each[0]) == backend.pid &&
             pg_integer(each[1]) == backend.started;
    });
    if (row == answer.rows.end()) {
      left_.erase(lane);
    } else {
      busy_[lane] = (*row)[2].value_or("");
    }
  }
}

std::string PgLeftBehind::trouble(std::size_t lane) const {
  const auto left = left_.find(lane);
  const auto busy = busy_.find(lane);
  if (left == left_.end() || busy == busy_.end()) return "";
  return "its backend " + std::to_string(left->second.pid) +
         " is not done with a call that was given up: it waits for " + busy->second +
         (busy->second == "SyncRep" ? ", a synchronous standby that is missing" : "");
}

}  // namespace semel
