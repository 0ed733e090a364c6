// How a store in Redis is made, met for the first time, and left.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>

#include "io/random.h"
#include "stores/note_lines.h"
#include "stores/redis_grade.h"
#include "stores/redis_names.h"
#include "stores/redis_scripts.h"
#include "stores/redis_store.h"
#include "stores/redis_url.h"

namespace semel {
namespace {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

/// A server that is being started beside us has so long to answer.
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{50};

/// Where the servers are, without a password.
std::string place_of(const RedisOptions& options) {
  if (options.sentinel_master) return "the Redis that Sentinel calls " + *options.sentinel_master;
  return "the Redis at " + name_of(parse_redis_url(options.url).peer);
}

/// @throws What the coroutine throws.
void run_to_end(asio::io_context& io, Task<void> task) {
  std::exception_ptr thrown;
  asio::co_spawn(io, std::move(task), [&](std::exception_ptr error) {
    thrown = std::move(error);
    io.stop();
  });
  io.run();
  if (thrown) std::rethrow_exception(thrown);
}

/// Links of their own, for the time before there is a store: those of a store live as long as its
/// workers.
class FirstLinks {
 public:
  FirstLinks(const RedisOptions& options, RedisHooks hooks) : links_(options, std::move(hooks)) {}
  ~FirstLinks() { links_.close(); }
  FirstLinks(const FirstLinks&) = delete;
  FirstLinks& operator=(const FirstLinks&) = delete;

  void run(Task<void> task) { run_to_end(io_, std::move(task)); }
  [[nodiscard]] RedisLinks& operator*() { return links_; }

