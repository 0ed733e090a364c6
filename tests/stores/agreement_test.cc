// The same random history on every store has to get the same answers, word for word.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include "stores/open.h"
#include "tests/stores/event_lines.h"
#include "tests/stores/postgres_fixture.h"
#include "tests/stores/redis_fixture.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {
namespace {

std::string text(const StoredResponsePtr& response) {
  if (!response) return "-";
  std::string out = std::to_string(response->status);
  out += response->kept == BodyKept::Kept ? " kept " : " not kept ";
  return out + response->body;
}

struct ReplyText {
  std::string operator()(const Granted& r) const {
    return "granted " + std::to_string(r.fence.value) + (r.expired_before ? " again" : "");
  }
  std::string operator()(const Held& r) const {
    return "held " + to_hex(r.reference) + " " + std::to_string(r.lease_left.count());
  }
  std::string operator()(const Completed& r) const {
    return "completed " + to_hex(r.reference) + " " + text(r.response);
  }
  std::string operator()(const Indeterminate& r) const {
    return "indeterminate " + to_hex(r.reference) + " " + std::string(name(r.reason)) + " " +
           std::to_string(r.upstream_status.value_or(0));
  }
  std::string operator()(const Abandoned& r) const {
    return "abandoned " + to_hex(r.token) + " " + std::to_string(r.fence.value) + " " +
           std::string(name(r.policy));
  }
  std::string operator()(const CallerDiffers&) const { return "caller differs"; }
  std::string operator()(const PayloadDiffers& r) const {
    return "payload differs " + to_hex(r.reference);
  }
};

std::string text(const ClaimReply& reply) { return std::visit(ReplyText{}, reply); }
std::string text(WriteReply reply) {
  return std::string(is_done(reply) ? "done" : "stale") +
         (is_against_word(reply) ? " against an operator's word" : "");
}
std::string text(ResolveReply reply) {
  return "resolve " + std::to_string(static_cast<int>(reply));
}
std::string text(std::size_t count) { return std::to_string(count); }
std::string text(const SweepReport& report) {
  return "swept " + std::to_string(report.expired) + " " + std::to_string(report.owner_lost);
}
std::string text(const RecordView& view) {
  std::ostringstream out;
  out << to_hex(view.key) << " " << to_hex(view.reference) << " " << static_cast<int>(view.state)
      << " " << name(view.policy) << " " << view.fence.value << " " << view.tenant << " "
      << view.route << " " << (view.reason ? name(*view.reason) : "-") << " "
      << view.upstream_status.value_or(0) << " " << text(view.response) << " "
      << view.lease_left.count() << " " << (view.expires_in ? view.expires_in->count() : -1) << " "
      << view.created.time_since_epoch().count() << " " << view.changed.time_since_epoch().count();
  return out.str();
}
std::string text(const std::optional<RecordView>& view) { return view ? text(*view) : "absent"; }
std::string text(const RecordPage& page) {
  std::string out = "page";
  for (const auto& view : page.records) out += "\n    " + text(view);
  return out + "\n    next " + page.next;
}

template <class T>
std::string told(const Result<T>& result) {
  return result ? text(*result) : std::string(name(result.error()));
}

/// Whether the wall clock of a history jumps. A store on a server knows the server's clock alone.
enum class Wall : std::uint8_t { Jumps, Keeps };

/// One seeded history, step for step, on one store.
class History {
 public:
  History(std::uint64_t seed, Store& store, MovedClock& clock, Wall wall = Wall::Jumps)
      : random_(seed), store_(store), clock_(clock), wall_(wall) {}

  std::string step() {
    switch (pick(15)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return claim();
      case 4:
      case 5:
        return "record " + told(run(store_.record(attempt(), answer())));
      case 6:
        return "release " + told(run(store_.release(attempt())));
      case 7:
        return mark();
      case 8:
        return supersede();
      case 9:
        return "find " + told(run(store_.find(id_of<IdempotencyKey>(pick(kKeys))))) + "\n  " +
               told(run(store_.find(attempt_reference())));
      case 10:
        return list();
      case 11:
        return resolve();
      case 13:
        return adopt();
      case 12:
        return pick(8) == 0 ? "forget " + told(run(store_.forget(tenant())))
                            : "sweep " + told(run(store_.sweep(1000)));
      default:
        return pass_time();
    }
  }

