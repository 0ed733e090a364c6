// The transition log of a store's file, as rows. One of the files that know SQLite; which
// transitions there are is the ledger's to say, and when a transaction is durable, the owner's.
#include "stores/sqlite_events.h"

#include <algorithm>
#include <utility>

#include "stores/sqlite_file.h"
#include "stores/sqlite_schema.h"

namespace semel {
namespace {

using sqlite::first_column;
using sqlite::prepare;
using sqlite::run_or_throw;
using sqlite::Statement;
using sqlite::Use;

std::int64_t wall_ns(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::chrono::system_clock::time_point wall_time(std::int64_t ns) {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::nanoseconds(ns)));
}

template <std::size_t N>
std::string_view blob_of(const std::array<std::uint8_t, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), N};
}

template <std::size_t N>
bool read_bytes(std::string_view blob, std::array<std::uint8_t, N>& into) {
  if (blob.size() != N) return false;
  std::copy(blob.begin(), blob.end(), into.begin());
  return true;
}

/// @param last  The highest enumerator.
template <class Enum>
bool read_word(std::int64_t number, Enum last, Enum& into) {
  if (number < 0 || number > static_cast<std::int64_t>(last)) return false;
  into = static_cast<Enum>(number);
  return true;
}

/// The row that a statement of kSelectEvents stands on; absent: it is none that was written here.
std::optional<TransitionEvent> read_row(Use& row, std::string position) {
  TransitionEvent event;
  event.position = std::move(position);
  bool fits = read_word(row.integer(1), TransitionKind::Expired, event.kind) &&
              read_bytes(row.blob(2), event.key.bytes) &&
              read_bytes(row.blob(3), event.reference.bytes) &&
              read_word(row.integer(5), Policy::Effectful, event.policy);
  event.fence.value = static_cast<std::uint64_t>(row.integer(4));
  event.tenant = row.blob(6);
  event.route = row.blob(7);
  if (!row.is_null(8)) {
    event.reason.emplace();
    fits = fits && read_word(row.integer(8), IndeterminateReason::Internal, *event.reason);
  }
  if (!row.is_null(9)) event.status = static_cast<std::uint16_t>(row.integer(9));
  if (!row.is_null(10)) event.happened = row.integer(10) != 0;
  event.at = wall_time(row.integer(11));
  return fits ? std::optional(std::move(event)) : std::nullopt;
}

}  // namespace

struct SqliteEvents::Statements {
  Statements(sqlite3* database, const std::string& path)
      : append(prepare(database, schema::kInsertEvent, path)),
        read(prepare(database, schema::kSelectEvents, path)),
        oldest(prepare(database, schema::kSelectOldestEvents, path)),
        end_of(prepare(database, schema::kSelectEndOfEvents, path)),
        drop(prepare(database, schema::kDropEvents, path)),
        forget(prepare(database, schema::kForgetEvents, path)),
        put_span(prepare(database, schema::kUpdateEventSpan, path)) {}
  Statement append, read, oldest, end_of, drop, forget, put_span;
};

SqliteEvents::SqliteEvents(sqlite3* database, const std::string& store_id,
                           const std::optional<EventRetention>& kept)
    : database_(database), kept_(kept) {
  const std::string path = sqlite3_db_filename(database, "main");
  const bool is_there = first_column(database, schema::kHasEventTables, path) != "0";
  if (!is_there && !kept_) return;
  if (!is_there) run_or_throw(database, schema::kEventTables, path);
  statements_ = std::make_unique<Statements>(database, path);
  span_.log = store_id;
  read_span(path);
  if (!kept_) leap(1);  // What happens from here on is missing for whoever has read all.
}

SqliteEvents::~SqliteEvents() = default;

void SqliteEvents::read_span(const std::string& path) {
  const Statement select = prepare(database_, schema::kSelectEventSpan, path);
  Use use(select);
  if (use.step() != SQLITE_ROW) throw sqlite::failure(database_, path);
  span_.trimmed = static_cast<std::uint64_t>(use.integer(0));
  span_.last = static_cast<std::uint64_t>(use.integer(1));
  durable_trimmed_ = span_.trimmed;
  durable_last_ = span_.last;
}

Fault SqliteEvents::fault(int code) const { return sqlite::fault_of(database_, code); }

void SqliteEvents::leap(std::uint64_t numbers) {
  if (!statements_) return;
  span_.last += numbers;
  span_.trimmed = span_.last;
  durable_trimmed_ = durable_last_ = span_.last;
  has_moved_ = true;
}

Result<std::variant<EventPage, EventGap>> SqliteEvents::read(const EventFilter& filter) {
  using Told = std::variant<EventPage, EventGap>;
  if (!kept_) return Told(EventPage{});
  const auto found = span_.find(filter.after);
  if (!found) return found.error();
  if (const auto* gap = std::get_if<EventGap>(&*found)) return Told(*gap);
  const std::uint64_t after = std::get<std::uint64_t>(*found);
  EventPage page;
  page.next = span_.position(after);
  Use use(statements_->read);
  use.bind(1, static_cast<std::int64_t>(after));
  use.bind(2, static_cast<std::int64_t>(EventSpan::page_limit(filter)));
  int code = SQLITE_ROW;
  while ((code = use.step()) == SQLITE_ROW) {
    page.next = span_.position(static_cast<std::uint64_t>(use.integer(0)));
    auto event = read_row(use, page.next);
    if (!event) return Fault::EventCorrupt;  // Passing over it would be a gap that nobody is told.
    page.events.push_back(*std::move(event));
  }
  if (code != SQLITE_DONE) return fault(code);
  return Told(std::move(page));
}

