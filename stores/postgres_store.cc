// The store of many replicas in PostgreSQL: each operation becomes one call of a function of the
// schema `semel`, and its row an answer. What a call does is decided there (stores/postgres/).
#include "stores/postgres_store.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <cstring>
#include <utility>

#include "stores/postgres_answers.h"
#include "stores/postgres_questions.h"
#include "stores/postgres_statements.h"
#include "stores/postgres_words.h"

namespace semel {

using namespace postgres;

namespace {

using Steady = std::chrono::steady_clock;

std::size_t spread_of(const IdempotencyKey& key) { return KeyHash()(key); }

}  // namespace

Task<Result<PgRows>> PostgresStore::ask(const PgStatement& statement, std::size_t spread,
                                        std::vector<PgValue> params) {
  const auto asked = meeting_->boot();
  auto answer = co_await links_->call(statement, spread, std::move(params));
  if (!answer) co_return answer;
  if (answer->rows.empty()) {
    if (&statement == &kFind) co_return answer;
    co_return Fault::RecordCorrupt;
  }
  PgColumns columns(answer->rows.front());
  const StoreTime now = columns.time();
  if (!columns.ok()) co_return Fault::RecordCorrupt;
  meeting_->observe(now, asked);
  co_return answer;
}

Task<Result<ClaimReply>> PostgresStore::claim(ClaimRequest request) {
  return take(std::move(request), std::nullopt);
}

Task<Result<ClaimReply>> PostgresStore::supersede(ClaimRequest request, Attempt abandoned) {
  return take(std::move(request), abandoned);
}

Task<Result<ClaimReply>> PostgresStore::take(ClaimRequest request,
                                             std::optional<Attempt> abandoned) {
  const std::size_t spread = spread_of(request.key);
  ClaimingAs as;
  as.store_id = meeting_->store_id();
  as.lane = links_->lane_of(co_await asio::this_coro::executor, spread);
  as.not_after = meeting_->after(std::min(request.not_after, options_.deadline));
  as.tells = tells();
  ClaimAnswer told = co_await take_as(as, request, abandoned, spread);
  if (told.is_unmet) {
    // Of many that come here at once one has met it before the others.
    if (as.store_id == meeting_->store_id()) {
      if (const auto met = co_await meet(); !met) co_return met.error();
    }
    as.store_id = meeting_->store_id();
    as.not_after = meeting_->after(std::min(request.not_after, options_.deadline));
    told = co_await take_as(as, request, abandoned, spread);
  }
  const auto* granted = told.reply ? std::get_if<Granted>(&*told.reply) : nullptr;
  // Now or before: the store has noted it for this lane.
  if (granted) meeting_->note(as.lane, granted->fence);
  co_return std::move(told.reply);
}

Task<ClaimAnswer> PostgresStore::take_as(const ClaimingAs& as, const ClaimRequest& request,
                                         const std::optional<Attempt>& abandoned,
                                         std::size_t spread) {
  auto params = claim_question(*meeting_, as, request, abandoned);
  const auto answer = co_await ask(kClaim, spread, std::move(params));
  ClaimAnswer told;
  if (answer) {
    told = claim_answer(answer->rows.front());
  } else {
    told.reply = answer.error();
  }
  if (told.acknowledgements) meeting_->see_acknowledgements(*told.acknowledgements);
  co_return told;
}

Task<Result<WriteReply>> PostgresStore::record(Attempt attempt, StoredResponsePtr response) {
  auto params = attempt_question(attempt);
  params.push_back(pg_int4(response->status));
  params.push_back(pg_answer(*response));
  params.push_back(pg_time(meeting_->latest()));
  params.push_back(pg_bool(tells()));
  const auto answer = co_await ask(kRecord, spread_of(attempt.key), std::move(params));
  if (!answer) co_return answer.error();
  co_return ended(co_await asio::this_coro::executor, attempt.key, answer->rows.front());
}

Result<WriteReply> PostgresStore::ended(const Executor& executor, const IdempotencyKey& key,
                                        const PgRow& row) {
  WriteAnswer told = write_answer(row);
  if (told.is_watched) {
    const std::vector<PgValue> keys{pg_key(key)};
    wake(executor, spread_of(key), pg_array(PgType::Bytea, keys));
  }
  return std::move(told.reply);
}

void PostgresStore::wake(const Executor& executor, std::size_t spread, PgValue keys) {
  std::vector<PgValue> params{std::move(keys)};
  links_->tell(executor, kWake, spread, std::move(params));
}

Task<Result<WriteReply>> PostgresStore::release(Attempt attempt) {
  // A claim of that token may still be on its way on a connection that broke: it must not come
  // behind its release. The caller asks again.
  if (is_haunted()) co_return Fault::StoreUnreachable;
  auto params = attempt_question(attempt);
  params.push_back(pg_time(meeting_->latest()));
  params.push_back(pg_bool(tells()));
  const auto answer = co_await ask(kRelease, spread_of(attempt.key), std::move(params));
  if (!answer) co_return answer.error();
  co_return ended(co_await asio::this_coro::executor, attempt.key, answer->rows.front());
}

Task<Result<WriteReply>> PostgresStore::mark_indeterminate(
    Attempt attempt, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status) {
  auto params = attempt_question(attempt);
  params.emplace_back(name(reason));
  params.push_back(upstream_status ? pg_int4(*upstream_status) : PgValue());
  params.push_back(pg_time(meeting_->latest()));
  params.push_back(pg_bool(tells()));
  const auto answer = co_await ask(kMark, spread_of(attempt.key), std::move(params));
  if (!answer) co_return answer.error();
  co_return ended(co_await asio::this_coro::executor, attempt.key, answer->rows.front());
}

Task<Result<std::optional<RecordView>>> PostgresStore::found(PgValue key, PgValue reference) {
  std::size_t spread = kHouse;
  if (key) std::memcpy(&spread, key->data(), sizeof spread);
  std::vector<PgValue> params;
  params.push_back(std::move(key));
  params.push_back(std::move(reference));
  params.push_back(pg_time(meeting_->latest()));
  const auto answer = co_await ask(kFind, spread, std::move(params));
  if (!answer) co_return answer.error();
  if (answer->rows.empty()) co_return std::optional<RecordView>();
  auto view = found_record(answer->rows.front());
  if (!view) co_return view.error();
  co_return std::optional(*std::move(view));
}

Task<Result<std::optional<RecordView>>> PostgresStore::find(IdempotencyKey key) {
  return found(pg_key(key), std::nullopt);
}

Task<Result<std::optional<RecordView>>> PostgresStore::find(Reference reference) {
  return found(std::nullopt, pg_id(reference));
}

Task<Result<ResolveReply>> PostgresStore::resolve(Reference reference, Resolution resolution) {
  const bool happened = resolution.decision == Resolution::Decision::Happened;
  std::vector<PgValue> params{pg_id(reference), pg_bool(happened)};
  const StoredResponsePtr& response = resolution.response;
  params.push_back(pg_int4(response ? response->status : 0));
  params.push_back(response ? pg_answer(*response) : PgValue());
  params.push_back(pg_time(meeting_->latest()));
  params.push_back(pg_bool(tells()));
  const auto answer = co_await ask(kResolve, kHouse, std::move(params));
  if (!answer) co_return answer.error();
  ResolveAnswer told = resolve_answer(answer->rows.front());
  if (told.watched) {
    const std::vector<PgValue> keys{told.watched};
    wake(co_await asio::this_coro::executor, kHouse, pg_array(PgType::Bytea, keys));
  }
  co_return std::move(told.reply);
}

Task<void> PostgresStore::await_change(IdempotencyKey key, Steady::time_point until) {
  return waits_->wait(key, until);
}

bool PostgresStore::is_haunted() const { return Steady::now() < links_->ghosts_until(); }

}  // namespace semel