 private:
  static constexpr std::uint64_t kKeys = 12;

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::string tenant() { return pick(2) == 0 ? "acme" : "globex"; }

  ClaimRequest request() {
    auto request = request_of(pick(kKeys), attempts_.size() + 1);
    request.policy = pick(3) == 0 ? Policy::Idempotent : Policy::Effectful;
    request.tenant = tenant();
    if (pick(10) == 0) request.bindings.caller.bytes[0] = 9;
    if (pick(10) == 0) request.bindings.guards.bytes[0] = 9;
    if (pick(2) == 0) request.indeterminate_retention = 48h;
    if (!attempts_.empty() && pick(5) == 0) request.token = attempts_[pick(attempts_.size())].token;
    return request;
  }

  std::string claim() {
    const auto asked = request();
    const auto reply = run(store_.claim(asked));
    note(asked, reply);
    return "claim " + told(reply);
  }
  std::string supersede() {
    const auto old = attempt();
    auto asked = request();
    if (pick(2) == 0) asked.key = old.key;
    const auto reply = run(store_.supersede(asked, old));
    note(asked, reply);
    return "supersede " + told(reply);
  }
  void note(const ClaimRequest& asked, const Result<ClaimReply>& reply) {
    const auto* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
    attempts_.push_back({asked.key, asked.token, granted ? granted->fence : Fence{}});
    references_.push_back(asked.reference);
  }

  Attempt attempt() {
    if (attempts_.empty()) return {id_of<IdempotencyKey>(1), id_of<ClaimToken>(1), Fence{1}};
    const std::uint64_t recent = std::min<std::uint64_t>(attempts_.size(), 20);
    Attempt attempt = attempts_[attempts_.size() - 1 - pick(recent)];
    if (pick(10) == 0) attempt.fence.value += 1;
    return attempt;
  }
  Reference attempt_reference() {
    return references_.empty() ? Reference{} : references_[pick(references_.size())];
  }
  StoredResponsePtr answer() {
    return pick(4) == 0 ? response_without_body(202) : response_of(200, std::to_string(pick(1000)));
  }

  std::string mark() {
    const auto reason = static_cast<IndeterminateReason>(pick(7));
    std::optional<std::uint16_t> status;
    if (reason == IndeterminateReason::UpstreamStatus) status = std::uint16_t{503};
    return "mark " + told(run(store_.mark_indeterminate(attempt(), reason, status)));
  }
  std::string list() {
    ListFilter filter;
    if (pick(2) == 0) filter.state = static_cast<RecordView::State>(pick(3));
    if (pick(2) == 0) filter.tenant = tenant();
    filter.limit = 1 + pick(5);
    const auto page = run(store_.list(filter));
    filter.after = page ? page->next : "";
    return "list " + told(page) + "\n  " + told(run(store_.list(filter)));
  }
  std::string resolve() {
    Resolution resolution;
    resolution.decision =
        pick(2) == 0 ? Resolution::Decision::Happened : Resolution::Decision::DidNotHappen;
    if (pick(2) == 0) resolution.response = answer();
    return told(run(store_.resolve(attempt_reference(), resolution)));
  }
  std::string adopt() {
    std::vector<RouteTerms> today(pick(2));
    for (RouteTerms& terms : today) {
      terms.name = "book";
      terms.policy = Policy::Effectful;
      terms.retention = pick(2) == 0 ? 1h : 30h;
      if (pick(2) == 0) terms.indeterminate_retention = 60h;
    }
    const bool done = run(store_.adopt_routes(today)).has_value();
    return "adopt " + std::to_string(today.size()) + (done ? " done" : " failed");
  }
  std::string pass_time() {
    constexpr std::chrono::seconds kSpans[] = {1s, 10s, 31s, 10min, 25h, 49h};
    const auto span = kSpans[pick(std::size(kSpans))];
    clock_.advance(span);
    if (pick(4) == 0 && wall_ == Wall::Jumps) clock_.jump_wall(-span / 2);
    return "after " + std::to_string(span.count());
  }