bool SqliteEvents::is_kept(std::uint64_t number, StoreTime noted, const Now& now) const {
  return kept_ && number > span_.trimmed && span_.last - number < kept_->count &&
         now.time < later(noted, kept_->age);
}

Result<bool> SqliteEvents::trim(std::size_t limit, const Now& now) {
  if (!statements_) return false;
  Use use(statements_->oldest);
  use.bind(1, static_cast<std::int64_t>(limit) + 1);
  int code = SQLITE_ROW;
  for (std::size_t taken = 0; (code = use.step()) == SQLITE_ROW; ++taken) {
    const auto number = static_cast<std::uint64_t>(use.integer(0));
    if (is_kept(number, StoreTime(use.integer(1)), now)) return false;
    if (taken == limit) return true;
    drop_to_ = std::max(drop_to_, number);
  }
  if (code != SQLITE_DONE) return fault(code);
  return false;
}

Result<std::optional<std::uint64_t>> SqliteEvents::forget(const std::string& tenant,
                                                          std::uint64_t after, std::size_t rows) {
  if (!statements_) return std::optional<std::uint64_t>();
  Use use(statements_->end_of);
  use.bind(1, static_cast<std::int64_t>(after));
  use.bind(2, static_cast<std::int64_t>(rows));
  const int code = use.step();
  if (code != SQLITE_ROW) return fault(code);
  if (use.is_null(0)) return std::optional<std::uint64_t>();
  const auto last = static_cast<std::uint64_t>(use.integer(0));
  erasures_.push_back({tenant, after, last});
  return std::optional(last);
}

void SqliteEvents::forget_rest(const std::string& tenant, std::uint64_t after, std::size_t untold) {
  if (statements_) erasures_.push_back({tenant, after, span_.last + untold});
}

bool SqliteEvents::is_asked() const { return has_moved_ || drop_to_ != 0 || !erasures_.empty(); }

Result<void> SqliteEvents::write(const std::vector<Transition>& transitions, const Now& now) {
  if (!statements_) return {};
  for (const Transition& transition : transitions) {
    if (const auto done = append(transition, now); !done) return done;
  }
  for (const Erasure& erasure : erasures_) {
    Use use(statements_->forget);
    use.bind(1, static_cast<std::int64_t>(erasure.after));
    use.bind(2, static_cast<std::int64_t>(erasure.last));
    use.bind_blob(3, erasure.tenant);
    if (const int code = use.step(); code != SQLITE_DONE) return fault(code);
  }
  if (drop_to_ != 0) {
    Use use(statements_->drop);
    use.bind(1, static_cast<std::int64_t>(drop_to_));
    if (const int code = use.step(); code != SQLITE_DONE) return fault(code);
    span_.trimmed = std::max(span_.trimmed, drop_to_);
  }
  if (!is_asked()) return {};
  Use use(statements_->put_span);
  use.bind(1, static_cast<std::int64_t>(span_.trimmed));
  use.bind(2, static_cast<std::int64_t>(span_.last));
  if (const int code = use.step(); code != SQLITE_DONE) return fault(code);
  return {};
}

Result<void> SqliteEvents::append(const Transition& transition, const Now& now) {
  const ClaimTerms& terms = *transition.terms;
  span_.last += 1;
  Use use(statements_->append);
  use.bind(1, static_cast<std::int64_t>(span_.last));
  use.bind(2, static_cast<std::int64_t>(transition.kind));
  use.bind_blob(3, blob_of(transition.key.bytes));
  use.bind_blob(4, blob_of(transition.reference.bytes));
  use.bind(5, static_cast<std::int64_t>(transition.fence.value));
  use.bind(6, static_cast<std::int64_t>(terms.policy));
  use.bind_blob(7, terms.tenant);
  use.bind_blob(8, terms.route);
  if (transition.reason) use.bind(9, static_cast<std::int64_t>(*transition.reason));
  if (transition.status) use.bind(10, *transition.status);
  if (transition.happened) use.bind(11, *transition.happened ? 1 : 0);
  use.bind(12, wall_ns(transition.at));
  use.bind(13, now.time.count());
  if (const int code = use.step(); code != SQLITE_DONE) return fault(code);
  return {};
}

void SqliteEvents::settle() {
  durable_trimmed_ = span_.trimmed;
  durable_last_ = span_.last;
  has_moved_ = false;
  undo();
}

void SqliteEvents::rollback() {
  span_.trimmed = durable_trimmed_;
  span_.last = durable_last_;
}

void SqliteEvents::undo() {
  drop_to_ = 0;
  erasures_.clear();
}

}  // namespace semel
