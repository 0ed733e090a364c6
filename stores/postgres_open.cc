// How a store in PostgreSQL is made, met for the first time, and left.
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "stores/postgres_listening.h"
#include "stores/postgres_schema.h"
#include "stores/postgres_statements.h"
#include "stores/postgres_store.h"
#include "stores/postgres_words.h"

namespace semel {

using namespace postgres;

namespace {

using Clock = std::chrono::steady_clock;

/// A server that is being started beside us has so long to answer.
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{100};

constexpr std::string_view kStartingUp = "57P03";

std::unique_ptr<PgSession> connect(const PostgresOptions& options) {
  const auto until = Clock::now() + kPatience;
  for (;;) {
    try {
      return std::make_unique<PgSession>(options);
    } catch (const PgError& failure) {
      const bool may_pass = failure.sqlstate().empty() || failure.sqlstate() == kStartingUp;
      if (!may_pass || Clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

PgRow first_row(const PgRows& answer) {
  return answer.rows.empty() ? PgRow{} : answer.rows.front();
}

bool has_store(PgSession& session) {
  const PgRow row = first_row(session.ask(kHasStore, {}));
  return PgColumns(row).flag();
}

/// Meets the store as a process does that begins.
/// @throws StoreError if there is none.
void begin(PgSession& session, Meeting& meeting) {
  if (!has_store(session)) {
    throw StoreError(
        "store.postgres: there is no store in this database, which is no permission to run calls "
        "again: run `semel store init CONFIG` once, or name the database that has it");
  }
  const std::vector<PgValue> question = meeting.question();
  const auto asked = meeting.boot();
  meeting.begin(session.facts(), session.ask(kMeet, question), asked);
}

/// Why the store is suspect; empty: it is not.
std::string suspicion(PgSession& session) {
  const PgRow row = first_row(session.ask(kHealth, {}));
  PgColumns columns(row);
  static_cast<void>(columns.time());
  static_cast<void>(columns.maybe_text());
  return std::string(columns.maybe_text().value_or(""));
}

/// Writes down which store this process is of, unless it knows another one.
/// @return what there is to say.
std::string first_note(const PostgresOptions& options, const std::string& store_id) {
  if (options.state_dir.empty()) return "";
  try {
    SharedWitness witness(options.state_dir);
    if (witness.store_id().empty()) witness.meet(store_id);
    if (witness.store_id() == store_id) return "";
  } catch (const StoreInUse&) {
    return "";  // A process that runs notes it by itself.
  }
  return "; " + options.state_dir +
         " is the witness of another store: this one is suspect until `semel store acknowledge`";
}

}  // namespace

PostgresStore::PostgresStore(const PostgresOptions& options, const StoreClock& clock)
    : options_(options),
      meeting_(std::make_shared<Meeting>(options, clock)),
      waits_(std::make_shared<KeyWaits>()) {
  begin(*connect(options_), *meeting_);
  PgLinkOptions link_options;
  link_options.admission = admission(meeting_);
  link_options.listening = listening(waits_);
  links_ = std::make_unique<PgLinks>(options_, std::move(link_options));
}

PostgresStore::~PostgresStore() { close(); }

void PostgresStore::close() {
  if (links_) links_->close();
}

std::string PostgresStore::create(const PostgresOptions& options, Execution execution) {
  const std::unique_ptr<PgSession> session = connect(options);
  if (has_store(*session)) {
    const PgRow row = first_row(session->ask(kFormat, {}));
    PgColumns columns(row);
    const std::int64_t format = columns.number();
    const std::string store_id(columns.text());
    if (columns.ok() && format == kPostgresFormat) {
      return "store.postgres: store " + store_id + " is there already: it was left as it is";
    }
    throw StoreError("store.postgres: the database holds a store of format " +
                     std::to_string(format) + ", and this version of Semel makes " +
                     std::to_string(kPostgresFormat) + ": nothing was changed");
  }
  if (execution == Execution::Show) return std::string(postgres_schema_sql());
  session->run(std::string(postgres_schema_sql()));
  const PgRow row = first_row(session->ask(kFormat, {}));
  PgColumns columns(row);
  static_cast<void>(columns.number());
  const std::string store_id(columns.text());
  return "store.postgres: created the schema semel, store " + store_id +
         first_note(options, store_id);
}

Acknowledged PostgresStore::acknowledge_closed(const PostgresOptions& options,
                                               const StoreClock& clock) {
  Meeting meeting(options, clock);
  const std::unique_ptr<PgSession> session = connect(options);
  const Fence known = meeting.highest().fence;
  begin(*session, meeting);
  const std::string reason = suspicion(*session);
  const std::vector<PgValue> params{pg_fence(known)};
  const PgRow row = first_row(session->ask(kAcknowledge, params));
  PgColumns columns(row);
  static_cast<void>(columns.time());
  const bool was_suspect = columns.flag();
  static_cast<void>(columns.number());
  const std::string store_id(columns.text());
  const Fence accounted = columns.fence();
  if (!columns.ok()) throw StoreError("store.postgres: the store's answer makes no sense");
  // Given to another one than was met, it is no word on that one for this process.
  if (store_id == meeting.store_id()) meeting.note(0, accounted);
  if (!was_suspect) {
    return {false, "store.postgres: the store is not suspect: there was nothing to acknowledge"};
  }
  return {true, "store.postgres: the store is suspect: " + reason +
                    "\nacknowledged: from now on it counts as it is, for all who serve it"};
}

}  // namespace semel
