// One client connection. Everything that is refused before a claim is refused here; what a guarded
// call may do is the exchange's business. Started by proxy/worker.
#include "proxy/session.h"

#include <algorithm>
#include <array>

#include "core/route_table.h"
#include "proxy/exchange.h"

namespace semel::proxy {
namespace {

using Clock = Deadlines::Clock;

/// A quiet connection gives its block back after this long.
constexpr std::chrono::seconds kBlockHeld{1};
/// What a READ_ONLY request's body may have to be held for a retry (spec 2).
constexpr std::size_t kHeldForRetry = 64 * 1024;
constexpr std::size_t kLingerBytesMax = 256 * 1024;
constexpr std::chrono::seconds kLinger{2};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// What the dispatch table is asked with: a request that is not guarded is plain proxying.
Policy effective_policy(const Route& route, std::string_view method) {
  if (method == "OPTIONS" || route.mode == Mode::Off) return Policy::None;
  return route.mode == Mode::Shadow ? Policy::None : route.policy;
}

bool is_shadowed(const Route& route, std::string_view method) {
  return route.mode == Mode::Shadow && is_keyed(route.policy) && method != "OPTIONS";
}

}  // namespace

Session::Session(Worker& worker, std::unique_ptr<Connection> client, std::string address)
    : worker_(worker), client_(std::move(client)), address_(std::move(address)) {
  worker_.metrics.connections.add();
  guest_ = worker_.guests().insert(worker_.guests().end(), {client_.get(), false});
}

Session::~Session() {
  worker_.guests().erase(guest_);
  worker_.metrics.connections.subtract(1);
  worker_.site.connections.give_back(address_);
  in_.consume(in_.text().size());
  worker_.buffers.take_back(in_);
}

Task<> Session::run() {
  while (co_await read_head()) {
    if (co_await answer() == Then::Close) break;
    give_back_room();
    outfit_.reset();
    is_first_ = false;
  }
}

/// What a large body took is not kept for the small requests that may follow on this connection.
void Session::give_back_room() {
  if (in_.text().size() > Buffer::kBlock) return;  // Requests that wait in it: the share is held.
  if (in_.capacity() > Buffer::kBlock) {
    const std::string next(in_.text());
    in_.consume(next.size());
    worker_.buffers.take_back(in_);
    put_back(next);
  }
  share_ = {};
}

Task<IoEnd> Session::read_first_bytes() {
  guest_->is_idle = true;
  if (worker_.site.draining.load(std::memory_order_relaxed)) co_return IoEnd::Closed;
  const config::Limits& limits = worker_.outfit()->limits();  // Not kept over a wait.
  const auto from = worker_.deadlines.coarse_now();
  const auto until = from + (is_first_ ? limits.header_timeout : limits.idle_timeout);
  const auto held_until = std::min(from + kBlockHeld, until);
  worker_.buffers.lend(in_);
  client_->expires_at(held_until);
  ReadReply read = co_await client_->read_some(in_.room());
  if (read.end == IoEnd::Expired && read.bytes == 0 && held_until < until) {
    worker_.buffers.take_back(in_);
    client_->expires_at(until);
    const IoEnd waited = co_await client_->wait_readable();
    if (waited != IoEnd::Done) co_return waited;
    worker_.buffers.lend(in_);
    read = co_await client_->read_some(in_.room());
  }
  guest_->is_idle = false;
  in_.commit(read.bytes);
  co_return read.end;
}

Task<bool> Session::read_head() {
  if (in_.is_empty() && co_await read_first_bytes() != IoEnd::Done) co_return false;
  outfit_ = worker_.outfit();
  const GateRules& rules = outfit_->edition().gate_rules;
  const auto until = worker_.deadlines.coarse_now() + outfit_->limits().header_timeout;
  // A refusal is logged with the method. The one before may point to a block that was given back.
  head_.method = {};
  std::size_t scanned = 0;
  for (;;) {
    const GateAnswer said = read_request_head(in_.text(), scanned, rules, head_);
    if (std::holds_alternative<Passed>(said)) co_return true;
    if (const auto* refusal = std::get_if<GateRefusal>(&said)) {
      Reply reply(*client_, scratch_);
      co_await refuse(reply, refusal->type, refusal->reason, nullptr);
      co_await linger();
      co_return false;
    }
    scanned = std::get<NeedMore>(said).scanned;
    in_.ensure(in_.text().size() + 1);
    client_->expires_at(until);
    const ReadReply read = co_await client_->read_some(in_.room());
    if (read.end == IoEnd::Expired) {
      Reply reply(*client_, scratch_);
      co_await refuse(reply, ProblemType::RequestTimeout, {}, nullptr);
      co_await linger();
    }
    if (read.end != IoEnd::Done) co_return false;
    in_.commit(read.bytes);
  }
}

Task<Session::Then> Session::answer() {
  Reply reply(*client_, head_, scratch_);
  const RouteTable& table = outfit_->edition().table;
  const std::size_t length =
      head_.framing == Framing::Length ? static_cast<std::size_t>(head_.content_length) : 0;
  const bool body_is_here = head_.framing != Framing::Chunked && behind_head().size() >= length;
  // A refusal before the body was read leaves it unread: the connection cannot go on.
  if (!body_is_here) reply.close_after();
  const std::size_t consumed = head_.head_bytes + length;

  const auto finish = [&]() -> Then {
    if (!reply.keeps_alive()) return Then::Close;
    in_.consume(consumed);
    return Then::Again;
  };

  if (worker_.site.draining.load(std::memory_order_relaxed)) {
    reply.close_after();
    co_await refuse(reply, ProblemType::Draining, {}, nullptr);
    co_await linger();
    co_return Then::Close;
  }
  if (head_.target == "*") {
    co_await reply.no_content();
    co_return finish();
  }
  const auto normal = normalise_path(head_.path, table.any_loose());
  const auto* path = std::get_if<NormalPath>(&normal);
  if (path == nullptr) {
    co_await refuse(reply, ProblemType::PathAmbiguous, std::get<PathRefusal>(normal).reason,
                    nullptr);
  } else {
    const RouteAnswer found = table.match(head_.method, *path);
    if (const auto* match = std::get_if<RouteMatch>(&found)) {
      const Policy policy = effective_policy(*match->route, head_.method);
      if (head_.expects_other) {
        co_await refuse(reply, ProblemType::ExpectationFailed, {}, match->route);
      } else if (is_keyed(policy) && head_.wants_upgrade) {
        co_await refuse(reply, ProblemType::BadRequest, "Upgrade on a keyed route", match->route);
      } else {
        co_await exchange(*path, *match, policy, reply);
        if (reply.keeps_alive()) co_return Then::Again;
        if (reply.is_gone()) {
          // Broken off: it must not look like an answer that ends with its connection.
          client_->reset();
        } else {
          co_await linger();
        }
        co_return Then::Close;
      }
    } else if (const auto* method = std::get_if<MethodNotAllowed>(&found)) {
      co_await refuse(reply, ProblemType::Method, {}, nullptr, method->allow);
    } else if (std::holds_alternative<PathAmbiguous>(found)) {
      co_await refuse(reply, ProblemType::PathAmbiguous,
                      "the path differs from a guarded one only by case or a trailing slash",
                      nullptr);
    } else {
      co_await refuse(reply, ProblemType::NoRoute, {}, nullptr);
    }
  }
  if (!reply.keeps_alive()) co_await linger();
  co_return finish();
}

Task<> Session::exchange(const NormalPath& path, const RouteMatch& match, Policy policy,
                         Reply& reply) {
  const Route& route = *match.route;
  std::string decoded;
  std::optional<RequestBody> stream;
  Exchange::Asked asked;
  asked.head = &head_;
  asked.path = &path;
  asked.match = &match;
  asked.client_address = address_;
  asked.policy = policy;
  asked.outfit = outfit_.get();
  asked.is_shadowed = is_shadowed(route, head_.method);

  const bool small = head_.framing == Framing::Length && head_.content_length <= kHeldForRetry;
  const bool here = head_.framing != Framing::Chunked &&
                    behind_head().size() >= static_cast<std::size_t>(head_.content_length);
  if (here || is_keyed(policy) || (policy == Policy::ReadOnly && small)) {
    const std::size_t bytes_max = is_keyed(policy) ? route.request_body_bytes_max : SIZE_MAX;
    if (co_await gather(bytes_max, reply, route, decoded) == Whole::No) co_return;
    asked.body = head_.framing == Framing::Chunked
                     ? std::string_view(decoded)
                     : behind_head().substr(0, static_cast<std::size_t>(head_.content_length));
    reply.restore_keep_alive(head_.keep_alive);
  } else {
    if (head_.expects_continue) co_await invite_body();
    stream.emplace(*client_, worker_.buffers, outfit_->limits(), head_, behind_head());
    asked.stream = &*stream;
    reply.restore_keep_alive(head_.keep_alive);
  }

  // Not in this coroutine's frame: frames of this size are not recycled.
  const auto exchange = std::make_unique<Exchange>(worker_, asked, reply);
  co_await exchange->run();

  if (stream) {
    if (stream->end() == RequestBody::End::Last) {
      put_back(stream->left_over());
    } else {
      reply.close_after();
    }
  } else if (head_.framing == Framing::Chunked) {
    put_back(left_over_);
  } else {
    in_.consume(head_.head_bytes + static_cast<std::size_t>(head_.content_length));
  }
}

Task<Session::Whole> Session::gather(std::size_t bytes_max, Reply& reply, const Route& route,
                                     std::string& decoded) {
  if (head_.framing == Framing::None) co_return Whole::Yes;
  if (head_.framing == Framing::Length && head_.content_length > bytes_max) {
    co_await refuse(reply, ProblemType::BodyTooLarge, {}, &route);
    co_return Whole::No;
  }
  if (head_.framing == Framing::Length) co_return co_await gather_length(reply, route);
  co_return co_await gather_chunks(bytes_max, reply, route, decoded);
}

/// The body stays behind the head, in one piece with it.
Task<Session::Whole> Session::gather_length(Reply& reply, const Route& route) {
  const std::size_t whole = head_.head_bytes + static_cast<std::size_t>(head_.content_length);
  if (in_.text().size() >= whole) co_return Whole::Yes;
  if (whole > in_.capacity()) {
    share_ = worker_.site.buffered.take(whole);
    if (!share_.is_granted()) {
      co_await refuse(reply, ProblemType::Overloaded, {}, &route);
      co_return Whole::No;
    }
  }
  if (head_.expects_continue) co_await invite_body();
  // The head may move with its buffer: it is read again where it stands then.
  in_.ensure(whole);
  const GateAnswer again = read_request_head(in_.text(), 0, outfit_->edition().gate_rules, head_);
  SEMEL_CHECK(std::holds_alternative<Passed>(again));

  const config::Limits& limits = outfit_->limits();
  const auto began = Clock::now();
  const std::size_t had = in_.text().size();
  while (in_.text().size() < whole) {
    const auto earned =
        limits.body_min_rate == 0
            ? std::chrono::milliseconds(0)
            : std::chrono::milliseconds((in_.text().size() - had) * 1000 / limits.body_min_rate);
    client_->expires_at(began + limits.body_timeout + earned);
    const ReadReply read = co_await client_->read_some(in_.room());
    if (read.end == IoEnd::Expired) {
      co_await refuse(reply, ProblemType::RequestTimeout, {}, &route);
      co_return Whole::No;
    }
    if (read.end != IoEnd::Done) {
      reply.cut();
      co_return Whole::No;
    }
    in_.commit(read.bytes);
  }
  co_return Whole::Yes;
}

Task<Session::Whole> Session::gather_chunks(std::size_t bytes_max, Reply& reply, const Route& route,
                                            std::string& decoded) {
  if (head_.expects_continue) co_await invite_body();
  RequestBody body(*client_, worker_.buffers, outfit_->limits(), head_, behind_head());
  for (;;) {
    const RequestBody::Piece piece = co_await body.next();
    if (piece.end == RequestBody::End::Gone) {
      reply.cut();
      co_return Whole::No;
    }
    if (piece.end == RequestBody::End::Malformed || piece.end == RequestBody::End::TooSlow) {
      const bool malformed = piece.end == RequestBody::End::Malformed;
      co_await refuse(reply, malformed ? ProblemType::BadRequest : ProblemType::RequestTimeout,
                      malformed ? "a malformed chunk" : "", &route);
      co_return Whole::No;
    }
    if (decoded.size() + piece.data.size() > bytes_max) {
      co_await refuse(reply, ProblemType::BodyTooLarge, {}, &route);
      co_return Whole::No;
    }
    if (decoded.size() + piece.data.size() > Buffer::kBlock && !share_.is_granted()) {
      share_ = worker_.site.buffered.take(bytes_max);
      if (!share_.is_granted()) {
        co_await refuse(reply, ProblemType::Overloaded, {}, &route);
        co_return Whole::No;
      }
    }
    decoded.append(piece.data);
    if (piece.end == RequestBody::End::Last) break;
  }
  // Only the head and what came behind the body stay; the head's views point to its start.
  left_over_.assign(body.left_over());
  co_return Whole::Yes;
}

Task<> Session::invite_body() {
  const std::array<asio::const_buffer, 1> buffers = {
      asio::buffer(kContinue.data(), kContinue.size())};
  client_->expires_at(Clock::now() + outfit_->limits().header_timeout);
  co_await client_->write_all(buffers);
}

void Session::put_back(std::string_view left_over) {
  in_.consume(in_.text().size());
  in_.ensure(left_over.size());
  std::copy(left_over.begin(), left_over.end(), in_.room().begin());
  in_.commit(left_over.size());
}

Task<> Session::refuse(Reply& reply, ProblemType type, std::string_view detail, const Route* route,
                       std::string_view allow) {
  Problem problem;
  problem.type = type;
  problem.dispatched = false;
  if (!detail.empty())
    problem.detail = "Refused before anything was sent: " + std::string(detail) + ".";
  if (type == ProblemType::Draining || type == ProblemType::Overloaded) {
    problem.retry_after_seconds = 1;
  }
  GuardWords words;
  words.outcome = Outcome::Refused;
  if (route != nullptr) {
    problem.policy = route->policy;
    problem.route = route->name;
    words.guarded = route->is_enforced();
  }
  co_await reply.problem(problem, words, allow);

  outfit_->counters(route).requests[static_cast<std::size_t>(Outcome::Refused)].add();
  AccessEntry entry;
  entry.method = type == ProblemType::BadRequest ? std::string_view() : head_.method;
  if (route != nullptr) {
    entry.route = route->name;
    entry.policy = route->policy;
  }
  entry.problem = reply.problem_slug();
  entry.status = reply.status();
  entry.last_stage = Stage::Routed;
  entry.bytes_sent = reply.bytes_sent();
  entry.client_gone = reply.is_gone();
  worker_.access_log.write(entry);
}

/// Lets the client read the answer before the reset that unread bytes would cause.
Task<> Session::linger() {
  client_->shutdown_write();
  in_.consume(in_.text().size());
  worker_.buffers.lend(in_);
  const auto until = Clock::now() + kLinger;
  std::size_t discarded = 0;
  while (discarded < kLingerBytesMax) {
    client_->expires_at(until);
    const ReadReply read = co_await client_->read_some(in_.room());
    if (read.end != IoEnd::Done) break;
    discarded += read.bytes;
  }
}

}  // namespace semel::proxy
