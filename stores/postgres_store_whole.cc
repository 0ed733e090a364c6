// The operations on the store as a whole: pages, sweep, health, an operator's word, the transition
// log. In batches that hold up nobody.
#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <limits>
#include <utility>

#include "stores/postgres_answers.h"
#include "stores/postgres_grade.h"
#include "stores/postgres_questions.h"
#include "stores/postgres_statements.h"
#include "stores/postgres_store.h"
#include "stores/postgres_words.h"

namespace semel {

using namespace postgres;

namespace {

constexpr std::size_t kBatchMax = 1'000;
/// How many records one transaction of the sweep ends: it holds their keys meanwhile.
constexpr std::size_t kSweptAtOnce = 32;
/// How many records one call looks at for a page, or to forget: some 10 ms of the server's.
constexpr std::int32_t kLooks = 10'000;
constexpr std::int32_t kForgottenAtOnce = 500;

/// A cursor of list(): the fence of the last record shown, in decimal.
std::int64_t parse_cursor(const std::string& text) {
  std::int64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || value > std::numeric_limits<std::int64_t>::max() / 10 - 1) {
      return 0;
    }
    value = value * 10 + (digit - '0');
  }
  return value;
}

PgValue word_of(const std::optional<RecordView::State>& state) {
  if (!state) return std::nullopt;
  switch (*state) {
    case RecordView::State::InFlight:
      return "in_flight";
    case RecordView::State::Completed:
      return "completed";
    case RecordView::State::Indeterminate:
      return "indeterminate";
  }
  return std::nullopt;
}

}  // namespace

Task<Result<RecordPage>> PostgresStore::list(ListFilter filter) {
  const std::size_t limit = std::clamp<std::size_t>(filter.limit, 1, kBatchMax);
  const PgValue state = word_of(filter.state);
  const PgValue tenant = filter.tenant ? PgValue(*filter.tenant) : PgValue();
  std::optional<Fence> after = Fence{static_cast<std::uint64_t>(parse_cursor(filter.after))};
  RecordPage page;
  // Where few fit, one call does not look far enough to fill the page.
  while (after) {
    const auto wanted = static_cast<std::int32_t>(limit + 1 - page.records.size());
    std::vector<PgValue> params{state,           tenant,          pg_fence(*after),
                                pg_int4(wanted), pg_int4(kLooks), pg_time(meeting_->latest())};
    const auto answer = co_await ask(kList, kHouse, std::move(params));
    if (!answer) co_return answer.error();
    for (const PgRow& row : answer->rows) {
      auto view = listed_record(row);
      if (!view) co_return view.error();
      if (!*view) break;
      if (page.records.size() == limit) {
        page.next = std::to_string(page.records.back().fence.value);
        co_return page;
      }
      page.records.push_back(**std::move(view));
    }
    after = looked_to(answer->rows.front());
  }
  co_return page;
}

Task<Result<std::size_t>> PostgresStore::forget(std::string tenant) {
  std::size_t forgotten = 0;
  std::optional<std::int64_t> after = 0;
  while (after) {
    std::vector<PgValue> params{tenant, pg_int8(*after), pg_int4(kForgottenAtOnce), pg_int4(kLooks),
                                pg_time(meeting_->latest())};
    const auto answer = co_await ask(kForget, kHouse, std::move(params));
    if (!answer) co_return answer.error();
    PgColumns columns(answer->rows.front());
    static_cast<void>(columns.time());
    forgotten += static_cast<std::size_t>(columns.number());
    after = columns.maybe_number();
    if (!columns.ok()) co_return Fault::RecordCorrupt;
  }
  const auto done = co_await forget_events(std::move(tenant));
  if (!done) co_return done.error();
  co_return forgotten;
}

Task<Result<void>> PostgresStore::forget_events(std::string tenant) {
  std::optional<EventPlace> after = EventPlace{};
  while (after) {
    std::vector<PgValue> params{tenant, std::to_string(after->xid),
                                pg_int8(static_cast<std::int64_t>(after->seq)), pg_int4(kLooks)};
    const auto answer = co_await links_->call(kForgetEvents, kHouse, std::move(params));
    if (!answer) co_return answer.error();
    if (answer->rows.empty()) co_return Fault::RecordCorrupt;
    PgColumns columns(answer->rows.front());
    const auto xid = columns.maybe_number();
    const auto seq = columns.maybe_number();
    if (!columns.ok()) co_return Fault::RecordCorrupt;
    after.reset();
    if (xid && seq) {
      after = {static_cast<std::uint64_t>(*xid), static_cast<std::uint64_t>(*seq)};
    }
  }
  co_return Result<void>();
}

