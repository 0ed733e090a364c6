#include "stores/redis_listener.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stores/redis_dial.h"
#include "stores/redis_greeting.h"
#include "stores/redis_refusal.h"

namespace semel {
namespace {

using Clock = Deadlines::Clock;

/// Sleeps where somebody can end it.
Task<> rest(Executor executor, Timer*& place, Clock::duration span) {
  struct Awake {
    Timer*& place;
    ~Awake() { place = nullptr; }
  };
  Timer timer(executor, span);
  const Awake awake{place};
  place = &timer;
  co_await timer.async_wait(kNoThrow);
}

}  // namespace

RedisListener::RedisListener(const Executor& executor, std::shared_ptr<RedisSite> site,
                             std::vector<std::string> channels, OnMessage on_message,
                             std::function<void()> on_gap)
    : watch_(std::make_shared<LinkWatch>(executor)),
      site_(std::move(site)),
      channels_(std::move(channels)),
      on_message_(std::move(on_message)),
      on_gap_(std::move(on_gap)),
      sentinels_(watch_, site_) {}

void RedisListener::start() { spawn(watch_->executor(), live(shared_from_this())); }

void RedisListener::close() {
  is_closed_ = true;
  hang_up();
  if (resting_ != nullptr) resting_->cancel();
}

Task<> RedisListener::live(std::shared_ptr<RedisListener> self) {
  while (!self->is_closed_) {
    co_await self->listen_once();
    if (self->is_listening_) self->on_gap_();
    self->is_listening_ = false;
    if (!self->is_closed_) co_await rest(self->executor(), self->resting_, kRetry);
  }
  self->sentinels_.close();
}

Task<> RedisListener::listen_once() {
  struct HungUp {
    RedisListener& listener;
    ~HungUp() { listener.stream_ = nullptr; }
  };
  const Clock::time_point until = Clock::now() + site_->connect_patience();
  const RedisPrimary primary = co_await sentinels_.find(until);
  if (!primary.peer) co_return;
  peer_ = *primary.peer;
  RedisDialled dialled = co_await dial_redis(watch_, site_->tls, peer_, until);
  if (dialled.stream == nullptr) {
    site_->topology.lose(peer_);
    co_return;
  }
  if (is_closed_) co_return;
  const HungUp hung_up{*this};
  stream_ = dialled.stream.get();
  std::vector<std::vector<std::string>> commands;
  const auto login = redis_login(site_->url);
  is_login_answered_ = login.empty();
  if (!is_login_answered_) commands.push_back(login);
  std::vector<std::string> subscribe{"SUBSCRIBE"};
  subscribe.insert(subscribe.end(), channels_.begin(), channels_.end());
  commands.push_back(std::move(subscribe));
  if (!co_await say(std::move(commands))) co_return;
  has_heard_ = true;
  is_looked_after_ = true;
  spawn(watch_->executor(), look_after(shared_from_this()));
  co_await hear();
  hang_up();
  if (is_looked_after_) co_await looked_after_.wait();
}

Task<bool> RedisListener::say(std::vector<std::vector<std::string>> commands) {
  std::string text;
  for (const auto& command : commands) {
    const std::vector<std::string_view> words(command.begin(), command.end());
    append_command(text, words);
  }
  const std::array<asio::const_buffer, 1> bytes{asio::buffer(text)};
  const SendReply sent = co_await stream_->write_all(bytes);
  co_return sent.end == IoEnd::Done;
}

Task<> RedisListener::hear() {
  RedisReader reader;
  std::string room(4 * 1024, '\0');
  for (;;) {
    const ReadReply got = co_await stream_->read_some(room);
    if (got.end != IoEnd::Done) co_return;
    has_heard_ = true;
    reader.feed(std::string_view(room).substr(0, got.bytes));
    while (const auto reply = reader.next()) {
      if (!take(*reply) || is_closed_) co_return;
    }
    if (reader.is_broken()) co_return;
  }
}

bool RedisListener::take(const RedisReply& reply) {
  const bool answers_login = !std::exchange(is_login_answered_, true);
  if (reply.is_error()) {
    site_->note_failure(name_of(peer_) + " lets nobody listen: " +
                        (answers_login ? login_refusal(reply) : reply.text));
    return false;
  }
  if (reply.items.size() != 3) return true;  // OK to AUTH, or the answer to a PING.
  const std::string& what = reply.items[0].text;
  if (what == "subscribe" && !is_listening_) {
    is_listening_ = true;
    on_gap_();
  }
  if (what == "message") on_message_(reply.items[1].text, reply.items[2].text);
  return true;
}

Task<> RedisListener::look_after(std::shared_ptr<RedisListener> self) {
  // Where the worker ends first, this coroutine is destroyed, and who waits for it with it.
  struct Leave {
    RedisListener& listener;
    ~Leave() { listener.looked_after_.abandon(); }
  };
  RedisListener& listener = *self;
  const Leave leave{listener};
  const std::chrono::milliseconds silence = listener.site_->hooks.silence;
  Clock::time_point ask_at = Clock::now() + silence;
  while (listener.stream_ != nullptr && !listener.is_closed_) {
    co_await rest(listener.executor(), listener.looking_, std::min(kLook, silence));
    if (listener.stream_ == nullptr || listener.is_closed_) break;
    if (listener.is_elsewhere()) break;
    if (Clock::now() < ask_at) continue;
    if (!listener.has_heard_) break;
    listener.has_heard_ = false;
    ask_at = Clock::now() + silence;
    std::vector<std::vector<std::string>> ping{{"PING"}};
    if (!co_await listener.say(std::move(ping))) break;
  }
  listener.is_looked_after_ = false;
  listener.hang_up();
  listener.looked_after_.resume();
}

bool RedisListener::is_elsewhere() const {
  if (site_->topology.kind() != RedisTopology::Kind::Sentinel) return false;
  const Peer holder = site_->topology.holder(0);
  return holder.host != peer_.host || holder.port != peer_.port;
}

void RedisListener::hang_up() {
  if (stream_ != nullptr) stream_->connection().reset();
  if (looking_ != nullptr) looking_->cancel();
}

}  // namespace semel
