// What one process and the store that it shares say to each other at each new connection, and what
// the process remembers of it.
#include "stores/postgres_meeting.h"

#include <utility>

#include "stores/postgres_grade.h"
#include "stores/postgres_schema.h"
#include "stores/postgres_words.h"

namespace semel::postgres {

struct Meeting::Met {
  StoreTime now{0};
  std::int64_t format = 0;
  std::string store_id;
  bool is_suspect = false;
  std::int64_t acknowledgements = 0;
  Fence accounted;
  Fence last_fence;
};

std::optional<Meeting::Met> Meeting::met_of(const PgRows& answer) {
  if (answer.rows.size() != 1) return std::nullopt;
  PgColumns columns(answer.rows.front());
  Met met;
  met.now = columns.time();
  met.format = columns.number();
  met.store_id = columns.text();
  met.is_suspect = columns.maybe_text().has_value();
  met.acknowledgements = columns.number();
  met.accounted = columns.fence();
  met.last_fence = columns.fence();
  if (!columns.ok()) return std::nullopt;
  return met;
}

namespace {

std::string sentence_on_format(std::int64_t format) {
  const std::string versions = "store.postgres: the store has format " + std::to_string(format) +
                               ", and this version of Semel knows " +
                               std::to_string(kPostgresFormat);
  if (format > kPostgresFormat) return versions + ": serve it with a newer one";
  return versions + ": run `semel store init CONFIG`";
}

}  // namespace

Meeting::Meeting(const PostgresOptions& options, StoreClock clock)
    : clock_(std::move(clock)), witness_(options.state_dir), server_clock_(clock_.boot) {
  for (const auto& [lane, fence] : witness_.known().lanes) {
    if (fence > highest_.fence) highest_ = {lane, fence};
  }
}

std::vector<PgValue> Meeting::question() const {
  const SharedWitness::Known known = witness_.known();
  std::vector<PgValue> lanes;
  std::vector<PgValue> fences;
  for (const auto& [lane, fence] : known.lanes) {
    lanes.push_back(pg_int8(static_cast<std::int64_t>(lane)));
    fences.push_back(pg_fence(fence));
  }
  std::vector<PgValue> params;
  params.push_back(known.store_id.empty() ? PgValue() : PgValue(known.store_id));
  params.emplace_back(witness_.writer());
  params.push_back(pg_array(PgType::Int8, lanes));
  params.push_back(pg_array(PgType::Int8, fences));
  return params;
}

Result<void> Meeting::judge(const PgFacts& facts, const Result<PgRows>& answer) {
  if (!answer) return answer.error();
  if (!hear(*answer)) return Fault::StoreUnreachable;
  refresh(facts);
  return {};
}

bool Meeting::hear(const PgRows& answer) {
  const auto met = met_of(answer);
  if (!met || met->format != kPostgresFormat) return false;
  // When it was asked is not known, and it may have waited: of the time it proves nothing.
  see_acknowledgements(met->acknowledgements);
  follow(*met);
  return true;
}

void Meeting::begin(const PgFacts& facts, const PgRows& answer, std::chrono::nanoseconds asked) {
  const auto met = met_of(answer);
  if (!met) {
    throw StoreError(
        "store.postgres: the schema semel was emptied, which is no permission to run calls again: "
        "restore it, or drop it and run `semel store init CONFIG`");
  }
  if (met->format != kPostgresFormat) throw StoreError(sentence_on_format(met->format));
  observe(met->now, asked);
  acknowledgements_ = met->acknowledgements;
  refresh(facts);
  const bool is_first = store_id().empty();
  follow(*met);
  if (is_first && met->last_fence != Fence{}) {
    const std::lock_guard lock(mutex_);
    remark_ =
        "no witness knows this store: whether it lost anything before this start cannot be told; "
        "there is one from now on";
  }
}

void Meeting::follow(const Met& met) {
  // It has been told there what we knew of the one of before. How high it has raised its fences for
  // that stays known: the doubt may be lost with the store.
  const std::string before = store_id();
  const bool is_doubted = met.is_suspect && !before.empty() && met.store_id != before;
  const Fence told = is_doubted ? met.last_fence : met.accounted;
  witness_.meet(met.store_id, {{0, told}});
  note(0, told);
}

void Meeting::note(std::size_t lane, Fence fence) {
  witness_.note(lane, fence);
  const std::lock_guard lock(mutex_);
  if (fence > highest_.fence) highest_ = {lane, fence};
}

Meeting::Known Meeting::highest() const {
  const std::lock_guard lock(mutex_);
  return highest_;
}

void Meeting::observe(StoreTime server, std::chrono::nanoseconds asked) {
  if (!server_clock_.observe(server, asked)) has_leapt_ = true;
}

StoreTime Meeting::after(std::chrono::milliseconds span) const {
  return later(server_clock_.now(), span);
}

void Meeting::see_acknowledgements(std::int64_t count) {
  if (acknowledgements_.exchange(count) == count) return;
  has_leapt_ = false;  // Somebody has looked at it since.
  server_clock_.forget();
}

PgFacts Meeting::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void Meeting::refresh(const PgFacts& facts) {
  const std::lock_guard lock(mutex_);
  facts_ = facts;
}

std::string Meeting::remark() const {
  std::string remark = witness_.remark();
  const std::lock_guard lock(mutex_);
  for (const std::string& more : {remark_, remark_on(facts_)}) {
    if (more.empty()) continue;
    if (!remark.empty()) remark += "; ";
    remark += more;
  }
  return remark;
}

}  // namespace semel::postgres
