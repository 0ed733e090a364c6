// Reads the transition log for whoever asks: one page of it, or a stream that goes on reading. What
// an event looks like is event_json's to say, and how bytes leave, page_server's.
#include "proxy/event_feed.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "config/units.h"
#include "core/ascii.h"
#include "core/header_rules.h"
#include "core/json_object.h"
#include "proxy/event_json.h"
#include "proxy/problem_page.h"

namespace semel::proxy {
namespace {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

constexpr std::size_t kPageEvents = 100;
constexpr std::size_t kPageEventsMax = 1'000;
/// How late an event may be in a stream, beside the store's own time.
constexpr std::chrono::milliseconds kPause{200};
/// A stream says so often that it is alive: proxies in between close silent connections.
constexpr std::chrono::seconds kSilenceMax{15};
constexpr std::string_view kHeartbeat = ":\n\n";
constexpr std::string_view kStreamType = "text/event-stream";
constexpr std::string_view kLastId = "Last-Event-ID";

PageReply refuse(ProblemType type, std::string sentence, std::optional<int> retry_after = {}) {
  Problem problem;
  problem.type = type;
  problem.detail = std::move(sentence);
  problem.retry_after_seconds = retry_after;
  return problem_page(problem);
}

bool wants_stream(const PageRequest& request) {
  for (const auto& [name, value] : request.fields) {
    if (!same_name(name, "Accept")) continue;
    for (std::string_view left = value; !left.empty();) {
      const std::string_view range = left.substr(0, left.find(','));
      left.remove_prefix(std::min(range.size() + 1, left.size()));
      if (same_name(trimmed(range.substr(0, range.find(';'))), kStreamType)) return true;
    }
  }
  return false;
}

Problem problem_of(Fault fault) {
  Problem problem;
  if (fault == Fault::EventCorrupt) {
    problem.type = ProblemType::EventUnreadable;
  } else if (fault == Fault::RecordCorrupt) {
    problem.type = ProblemType::BadRequest;
    problem.detail = "after is no position of this store's log.";
  } else {
    problem.type = ProblemType::StoreUnavailable;
    problem.detail =
        "The store cannot be asked (" + std::string(name(fault)) + "): repeat the request.";
    problem.retry_after_seconds = 1;
  }
  return problem;
}

/// True where the store may answer a stream later, as if nothing had been.
bool may_pass(Fault fault) {
  switch (fault) {
    case Fault::StoreUnreachable:
    case Fault::StoreTimeout:
    case Fault::StoreFull:
    case Fault::StoreSuspect:
      return true;
    case Fault::StoreBroken:
    case Fault::RecordCorrupt:
    case Fault::EventCorrupt:
      return false;
  }
  return false;
}

/// A page; where a damaged event stands in it, a smaller one that ends before that.
Task<Result<std::variant<EventPage, EventGap>>> read_log(Store& store, EventFilter filter) {
  for (;; filter.limit /= 2) {
    EventFilter asked = filter;
    auto told = co_await store.events(std::move(asked));
    const bool is_damaged = told.has_error() && told.error() == Fault::EventCorrupt;
    if (!is_damaged || filter.limit <= 1) co_return told;
  }
}

/// Why there is no page, where there is none.
std::optional<PageReply> refusal(const Result<std::variant<EventPage, EventGap>>& told) {
  if (told.has_error()) return problem_page(problem_of(told.error()));
  if (const auto* gap = std::get_if<EventGap>(&*told)) {
    Problem problem;
    problem.type = ProblemType::EventsGone;
    problem.oldest = gap->oldest;
    return problem_page(problem);
  }
  if (std::get<EventPage>(*told).next.empty()) {
    return refuse(ProblemType::NoRoute,
                  "The transition log is off: `events: {}` in the configuration turns it on.");
  }
  return std::nullopt;
}

PageReply page_of(const EventPage& page) {
  PageReply reply;
  reply.content_type = "application/json";
  JsonObject object(reply.body);
  object.begin("events");
  reply.body += '[';
  for (const TransitionEvent& event : page.events) {
    if (&event != page.events.data()) reply.body += ',';
    append_event(reply.body, event);
  }
  reply.body += ']';
  object.text("next", page.next);
  object.end();
  reply.body += '\n';
  return reply;
}

}  // namespace

/// One reader's way through the log. It reads no further than its reader does.
class EventFeed::Stream final : public PageStream {
 public:
  Stream(std::shared_ptr<Readers> readers, std::string after)
      : readers_(std::move(readers)), after_(std::move(after)) {
    ++readers_->count;
  }
  ~Stream() override { --readers_->count; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Task<std::optional<std::string>> next() override {
    const auto silent_since = Clock::now();
    while (!abandoned_ && !has_ended_) {
      EventFilter filter;
      filter.after = after_;
      filter.limit = kPageEvents;
      auto told = co_await read_log(readers_->store, std::move(filter));
      if (told && std::holds_alternative<EventGap>(*told)) break;  // It comes back and is told.
      if (told) {
        EventPage page = std::get<EventPage>(*std::move(told));
        after_ = std::move(page.next);
        if (!page.events.empty()) co_return piece_of(page.events);
      }
      if (told.has_error() && !may_pass(told.error())) {
        has_ended_ = true;
        co_return last_words(problem_of(told.error()));
      }
      if (readers_->draining) break;
      // A store that cannot be asked now is asked again: the reader has nothing to do about it.
      if (Clock::now() - silent_since >= kSilenceMax) co_return std::string(kHeartbeat);
      Timer pause(co_await asio::this_coro::executor, kPause);
      co_await pause.async_wait(kNoThrow);
    }
    co_return std::nullopt;
  }

  void abandon() override { abandoned_ = true; }

 private:
  static std::string piece_of(const std::vector<TransitionEvent>& events) {
    std::string piece;
    for (const TransitionEvent& event : events) append_server_sent(piece, event);
    return piece;
  }

  /// Why nothing follows. Without an id: whoever comes back goes on where it was.
  static std::string last_words(const Problem& problem) {
    return "event: problem\ndata: " + render_body(problem) + "\n\n";
  }

  std::shared_ptr<Readers> readers_;
  std::string after_;
  bool abandoned_ = false;
  bool has_ended_ = false;
};

EventFeed::EventFeed(Store& store) : readers_(std::make_shared<Readers>(Readers{store})) {}

Task<PageReply> EventFeed::answer(PageRequest request, PageTarget target) {
  const bool is_stream = wants_stream(request);
  EventFilter filter;
  filter.after = target.first("after").value_or("");
  filter.limit = kPageEvents;
  if (const auto text = target.first("limit")) {
    if (is_stream) co_return refuse(ProblemType::BadRequest, "A stream has no limit.");
    const auto limit = config::parse_integer(*text);
    if (!limit || *limit < 1 || *limit > kPageEventsMax) {
      co_return refuse(ProblemType::BadRequest, "limit must be 1 to 1000.");
    }
    filter.limit = static_cast<std::size_t>(*limit);
  }
  if (is_stream && request.has(kLastId)) {
    const auto id = request.only(kLastId);
    if (!id) co_return refuse(ProblemType::BadRequest, "Last-Event-ID must stand there once.");
    // A browser's word for where it stopped; its URL still says where it once began.
    if (!trimmed(*id).empty()) filter.after = trimmed(*id);
  }
  if (is_stream) filter.limit = 1;
  std::string after = filter.after;
  const auto told = co_await read_log(readers_->store, std::move(filter));
  if (auto refused = refusal(told)) co_return *std::move(refused);
  if (is_stream) co_return begin_stream(std::move(after));
  co_return page_of(std::get<EventPage>(*told));
}

PageReply EventFeed::begin_stream(std::string after) {
  if (readers_->draining) return problem_page(ProblemType::Draining);
  if (readers_->count >= kStreamsMax) {
    return refuse(ProblemType::Overloaded,
                  std::to_string(kStreamsMax) + " streams of events are open already.", 5);
  }
  PageReply reply;
  reply.content_type = kStreamType;
  reply.stream = std::make_shared<Stream>(readers_, std::move(after));
  return reply;
}

void EventFeed::drain() { readers_->draining = true; }

Task<> EventFeed::ended(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  Timer pause(co_await asio::this_coro::executor);
  while (readers_->count > 0 && Clock::now() < until) {
    pause.expires_after(std::chrono::milliseconds(10));
    co_await pause.async_wait(kNoThrow);
  }
}

}  // namespace semel::proxy