  std::mt19937_64 random_;
  Store& store_;
  MovedClock& clock_;
  Wall wall_;
  std::vector<Attempt> attempts_;
  std::vector<Reference> references_;
};

class StoreAgreement : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(StoreAgreement, TheSameHistoryGetsTheSameAnswers) {
  TemporaryFolder folder;
  MovedClock memory_clock;
  MovedClock sqlite_clock;
  SqliteOptions options;
  options.path = folder.path() + "/semel.db";
  options.deadline = 30s;
  options.events.emplace();
  static_cast<void>(init_store(options));
  MemoryOptions memory_options;
  memory_options.events.emplace();
  const auto memory = open_store(memory_options, memory_clock.clock());
  const auto sqlite = open_store(options, sqlite_clock.clock());
  History first(GetParam(), *memory, memory_clock);
  History second(GetParam(), *sqlite, sqlite_clock);
  for (int step = 0; step < 600; ++step) {
    const std::string expected = first.step();
    ASSERT_EQ(second.step(), expected) << "seed " << GetParam() << ", step " << step;
  }
  const auto one = run(memory->health());
  const auto other = run(sqlite->health());
  EXPECT_EQ(one.indeterminate, other.indeterminate);
  EXPECT_EQ(one.records, other.records);
  EXPECT_EQ(one.last_fence, other.last_fence);
  EXPECT_EQ(one.resolutions_contradicted, other.resolutions_contradicted);
  const auto told = event_lines(*memory);
  EXPECT_EQ(event_lines(*sqlite), told);
  EXPECT_FALSE(told.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreAgreement, ::testing::Range<std::uint64_t>(1, 9));

/// A store on a server that was started for the test, whose clock the file moves.
struct OnServer {
  std::string name;
  std::function<std::unique_ptr<Store>(const StoreClock&, const std::string& clock_file)> make;
};
void PrintTo(const OnServer& store, std::ostream* out) { *out << store.name; }

/// Of each key on its own: in which order a sweep takes several is the store's own affair.
std::map<IdempotencyKey, EventLines> events_by_key(Store& store) {
  std::map<IdempotencyKey, EventLines> lines;
  for (const auto& event : all_events(store)) lines[event.key].push_back(line_of(event));
  return lines;
}

class SharedStoreAgreement : public ::testing::TestWithParam<std::tuple<OnServer, std::uint64_t>> {
};

TEST_P(SharedStoreAgreement, TheSameHistoryGetsTheSameAnswers) {
  const auto& [maker, seed] = GetParam();
  TemporaryFolder folder;
  const std::string clock_file = folder.path() + "/clock";
  MovedClock memory_clock;
  MovedClock shared_clock(clock_file);
  MemoryOptions options;
  options.events.emplace();
  const auto memory = open_store(options, memory_clock.clock());
  const auto shared = maker.make(shared_clock.clock(), clock_file);
  History first(seed, *memory, memory_clock, Wall::Keeps);
  History second(seed, *shared, shared_clock, Wall::Keeps);
  for (int step = 0; step < 600; ++step) {
    const std::string expected = first.step();
    ASSERT_EQ(second.step(), expected) << "seed " << seed << ", step " << step;
  }
  const auto one = run(memory->health());
  const auto other = run(shared->health());
  EXPECT_EQ(one.indeterminate, other.indeterminate);
  EXPECT_EQ(one.oldest_indeterminate, other.oldest_indeterminate);
  EXPECT_EQ(one.records, other.records);
  EXPECT_EQ(one.last_fence, other.last_fence);
  EXPECT_EQ(one.resolutions_contradicted, other.resolutions_contradicted);
  const auto told = events_by_key(*memory);
  EXPECT_EQ(events_by_key(*shared), told);
  EXPECT_FALSE(told.empty());
  shared->close();
}

std::unique_ptr<Store> on_redis(const StoreClock& clock, const std::string& clock_file) {
  static std::unique_ptr<StandingRedis> redis;
  redis = std::make_unique<StandingRedis>(clock_file);
  RedisOptions options = options_on(redis->server);
  options.events.emplace();
  return store_on(options, clock);
}

std::unique_ptr<Store> on_postgres(const StoreClock& clock, const std::string& clock_file) {
  static std::unique_ptr<StandingPostgres> postgres;
  postgres = std::make_unique<StandingPostgres>(clock_file);
  PostgresOptions options = options_on(postgres->server);
  options.events.emplace();
  return store_on(options, clock);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedStoreAgreement,
                         ::testing::Combine(::testing::Values(OnServer{"redis", on_redis},
                                                              OnServer{"postgres", on_postgres}),
                                            ::testing::Range<std::uint64_t>(1, 9)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace semel::testing
