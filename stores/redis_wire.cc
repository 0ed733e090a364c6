// The dull driver of a pipeline: writes what it gives, feeds what comes, looks at the clock.
#include "stores/redis_wire.h"

#include <array>

#include "io/spawn.h"

namespace semel {
namespace {

constexpr std::size_t kRoomBytes = 16 * 1024;

}  // namespace

RedisWire::RedisWire(std::shared_ptr<LinkWatch> watch, RedisPipeline::Replication replication,
                     std::function<void()> ended)
    : watch_(std::move(watch)), ended_(std::move(ended)), pipeline_(replication) {}

void RedisWire::start(std::unique_ptr<Stream> stream) {
  state_ = State::Open;
  stream_ = stream.get();
  is_writing_ = true;
  spawn(watch_->executor(), live(shared_from_this(), std::move(stream)));
  spawn(watch_->executor(), keep_writing(shared_from_this()));
}

bool RedisWire::is_gone(RedisCall::Clock::time_point now) {
  if (!is_open() || !pipeline_.is_idle() || now - asked_at_ < kFresh) return false;
  return stream_->connection().peer_is_gone();
}

void RedisWire::submit(RedisCall& call) {
  if (!is_open()) return call.settle(Fault::StoreUnreachable);
  if (pipeline_.is_idle()) asked_at_ = RedisCall::Clock::now();
  pipeline_.add(call);
  watch_from(call.until);
  more_.resume_later(watch_->executor());
}

Task<Result<RedisReply>> RedisWire::ask(std::vector<std::string> words,
                                        RedisCall::Clock::time_point until) {
  RedisCall call;
  call.words.assign(words.begin(), words.end());
  call.until = until;
  submit(call);
  co_await call.settled();
  co_return std::move(call.reply);
}

void RedisWire::end() {
  if (!is_open()) return;
  state_ = State::Ending;
  // Closed and not only cancelled: what is begun from now on ends too. Whatever is still to come is
  // nobody's answer.
  stream_->connection().reset();
  more_.resume_later(watch_->executor());
}

Task<> RedisWire::live(std::shared_ptr<RedisWire> self,
                       [[maybe_unused]] std::unique_ptr<Stream> stream) {
  // Where the worker ends first, this coroutine is destroyed; what waits for it goes with it.
  struct Leave {
    RedisWire& wire;
    enum class How : std::uint8_t { Destroyed, Orderly } how = How::Destroyed;
    ~Leave() {
      wire.stream_ = nullptr;
      wire.state_ = State::Ended;
      if (how == How::Orderly) return;
      wire.more_.abandon();
      wire.pipeline_.abandon();
    }
  };
  {
    Leave leave{*self};
    co_await self->read_answers();
    self->end();
    if (self->is_writing_) co_await self->written_.wait();
    leave.how = Leave::How::Orderly;
  }
  self->overdue_.disarm();
  self->pipeline_.fail();
  if (self->ended_) std::exchange(self->ended_, nullptr)();
}

void RedisWire::note_end() {
  if (is_open()) ended_by_peer_ = stream_->failure();
}

Task<> RedisWire::read_answers() {
  std::string room(kRoomBytes, '\0');
  while (is_open()) {
    const ReadReply got = co_await stream_->read_some(room);
    if (got.end != IoEnd::Done) {
      note_end();
      break;
    }
    if (!pipeline_.feed(std::string_view(room).substr(0, got.bytes))) break;
    // An answer may have made room for a flush that was held back.
    if (pipeline_.has_more()) more_.resume_later(watch_->executor());
  }
}

Task<> RedisWire::keep_writing(std::shared_ptr<RedisWire> self) {
  struct Leave {
    RedisWire& wire;
    ~Leave() { wire.written_.abandon(); }
  };
  RedisWire& wire = *self;
  const Leave leave{wire};
  while (wire.is_open()) {
    if (!wire.pipeline_.has_more()) {
      co_await wire.more_.wait();
      continue;
    }
    const std::array<asio::const_buffer, 1> bytes{asio::buffer(wire.pipeline_.take())};
    const SendReply sent = co_await wire.stream_->write_all(bytes);
    wire.pipeline_.wrote(sent.bytes);
    if (sent.end == IoEnd::Done) continue;
    wire.note_end();
    wire.end();
  }
  wire.is_writing_ = false;
  wire.written_.resume();
}

void RedisWire::watch_from(RedisCall::Clock::time_point until) {
  if (overdue_.is_armed() && overdue_at_ <= until) return;
  overdue_at_ = until;
  watch_->arm(overdue_, until);
}

void RedisWire::on_overdue(void* self) {
  // A caller that goes on here may let go of the wire.
  const auto wire = static_cast<RedisWire*>(self)->shared_from_this();
  wire->look_at_the_clock();
}

void RedisWire::look_at_the_clock() {
  const auto now = RedisCall::Clock::now();
  if (const auto first = pipeline_.first_end_under_way(); first && *first <= now) return end();
  pipeline_.expire_unsent(now);
  if (const auto next = pipeline_.first_end()) watch_from(*next);
}

}  // namespace semel