Task<Result<std::vector<RouteTerms>>> PostgresStore::routes() {
  // An adoption may still be on its way on a connection that broke.
  if (is_haunted()) co_return Fault::StoreUnreachable;
  std::vector<PgValue> nothing;
  const auto answer = co_await ask(kRoutes, kHouse, std::move(nothing));
  if (!answer) co_return answer.error();
  PgColumns columns(answer->rows.front());
  static_cast<void>(columns.time());
  const auto terms = columns.maybe_text();
  if (!columns.ok()) co_return Fault::RecordCorrupt;
  if (!terms) co_return std::vector<RouteTerms>();
  co_return decode_terms(*terms);
}

Task<Result<void>> PostgresStore::adopt_routes(std::vector<RouteTerms> routes) {
  auto params = adopt_question(routes, meeting_->after(options_.deadline));
  const auto answer = co_await ask(kAdopt, kHouse, std::move(params));
  if (!answer) co_return answer.error();
  co_return Result<void>();
}

Task<Result<SweepReport>> PostgresStore::sweep(std::size_t limit) {
  SweepReport report;
  for (std::size_t left = limit; left > 0;) {
    const std::size_t batch = std::min(left, kSweptAtOnce);
    const auto swept = co_await sweep_batch(batch);
    if (!swept) co_return swept.error();
    report.expired += swept->expired;
    report.owner_lost += swept->owner_lost;
    report.more = swept->more;
    report.turned_away = swept->turned_away;
    if (!report.more) break;
    left -= batch;
  }
  co_return report;
}

Task<Result<SweepReport>> PostgresStore::sweep_batch(std::size_t limit) {
  const auto most = static_cast<std::int32_t>(limit);
  std::vector<PgValue> params{pg_int4(most), pg_time(meeting_->latest()), pg_bool(tells())};
  if (options_.events) {
    params.push_back(pg_span(options_.events->age));
    params.push_back(pg_int8(static_cast<std::int64_t>(options_.events->count)));
  } else {
    params.resize(params.size() + 2);
  }
  params.push_back(renewal_.is_due() ? PgValue(meeting_->writer()) : PgValue());
  const auto answer = co_await ask(kSweep, kHouse, std::move(params));
  if (!answer) co_return answer.error();
  auto told = sweep_answer(answer->rows.front());
  if (!told) co_return told.error();
  if (told->watched) {
    wake(co_await asio::this_coro::executor, kHouse, std::move(told->watched));
  }
  co_return told->report;
}

Task<StoreHealth> PostgresStore::health() {
  co_await refresh_facts();
  if (meeting_->takes_leap()) {
    // A claim writes it down by itself; where none comes, whoever starts next could not tell.
    std::vector<PgValue> heard{pg_int8(meeting_->acknowledgements())};
    static_cast<void>(co_await ask(kDoubtClock, kHouse, std::move(heard)));
  }
  StoreHealth health;
  health.durability = grade_in_words(meeting_->facts());
  health.remark = meeting_->remark();
  health.store_id = meeting_->store_id();
  const auto answer = co_await look();
  if (!answer) {
    const std::string trouble = links_->state().trouble;
    if (!trouble.empty()) {
      health.remark += (health.remark.empty() ? "" : "; ") + ("store.postgres: " + trouble);
    }
    co_return health;
  }
  PgColumns columns(answer->rows.front());
  static_cast<void>(columns.time());
  const auto store_id = columns.maybe_text();
  const auto suspect = columns.maybe_text();
  const auto acknowledgements = columns.maybe_number();
  const auto accounted = columns.maybe_number();
  health.resolutions_contradicted = static_cast<std::uint64_t>(columns.maybe_number().value_or(0));
  health.last_fence = columns.fence();
  health.records = static_cast<std::size_t>(columns.number());
  health.indeterminate = static_cast<std::size_t>(columns.number());
  if (const auto oldest = columns.maybe_number()) {
    health.oldest_indeterminate = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(store_time_of(*oldest)));
  }
  health.up = columns.ok() && acknowledgements.has_value();
  if (acknowledgements) meeting_->see_acknowledgements(*acknowledgements);
  if (accounted && store_id && *store_id == meeting_->store_id()) {
    meeting_->note(0, Fence{static_cast<std::uint64_t>(*accounted)});
  }
  if (suspect) {
    health.suspect = true;
    health.remark = "the store is suspect: " + std::string(*suspect) +
                    "; effectful calls that it does not know are refused until `semel store "
                    "acknowledge`";
  }
  co_return health;
}