 private:
  asio::io_context io_{1};
  RedisLinks links_;
};

/// Asks as long as nothing was asked, and at the longest for as long as we are patient.
/// @param is_vain  True once it is known that no answer will come.
Task<Result<RedisReply>> patiently(RedisLinks& links, const RedisScript& script, std::size_t lane,
                                   std::vector<std::string> keys, std::vector<std::string> words,
                                   std::function<bool()> is_vain) {
  const auto until = Clock::now() + kPatience;
  for (;;) {
    auto same_keys = keys;
    auto same_words = words;
    auto reply = co_await links.run(script, lane, std::move(same_keys), std::move(same_words));
    const bool goes_on = !reply && reply.error() == Fault::StoreUnreachable && !is_vain();
    if (!goes_on || Clock::now() >= until) co_return reply;
    Timer pause(co_await asio::this_coro::executor, kPause);
    co_await pause.async_wait(kNoThrow);
  }
}

std::string unreachable(const RedisOptions& options, const RedisLinks& links) {
  std::string why = links.remark();
  for (const RedisFacts& server : links.facts()) {
    if (why.empty()) why = redis_shortage(server, options.wait_replicas);
  }
  return place_of(options) + " cannot be asked" + (why.empty() ? "" : ": " + why);
}

/// One connection to each server, let through or not.
Task<void> greet(RedisLinks& links, std::shared_ptr<RedisMeeting> meeting, RedisOptions options) {
  for (std::size_t lane = 0; lane < links.lanes(); ++lane) {
    auto keys = meeting->names(lane).own();
    auto words = meeting->beginning(lane);
    const auto asked = meeting->boot();
    auto is_vain = [&meeting] { return !meeting->objection().empty(); };
    auto reply = co_await patiently(links, redis_scripts().health, lane, std::move(keys),
                                    std::move(words), is_vain);
    const auto told = meeting->hear(lane, std::move(reply), asked);
    if (told && told->is("found")) continue;
    const std::string objection = meeting->objection();
    throw StoreError(objection.empty() ? unreachable(options, links)
                                       : place_of(options) + ": " + objection);
  }
}

/// What init finds in one lane, or leaves there.
struct Marked {
  std::string id;
  bool was_before = false;
  Fence fence;  ///< Without a marker: of the claims that the lane held all the same.
};

/// How init is asked about all lanes.
struct Marking {
  std::string id;
  Execution execution = Execution::Show;
  Fence fence;  ///< The highest that is known of any lane.
};

Task<void> mark_lanes(RedisLinks& links, RedisOptions options, Marking marking,
                      std::vector<Marked>& marked) {
  for (std::size_t lane = 0; lane < links.lanes(); ++lane) {
    auto keys = RedisNames(links.tag(lane)).with_postponed();
    std::vector<std::string> words{marking.id, std::to_string(links.lanes()),
                                   marking.execution == Execution::Show ? "1" : "0",
                                   std::to_string(marking.fence.value)};
    const auto reply = co_await patiently(links, redis_scripts().init, lane, std::move(keys),
                                          std::move(words), [] { return false; });
    if (reply && reply->is_error()) throw StoreError(place_of(options) + ": " + reply->text);
    if (!reply || reply->items.size() != 3) throw StoreError(unreachable(options, links));
    const std::string& fence = reply->items[2].text;
    marked.push_back(
        {reply->items[0].text, reply->items[1].integer == 1, Fence{number_of(fence).value_or(0)}});
  }
}

std::vector<Marked> mark(const RedisOptions& options, Marking marking) {
  std::vector<Marked> marked;
  FirstLinks links(options, RedisHooks{});
  links.run(mark_lanes(*links, options, std::move(marking), marked));
  return marked;
}

/// The id of the lanes that are marked already; empty where none is.
std::string id_of(const std::vector<Marked>& lanes, const RedisOptions& options) {
  std::string id;
  for (const Marked& lane : lanes) {
    if (!lane.was_before) continue;
    if (!id.empty() && lane.id != id) {
      throw StoreError(place_of(options) + " holds parts of two stores, " + id + " and " + lane.id +
                       ": nothing was changed");
    }
    id = lane.id;
  }
  return id;
}

Fence highest_fence(const std::vector<Marked>& lanes) {
  Fence highest;
  for (const Marked& lane : lanes) highest = std::max(highest, lane.fence);
  return highest;
}

/// What an operator has to know of a store that was there before its markers.
std::string lost_marker_sentence(Fence highest) {
  if (highest == Fence{}) return "";
  return "\nclaims were made there before, and what marked them is gone: no fence up to " +
         std::to_string(highest.value) +
         " is given again, what is there is kept, and the store is suspect until `semel store "
         "acknowledge CONFIG`";
}

Task<void> acknowledge_and_tell(RedisStore& store, std::string place, Acknowledged& word) {
  const StoreHealth health = co_await store.health();
  const auto done = co_await store.acknowledge();
  if (!done) {
    throw StoreError(place + " cannot be asked (" + std::string(name(done.error())) +
                     "): nothing, or not all of it, was acknowledged");
  }
  word.was_suspect = word.was_suspect || *done;
  word.sentence += *done
                       ? health.remark + "\nacknowledged: from now on " + place + " counts as it is"
                       : place + " is not suspect: there was nothing to acknowledge";
}

}  // namespace

RedisStore::RedisStore(const RedisOptions& options, const StoreClock& clock)
    : RedisStore(options, std::make_shared<RedisMeeting>(options, clock)) {}

RedisStore::RedisStore(const RedisOptions& options, std::shared_ptr<RedisMeeting> meeting)
    : options_(options),
      meeting_(std::move(meeting)),
      waits_(std::make_shared<KeyWaits>()),
      links_(options, meeting_->hooks()),
      adopting_(links_.lanes()) {
  meeting_->name_lanes(links_);
  FirstLinks links(options, meeting_->hooks());
  links.run(greet(*links, meeting_, options));
  listen();
}

RedisStore::~RedisStore() { close(); }

void RedisStore::listen() {
  const auto on_message = [waits = waits_](std::string_view, std::string_view said) {
    IdempotencyKey key;
    if (said.size() != key.bytes.size()) return;
    std::copy(said.begin(), said.end(), key.bytes.begin());
    waits->wake(key);
  };
  const auto on_gap = [waits = waits_] { waits->wake_all(); };
  links_.subscribe(listening_.get_executor(), {kWokenChannel}, on_message, on_gap);
  listener_ = std::thread([this] {
    const auto goes_on = asio::make_work_guard(listening_);
    listening_.run();
  });
}

void RedisStore::close() {
  if (closed_.exchange(true)) return;
  links_.close();
  waits_->wake_all();
  listening_.stop();
  if (listener_.joinable()) listener_.join();
  meeting_->end();
}

std::string RedisStore::create(const RedisOptions& options, Execution execution) {
  const std::string drawn = to_hex(RandomBits().token());
  const auto before = mark(options, {drawn, Execution::Show, Fence{}});
  const std::string known = id_of(before, options);
  const std::string id = known.empty() ? drawn : known;
  std::size_t missing = 0;
  for (const Marked& lane : before) missing += lane.was_before ? 0 : 1;
  const std::string place = place_of(options);
  if (missing == 0) return place + " holds store " + id + " already: it was left as it is";
  const std::string parts = std::to_string(missing) + " of " + std::to_string(before.size()) +
                            (before.size() == 1 ? " marker" : " markers");
  const Fence highest = highest_fence(before);
  if (execution == Execution::Show) {
    std::string text = place + " would be given " + parts + ":";
    const RedisLinks links(options, RedisHooks{});
    for (std::size_t lane = 0; lane < before.size(); ++lane) {
      if (before[lane].was_before) continue;
      text += "\nHSET " + RedisNames(links.tag(lane)).marker() + " format 1 id " +
              (known.empty() ? "<drawn>" : known) + " lanes " + std::to_string(before.size()) +
              " fence " + (highest == Fence{} ? "0" : "<above all that were given> suspect ...");
    }
    return text + lost_marker_sentence(highest);
  }
  static_cast<void>(mark(options, {id, Execution::CarryOut, highest}));
  return (known.empty() ? "created store " : "finished store ") + id + " in " + place + ": wrote " +
         parts + lost_marker_sentence(highest);
}

Acknowledged RedisStore::acknowledge_closed(const RedisOptions& options, const StoreClock& clock) {
  asio::io_context io(1);
  const auto meeting = std::make_shared<RedisMeeting>(options, clock);
  std::unique_ptr<RedisStore> store;
  Acknowledged word;
  try {
    store.reset(new RedisStore(options, meeting));
  } catch (const StoreError&) {
    if (!meeting->epoch().forget()) throw;
    store.reset(new RedisStore(options, meeting));
    word.sentence = "acknowledged: the sentinels count from nothing; ";
    word.was_suspect = true;
  }
  run_to_end(io, acknowledge_and_tell(*store, place_of(options), word));
  store->close();
  return word;
}

}  // namespace semel
