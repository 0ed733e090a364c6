// The clients: they retry, with jitter or at once; some go away in the middle, some do not listen
// to `x-should-retry`.
#include "tests/sim/client.h"

#include <utility>

#include "tests/sim/tool.h"

namespace semel::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr unsigned kTriesMax = 6;
/// Of those who want the answer of a call that is long over.
constexpr unsigned kComesBack = 250;

Retry retry_of(std::string_view word) {
  if (word.empty()) return Retry::Silent;
  return word == "true" ? Retry::Yes : Retry::No;
}

/// The last segment of the problem's `type`; empty: the answer is none of Semel's own.
std::string_view problem_of(const MessageReader& answer) {
  if (answer.field("content-type") != "application/problem+json") return {};
  const std::string_view type = json_member(answer.body(), "type");
  return type.substr(type.rfind('/') + 1);
}

}  // namespace

struct Client::Attempt {
  std::uint16_t proxy = 0;
  std::uint32_t call = 0;
  EndPtr end;
  MessageReader answer;
  EndPtr proxy_end;            ///< Where it is to arrive.
  std::uint64_t whole_at = 0;  ///< Bytes that have arrived there, once the request has.
  Time sent_at{-1};
  bool is_over = false;
};

Client::Client(World& world, Dice dice, Errand errand)
    : world_(world),
      dice_(dice),
      errand_(errand),
      is_disciplined_(!dice_.chance(world.plan.undisciplined)) {}

/// A request of which no key can be derived means nothing: it is not noted, and were it forwarded,
/// the judge would find a request of which nobody knows.
void Client::note(const Happening& happening) {
  if (!errand_.is_malformed) world_.history.add(happening);
}

Happening Client::happening(Kind kind, const Attempt& attempt) const {
  Happening noted = world_.happening(kind);
  noted.call = attempt.call;
  noted.proxy = attempt.proxy;
  noted.key = errand_.call.key;
  noted.payload = errand_.call.payload;
  noted.caller = errand_.call.caller;
  noted.route = errand_.call.route;
  return noted;
}