/// What there is. Where it is another store than the one that this process knows, that is told
/// there first, for all replicas.
Task<Result<PgRows>> PostgresStore::look() {
  std::vector<PgValue> nothing;
  auto answer = co_await ask(kHealth, kHouse, std::move(nothing));
  if (!answer) co_return answer;
  PgColumns columns(answer->rows.front());
  static_cast<void>(columns.time());
  const auto store_id = columns.maybe_text();
  if (!store_id || *store_id == meeting_->store_id()) co_return answer;
  if (const auto met = co_await meet(); !met) co_return met.error();
  std::vector<PgValue> again;
  co_return co_await ask(kHealth, kHouse, std::move(again));
}

/// Tells the store that there is what this process knew, and makes it its own.
Task<Result<void>> PostgresStore::meet() {
  auto question = meeting_->question();
  const auto met = co_await ask(kMeet, kHouse, std::move(question));
  if (!met) co_return met.error();
  if (!meeting_->hear(*met)) co_return Fault::StoreUnreachable;
  co_return Result<void>();
}

Task<> PostgresStore::refresh_facts() {
  if (!facts_age_.is_due()) co_return;
  std::vector<PgValue> nothing;
  const auto answer = co_await links_->call(pg_facts_statement(), kHouse, std::move(nothing));
  if (!answer) co_return;
  if (const auto facts = pg_facts_of(*answer)) meeting_->refresh(*facts);
}

Task<Result<bool>> PostgresStore::acknowledge() {
  // What is wrong now is what the word is about, also where nobody has noticed it yet.
  if (const auto looked = co_await look(); !looked) co_return looked.error();
  std::vector<PgValue> params{pg_fence(meeting_->highest().fence)};
  const auto answer = co_await ask(kAcknowledge, kHouse, std::move(params));
  if (!answer) co_return answer.error();
  PgColumns columns(answer->rows.front());
  static_cast<void>(columns.time());
  const bool was_suspect = columns.flag();
  const std::int64_t acknowledgements = columns.number();
  const std::string_view store_id = columns.text();
  const Fence accounted = columns.fence();
  if (!columns.ok()) co_return Fault::RecordCorrupt;
  // Given to another one than was looked at, it is no word on that one for this process.
  if (store_id != meeting_->store_id()) co_return Fault::StoreUnreachable;
  meeting_->see_acknowledgements(acknowledgements);
  meeting_->note(0, accounted);
  co_return was_suspect;
}

Task<Result<std::variant<EventPage, EventGap>>> PostgresStore::events(EventFilter filter) {
  if (!options_.events) co_return co_await Store::events(std::move(filter));
  std::optional<EventPlace> after;
  if (!filter.after.empty()) {
    const auto place = place_of(meeting_->store_id(), filter.after);
    if (!place) co_return place.error();
    after = *place;
  }
  const auto limit = static_cast<std::int32_t>(std::clamp<std::size_t>(filter.limit, 1, kBatchMax));
  std::vector<PgValue> params(3);
  if (after) {
    params[0] = std::to_string(after->xid);
    params[1] = pg_int8(static_cast<std::int64_t>(after->seq));
    params[2] = pg_int8(static_cast<std::int64_t>(after->at));
  }
  params.push_back(pg_int4(limit));
  const auto answer = co_await links_->call(kEvents, kHouse, std::move(params));
  if (!answer && answer.error() == Fault::RecordCorrupt) co_return Fault::EventCorrupt;
  if (!answer) co_return answer.error();
  co_return event_answer(*answer, after);
}

}  // namespace semel
