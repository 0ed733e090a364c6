// The operations on the store as a whole: each lane is asked in turn, in batches that a server
// carries out without being noticed.
#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <map>
#include <utility>

#include "core/route_terms.h"
#include "io/spawn.h"
#include "stores/record_codec.h"
#include "stores/redis_grade.h"
#include "stores/redis_log.h"
#include "stores/redis_pages.h"
#include "stores/redis_scripts.h"
#include "stores/redis_store.h"

namespace semel {
namespace {

/// How many records one script looks at: some hundreds of microseconds of the server's time.
constexpr std::size_t kLookedAtMax = 256;
/// How many records one script changes, with all that finds them.
constexpr std::size_t kChangedMax = 16;
constexpr std::size_t kTrimmedMax = 256;
/// Batches of events that one sweep may take out of one lane.
constexpr int kTrimsMax = 16;
/// How long a process that swept is the one that sweeps.
constexpr std::chrono::seconds kSweeperLease{5};
constexpr char kFirstEntry[] = "0-0";
/// A connection that may be made again is made within this; how often it is looked for.
constexpr std::chrono::seconds kReturnPatience{5};
constexpr std::chrono::milliseconds kReturnPause{50};

using Clock = std::chrono::steady_clock;

std::string state_in_words(std::optional<RecordView::State> state) {
  return state ? std::to_string(static_cast<int>(*state)) : std::string();
}

/// `RETENTION UNKNOWN_FOR POLICY`, as stores/redis/windows.lua reads it.
std::string terms_in_words(const RouteTerms& terms) {
  return std::to_string(terms.retention.count()) + ' ' +
         (terms.indeterminate_retention ? std::to_string(terms.indeterminate_retention->count())
                                        : "-1") +
         ' ' + std::to_string(static_cast<int>(terms.policy));
}

/// Of routes that share a name the longer window and the stricter policy count.
std::map<std::string, RouteTerms> by_name(const std::vector<RouteTerms>& routes) {
  std::map<std::string, RouteTerms> named;
  for (const RouteTerms& route : routes) {
    if (!is_keyed(route.policy)) continue;
    const auto [at, is_new] = named.emplace(route.name, route);
    if (is_new) continue;
    RouteTerms& both = at->second;
    const Window window = longer(Window{both.retention, both.indeterminate_retention},
                                 Window{route.retention, route.indeterminate_retention});
    both.retention = window.retention;
    both.indeterminate_retention = window.indeterminate_retention;
    both.policy = std::max(both.policy, route.policy);
  }
  return named;
}

std::string checksum_of(std::string_view bytes) {
  std::string sum;
  const std::uint32_t crc = crc32(bytes);
  for (int shift = 0; shift < 32; shift += 8) sum += static_cast<char>(crc >> shift & 0xFF);
  return sum;
}

Result<std::vector<RouteTerms>> read_routes(std::string_view bytes) {
  constexpr std::size_t kSumBytes = 4;
  if (bytes.empty()) return std::vector<RouteTerms>();
  if (bytes.size() < kSumBytes) return Fault::RecordCorrupt;
  const std::string_view terms = bytes.substr(0, bytes.size() - kSumBytes);
  if (checksum_of(terms) != bytes.substr(terms.size())) return Fault::RecordCorrupt;
  return decode_terms(terms);
}

/// A lane whose marker is gone, that refuses for now, or that says what no script of ours says.
Fault missing(const RedisTold& told) {
  if (told.is("unmarked")) return Fault::StoreSuspect;
  if (told.is("late") || told.is("ghosts")) return Fault::StoreUnreachable;
  return Fault::StoreTimeout;
}

/// Rounded up: a log that keeps little keeps the last event of each lane.
std::size_t share_of_lane(std::size_t events, std::size_t lanes) {
  return events / lanes + (events % lanes == 0 ? 0 : 1);
}

/// Adds what one lane says of itself.
void add_lane(StoreHealth& health, const RedisTold& told) {
  health.store_id = told.text(0);
  health.last_fence.value =
      std::max(health.last_fence.value, static_cast<std::uint64_t>(told.number(1)));
  if (const std::string& reason = told.text(2); !reason.empty()) {
    health.suspect = true;
    if (health.remark.find(reason) == std::string::npos) {
      health.remark += (health.remark.empty() ? "" : "; ") + ("the store is suspect: " + reason);
    }
  }
  health.resolutions_contradicted += static_cast<std::uint64_t>(told.number(3));
  health.records += static_cast<std::size_t>(told.number(4));
  health.indeterminate += static_cast<std::size_t>(told.number(5));
  if (told.text(6).empty()) return;
  const std::chrono::system_clock::time_point since{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(server_time(told.number(6)))};
  if (!health.oldest_indeterminate || since < *health.oldest_indeterminate) {
    health.oldest_indeterminate = since;
  }
}

}  // namespace

Task<Result<RecordPage>> RedisStore::list(ListFilter filter) {
  RedisPages pages(filter, lanes());
  for (std::size_t lane = pages.wants(); lane < lanes(); lane = pages.wants()) {
    const auto& names = meeting_->names(lane);
    auto words = meeting_->beginning(lane);
    words.push_back(pages.cursor(lane));
    words.push_back(std::to_string(kLookedAtMax));
    words.push_back(std::to_string(pages.missing()));
    words.push_back(state_in_words(filter.state));
    words.emplace_back(filter.tenant ? "1" : "0");
    words.push_back(filter.tenant.value_or(""));
    words.push_back(names.records());
    auto keys = names.own();
    auto told = co_await ask(redis_scripts().list, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (const auto taken = pages.take(lane, *std::move(told)); !taken) co_return taken.error();
  }
  co_return pages.page();
}

Task<Result<std::size_t>> RedisStore::forget(std::string tenant) {
  std::size_t forgotten = 0;
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    const auto records = co_await forget_in_lane(lane, tenant);
    if (!records) co_return records.error();
    forgotten += *records;
    if (const auto events = co_await forget_events_in_lane(lane, tenant); !events) {
      co_return events.error();
    }
  }
  co_return forgotten;
}

Task<Result<std::size_t>> RedisStore::forget_in_lane(std::size_t lane, std::string tenant) {
  const auto& names = meeting_->names(lane);
  std::size_t forgotten = 0;
  auto first = names.own();
  auto nothing = meeting_->beginning(lane);
  const auto state =
      co_await ask(redis_scripts().health, lane, std::move(first), std::move(nothing));
  if (!state) co_return state.error();
  if (!state->is("found")) co_return missing(*state);
  // What is claimed from now on came after the word.
  for (std::string after = "0"; !after.empty();) {
    auto keys = names.own();
    auto words = meeting_->beginning(lane);
    words.push_back(after);
    words.push_back(state->text(1));
    words.push_back(std::to_string(kChangedMax));
    words.push_back(tenant);
    words.push_back(names.records());
    auto told = co_await ask(redis_scripts().forget, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (!told->is("forgotten")) co_return missing(*told);
    forgotten += static_cast<std::size_t>(told->number(1));
    after = told->take(0);
  }
  co_return forgotten;
}

Task<Result<void>> RedisStore::forget_events_in_lane(std::size_t lane, std::string tenant) {
  for (std::string after = kFirstEntry; !after.empty();) {
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    words.push_back(after);
    words.push_back(std::to_string(kLookedAtMax));
    words.push_back(tenant);
    auto told =
        co_await ask(redis_scripts().forget_events, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (!told->is("forgotten")) co_return missing(*told);
    after = told->take(0);
  }
  co_return Result<void>();
}

Task<Result<std::vector<RouteTerms>>> RedisStore::routes() {
  constexpr std::size_t lane = 0;
  auto keys = meeting_->names(lane).own();
  auto words = meeting_->beginning(lane);
  words.push_back(in_microseconds(adopting_.until(lane)));
  const auto told = co_await ask(redis_scripts().routes, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  if (!told->is("found")) co_return missing(*told);
  co_return read_routes(told->text(0));
}

Task<Result<void>> RedisStore::adopt_routes(std::vector<RouteTerms> routes) {
  std::string bytes = encode_terms(routes);
  bytes += checksum_of(bytes);
  const auto named = by_name(routes);
  // The first lane last: it is the one that says whether they were adopted.
  for (std::size_t lane = lanes(); lane-- > 0;) {
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    const StoreTime not_after = later(meeting_->clock(lane).now(), options_.deadline);
    words.push_back(in_microseconds(not_after));
    words.push_back(in_microseconds(adopting_.until(lane)));
    words.push_back(bytes);
    for (const auto& [name, terms] : named) {
      words.push_back(name);
      words.push_back(terms_in_words(terms));
    }
    const auto told = co_await ask(redis_scripts().adopt, lane, std::move(keys), std::move(words));
    if (!told && told.error() == Fault::StoreTimeout) adopting_.note(lane, not_after);
    if (!told) co_return told.error();
    if (!told->is("done")) co_return missing(*told);
  }
  co_return Result<void>();
}

Task<Result<SweepReport>> RedisStore::sweep(std::size_t limit) {
  SweepReport report;
  const std::size_t first = next_swept_++;
  for (std::size_t at = 0; at < lanes(); ++at) {
    const std::size_t done = report.expired + report.owner_lost;
    if (done >= limit) {
      report.more = true;
      break;
    }
    const std::size_t lane = (first + at) % lanes();
    const auto swept = co_await sweep_lane(lane, limit - done);
    if (!swept) co_return swept.error();
    report.expired += swept->expired;
    report.owner_lost += swept->owner_lost;
    report.more = report.more || swept->more;
    if (!options_.events) continue;
    const auto trimmed = co_await trim_lane(lane);
    if (!trimmed) co_return trimmed.error();
    report.more = report.more || *trimmed;
  }
  co_return report;
}

Task<Result<SweepReport>> RedisStore::sweep_lane(std::size_t lane, std::size_t limit) {
  const auto& names = meeting_->names(lane);
  SweepReport report;
  for (std::size_t left = limit; left > 0;) {
    const std::size_t batch = std::min(left, kChangedMax);
    auto keys = names.with_postponed();
    auto words = meeting_->beginning(lane);
    words.push_back(meeting_->writer());
    words.push_back(in_microseconds(kSweeperLease));
    words.push_back(std::to_string(batch));
    words.push_back(names.records());
    const auto told = co_await ask(redis_scripts().sweep, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (!told->is("swept")) co_return missing(*told);
    report.expired += static_cast<std::size_t>(told->number(0));
    report.owner_lost += static_cast<std::size_t>(told->number(1));
    report.more = told->number(2) == 1;
    if (!report.more) break;
    left -= batch;
  }
  co_return report;
}

Task<Result<bool>> RedisStore::trim_lane(std::size_t lane) {
  for (int batches = 0; batches < kTrimsMax; ++batches) {
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    words.push_back(in_microseconds(options_.events->age));
    words.push_back(std::to_string(share_of_lane(options_.events->count, lanes())));
    words.push_back(std::to_string(kTrimmedMax));
    const auto told = co_await ask(redis_scripts().trim, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (!told->is("trimmed")) co_return missing(*told);
    if (told->number(0) == 0) co_return false;
  }
  co_return true;
}

Task<StoreHealth> RedisStore::health() {
  StoreHealth health;
  health.remark = meeting_->remark();
  health.up = !closed_;
  for (std::size_t lane = 0; health.up && lane < lanes(); ++lane) {
    const auto told = co_await look_at(lane);
    const bool is_gone = told ? told->is("unmarked") : told.error() == Fault::StoreSuspect;
    health.suspect = health.suspect || is_gone;
    if (is_gone && health.remark.empty()) health.remark = kNoStoreThere;
    health.up = told && told->is("found");
    if (health.up) add_lane(health, *told);
  }
  // By now there is a connection that has asked them.
  const auto servers = links_.facts();
  health.durability = redis_grade(servers, options_.wait_replicas);
  if (!health.up && health.remark.empty()) health.remark = links_.remark();
  co_return health;
}

/// What there is in a lane. Where it is of another store than the one that this process knows, that
/// is told there first, for all replicas.
Task<Result<RedisTold>> RedisStore::look_at(std::size_t lane) {
  auto keys = meeting_->names(lane).own();
  auto words = meeting_->beginning(lane);
  auto told = co_await ask(redis_scripts().health, lane, std::move(keys), std::move(words));
  if (!told || !told->is("found")) co_return told;
  if (told->text(0) == meeting_->met(lane)) {
    meeting_->note(lane, Fence{static_cast<std::uint64_t>(told->number(7))});
    co_return told;
  }
  auto own = meeting_->names(lane).own();
  auto question = meeting_->question(lane, "");
  const auto met = co_await ask(redis_scripts().meet, lane, std::move(own), std::move(question));
  if (!met) co_return met.error();
  if (const auto taken = meeting_->take(lane, *met); !taken) co_return taken.error();
  auto keys_again = meeting_->names(lane).own();
  auto words_again = meeting_->beginning(lane);
  co_return co_await ask(redis_scripts().health, lane, std::move(keys_again),
                         std::move(words_again));
}

Task<Result<bool>> RedisStore::acknowledge() {
  const auto until = Clock::now() + kReturnPatience;
  auto done = co_await acknowledge_lanes();
  const auto is_away = [&done] { return !done && done.error() == Fault::StoreUnreachable; };
  // Sentinels that were made anew count from nothing: with the word they are followed again.
  if (!is_away() || !meeting_->epoch().forget()) co_return done;
  while (is_away() && Clock::now() < until) {
    Timer pause(co_await asio::this_coro::executor, kReturnPause);
    co_await pause.async_wait(kNoThrow);
    done = co_await acknowledge_lanes();
  }
  if (done) done = true;
  co_return done;
}

Task<Result<bool>> RedisStore::acknowledge_lanes() {
  bool was_suspect = false;
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    // What is wrong now is what the word is about, also where nobody has noticed it yet.
    if (const auto looked = co_await look_at(lane); !looked) co_return looked.error();
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    const auto told =
        co_await ask(redis_scripts().acknowledge, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (!told->is("done")) co_return missing(*told);
    was_suspect = was_suspect || told->number(0) == 1;
    meeting_->note(lane, Fence{static_cast<std::uint64_t>(told->number(1))});
  }
  co_return was_suspect;
}

Task<Result<std::variant<EventPage, EventGap>>> RedisStore::events(EventFilter filter) {
  if (!options_.events) co_return EventPage{};
  auto begun = RedisLog::after(filter, meeting_->met(0), lanes());
  if (!begun) co_return begun.error();
  const auto log = std::make_shared<RedisLog>(*std::move(begun));
  for (std::size_t lane = 0; log->is_adrift() && lane < lanes(); ++lane) {
    if (const auto done = co_await read_log(log, lane, 0); !done) co_return done.error();
  }
  const auto order = log->order();
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t share = log->share_of(order.size() - at);
    if (const auto done = co_await read_log(log, order[at], share); !done) {
      co_return done.error();
    }
  }
  co_return log->reply();
}

Task<Result<void>> RedisStore::read_log(std::shared_ptr<RedisLog> log, std::size_t lane,
                                        std::size_t most) {
  auto keys = meeting_->names(lane).own();
  auto words = meeting_->beginning(lane);
  words.push_back(log->read_up_to(lane));
  words.push_back(std::to_string(most));
  auto told = co_await ask(redis_scripts().events, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return log->take(lane, *std::move(told));
}

}  // namespace semel