std::string Client::request(std::uint32_t call) const {
  // Two tenants say the same, and so do all routes: what makes them other calls is tenant and
  // route alone.
  const std::string key = std::to_string(errand_.call.key % World::kKeysOfARoute / 2);
  const std::string& route = world_.config.routes[errand_.call.route].name;
  std::string body = errand_.is_malformed ? "{\"item\":" : "{\"item\":\"k" + key + '"';
  if (!errand_.is_malformed) {
    // Where the whole request counts, what differs is another call.
    if (route != "note") body += ",\"amount\":" + std::to_string(errand_.call.payload);
    body += '}';
  }
  std::string text =
      "POST /" + route +
      " HTTP/1.1\r\nHost: semel.test\r\nContent-Type: application/json\r\n"
      "X-Tenant-Id: tenant-" +
      std::to_string(errand_.call.key % 2) + "\r\nX-Run-Id: run\r\nX-Caller: caller-" +
      std::to_string(errand_.call.caller) + "\r\nX-Call: " + std::to_string(call) + "\r\n";
  if (route == "pay") text += "Idempotency-Key: order-" + key + "\r\n";
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void Client::try_once() {
  ++tries_;
  auto attempt = std::make_shared<Attempt>();
  attempt->call = world_.number(errand_.call);
  if (kept_ != nullptr && !kept_->peer_ended && !kept_->broken) {
    attempt->end = std::exchange(kept_, nullptr);
    attempt->proxy = static_cast<std::uint16_t>(attempt->end->port - World::kFirstProxyPort + 1);
    attempt->end->on_news = [this, attempt] { on_news(attempt); };
    send(attempt);
  } else {
    const auto proxy = static_cast<std::uint16_t>(dice_.below(world_.plan.proxies));
    attempt->proxy = static_cast<std::uint16_t>(proxy + 1);
    attempt->end = world_.kernel.dial(static_cast<std::uint16_t>(World::kFirstProxyPort + proxy));
    attempt->end->on_news = [this, attempt] { on_news(attempt); };
  }
  const bool leaves = dice_.chance(world_.plan.impatient);
  const Time patience = leaves ? dice_.between(milliseconds(0), milliseconds(700))
                               : dice_.between(milliseconds(1'500), milliseconds(6'000));
  world_.timeline.after(patience, [this, attempt] { give_up(attempt); });
  // A second request of the same call before the first one is answered.
  if (tries_ < kTriesMax && dice_.chance(120)) {
    retry_in(dice_.between(milliseconds(0), milliseconds(300)));
  }
}

void Client::send(const std::shared_ptr<Attempt>& attempt) {
  attempt->sent_at = world_.timeline.now();
  note(happening(Kind::CallSent, *attempt));
  world_.kernel.network().send(attempt->end, request(attempt->call));
  attempt->proxy_end = attempt->end->peer.lock();
  attempt->whole_at = attempt->end->sent;
  world_.count_waiting(+1);
}

/// The simulation itself broke the connection, or the request never came to whoever was to answer.
bool Client::was_broken(const Attempt& attempt) const {
  if (attempt.proxy_end == nullptr) return true;
  const End& client = *attempt.end;
  const End& proxy = *attempt.proxy_end;
  const bool was_cut = client.sent > client.cut_at || proxy.sent > proxy.cut_at;
  // A client that takes nothing for long is cut off by right (ARCHITECTURE.md, "Deadlines").
  const bool was_stalled = proxy.sent > proxy.stall_at;
  const bool was_never_there = proxy.process == 0 || proxy.arrived < attempt.whole_at;
  // A server that stops closes the connections on which it has read nothing (RFC 9112, 9.6).
  const bool was_drained =
      !attempt.answer.has_begun() && world_.last_drain(attempt.proxy) >= client.opened;
  return was_cut || was_stalled || was_drained || was_never_there ||
         world_.last_kill() >= client.opened;
}

void Client::on_news(const std::shared_ptr<Attempt>& attempt) {
  if (attempt->is_over) return;
  const EndPtr& end = attempt->end;
  if (end->refused) {
    attempt->is_over = true;
    retry_in(dice_.between(milliseconds(5), milliseconds(400)));
    return;
  }
  if (attempt->sent_at < Time(0)) send(attempt);
  if (end->inbox.empty() && !end->peer_ended && !end->broken) return;
  auto state = attempt->answer.feed(world_.kernel.network().take(end));
  if (state == MessageReader::State::More && end->broken) state = MessageReader::State::Broken;
  if (state == MessageReader::State::More && end->peer_ended) state = attempt->answer.end();
  if (state != MessageReader::State::More) {
    answered(attempt, state == MessageReader::State::Whole);
  }
}

void Client::answered(const std::shared_ptr<Attempt>& attempt, bool is_whole) {
  attempt->is_over = true;
  world_.count_waiting(-1);
  const MessageReader& answer = attempt->answer;
  Happening noted = happening(Kind::CallAnswered, *attempt);
  noted.cut = !is_whole;
  if (answer.has_head()) {
    noted.status = answer.status();
    noted.word = word_of(answer.field("idempotency-status"), problem_of(answer));
    noted.retry = retry_of(answer.field("x-should-retry"));
    noted.attempt = world_.attempt_of_hex(answer.field("idempotency-ref"));
    if (is_whole) noted.digest = digest_of(answer.body());
  }
  noted.excused = was_broken(*attempt);
  note(noted);

  const bool keeps = is_whole && answer.field("connection") != "close" && dice_.chance(500);
  if (keeps && kept_ == nullptr) {
    kept_ = attempt->end;
    kept_->on_news = nullptr;
  } else {
    world_.kernel.network().close(attempt->end);
  }
  consider(is_whole ? noted.status : 0, noted.retry, number_in(answer.field("retry-after")));
}

void Client::give_up(const std::shared_ptr<Attempt>& attempt) {
  if (std::exchange(attempt->is_over, true)) return;
  if (attempt->sent_at >= Time(0)) {
    world_.count_waiting(-1);
    note(happening(Kind::CallGivenUp, *attempt));
  }
  world_.kernel.network().close(attempt->end);
  consider(0, Retry::Silent, 0);
}

/// As SDKs do: a veto counts, then the status. Those without discipline repeat what they like.
void Client::consider(std::uint16_t status, Retry retry, std::uint32_t retry_after) {
  const bool failed =
      status == 0 || status == 408 || status == 409 || status == 429 || status >= 500;
  const bool wants = retry == Retry::Yes || (retry == Retry::Silent && failed) ||
                     (!is_disciplined_ && status >= 400);
  if (!wants) {
    if (dice_.chance(kComesBack)) retry_in(dice_.between(milliseconds(0), seconds(4)));
    return;
  }
  const Time pause = dice_.between(milliseconds(3), milliseconds(300)) * (1 << tries_ / 2);
  const bool listens = retry_after > 0 && is_disciplined_;
  retry_in(listens ? std::max<Time>(pause, std::min(seconds(retry_after), seconds(2))) : pause);
}

void Client::retry_in(Time pause) {
  if (tries_ >= kTriesMax || world_.is_over()) return;
  world_.timeline.after(pause, [this] {
    if (tries_ < kTriesMax && !world_.is_over()) try_once();
  });
}

}  // namespace semel::sim
