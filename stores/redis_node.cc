// One server as one worker sees it: connect, greet, stay, lose, try again.
#include "stores/redis_node.h"

#include <algorithm>

#include "stores/redis_dial.h"
#include "stores/redis_door.h"
#include "stores/redis_grade.h"
#include "stores/redis_greeting.h"

namespace semel {

using Clock = RedisCall::Clock;

namespace {

/// Longer than this beyond its time, and an attempt stood still because nobody let this worker run.
constexpr std::chrono::milliseconds kStandstill{200};

}  // namespace

RedisNode::RedisNode(std::shared_ptr<LinkWatch> watch, std::shared_ptr<RedisSite> site,
                     std::optional<Peer> peer)
    : watch_(std::move(watch)),
      site_(std::move(site)),
      fixed_(std::move(peer)),
      sentinels_(watch_, site_) {
  peer_ = fixed_ ? *fixed_ : site_->topology.holder(0);
}

RedisNode::~RedisNode() { abandon_waiting(); }

void RedisNode::abandon_waiting() {
  impatient_.disarm();
  for (RedisCall* call : std::exchange(waiting_, {})) call->waits.abandon();
}

void RedisNode::submit(RedisCall& call, Clock::time_point now) {
  if (state_ == State::Closed) return call.settle(Fault::StoreUnreachable);
  if (state_ == State::Up && (has_moved() || wire_->is_gone(now))) renew();
  if (state_ == State::Up && wire_->is_open()) return wire_->submit(call);
  if (state_ == State::Down) {
    // Nobody may have let this worker run since the time came.
    if (now < retry_at_ && !is_reached_elsewhere()) return call.settle(fault_);
    state_ = State::Connecting;
    wake_up();
  }
  wait_in_line(call);
  if (is_living_) return;
  is_living_ = true;
  state_ = State::Connecting;
  spawn(watch_->executor(), live(shared_from_this()));
}

void RedisNode::renew() {
  if (state_ != State::Up) return;
  state_ = State::Connecting;
  wire_->end();
}

void RedisNode::close() {
  state_ = State::Closed;
  sentinels_.close();
  if (wire_ != nullptr) wire_->end();
  wake_up();
  fail_waiting(Fault::StoreUnreachable);
}

bool RedisNode::has_moved() {
  if (fixed_) return false;
  const std::uint64_t version = site_->topology.version();
  if (version == seen_version_) return false;
  seen_version_ = version;
  const Peer holder = site_->topology.holder(0);
  return holder.host != peer_.host || holder.port != peer_.port;
}

std::string RedisNode::known_as() const { return fixed_ ? name_of(*fixed_) : std::string(); }

bool RedisNode::is_reached_elsewhere() const {
  return site_->is_reached_since(known_as(), down_since_);
}

bool RedisNode::is_wanted() const {
  if (state_ == State::Closed) return false;
  return !fixed_ || !waiting_.empty() || !site_->topology.lanes_of(*fixed_).empty();
}

Task<> RedisNode::live(std::shared_ptr<RedisNode> self) {
  // Where the worker ends first, this coroutine is destroyed, and who waits for it with it.
  struct Leave {
    RedisNode& node;
    enum class How : std::uint8_t { Destroyed, Orderly } how = How::Destroyed;
    ~Leave() {
      if (how == How::Orderly) return;
      node.is_living_ = false;
      if (node.state_ != State::Closed) node.state_ = State::Idle;
      node.abandon_waiting();
    }
  };
  RedisNode& node = *self;
  Leave leave{node};
  while (node.is_wanted()) {
    if (const std::optional<Fault> fault = co_await node.connect()) {
      // The server may be well; whoever waits goes on waiting.
      const bool stood_still = node.state_ == State::Connecting && Clock::now() > node.retry_at_;
      if (stood_still) continue;
      node.go_down(*fault);
    } else {
      const std::uint64_t before = node.wire_->answers();
      node.open_up();
      co_await node.stay();
      // One that was of no use is no reason to try again at once.
      const bool was_useful = node.wire_->answers() > before;
      if (node.site_->remark().empty()) {
        node.site_->note_failure(name_of(node.peer_) + " ended the connection");
      }
      if (!was_useful) node.go_down(Fault::StoreUnreachable);
      if (node.state_ == State::Up) node.state_ = State::Connecting;
    }
    if (node.state_ == State::Down) co_await node.wait_to_try_again();
  }
  leave.how = Leave::How::Orderly;
  node.is_living_ = false;
  node.sentinels_.close();
  if (node.state_ != State::Closed) node.state_ = State::Idle;
  node.fail_waiting(Fault::StoreUnreachable);
}

Task<std::optional<Fault>> RedisNode::connect() {
  const Clock::time_point until = Clock::now() + site_->connect_patience();
  retry_at_ = until + kStandstill;
  if (!fixed_) {
    const RedisPrimary primary = co_await sentinels_.find(until);
    if (!primary.peer) {
      site_->note_failure(primary.failure);
      co_return Fault::StoreUnreachable;
    }
    seen_version_ = site_->topology.version();
    peer_ = *primary.peer;
  }
  RedisDialled dialled = co_await dial_redis(watch_, site_->tls, peer_, until);
  if (dialled.stream == nullptr) {
    site_->note_failure(dialled.failure);
    co_return Fault::StoreUnreachable;
  }
  if (state_ == State::Closed) co_return Fault::StoreUnreachable;
  start_wire(std::move(dialled.stream));
  const std::optional<Fault> fault = co_await greet(until);
  if (fault) co_await end_wire();
  co_return fault;
}

void RedisNode::start_wire(std::unique_ptr<Stream> stream) {
  const auto over = [weak = weak_from_this(), number = ++wires_] {
    const auto node = weak.lock();
    if (node == nullptr || node->wires_ != number) return;
    node->is_wire_over_ = true;
    node->wake_up();
  };
  is_wire_over_ = false;
  wire_ = std::make_shared<RedisWire>(watch_, site_->replication(), over);
  wire_->start(std::move(stream));
}

Task<std::optional<Fault>> RedisNode::greet(Clock::time_point until) {
  RedisGreeting greeting = co_await greet_redis(site_, wire_, peer_, until);
  if (fixed_) site_->topology.learn(greeting.slots);
  if (!greeting.refusal.empty()) {
    site_->note_failure(greeting.refusal + trouble_of_tls());
    co_return Fault::StoreUnreachable;
  }
  if (const auto fault = co_await admit(greeting.facts, until)) co_return fault;
  evicted_ = greeting.facts.evicted;
  site_->note_facts(greeting.facts);
  if (!wire_->is_open() || state_ == State::Closed) co_return Fault::StoreUnreachable;
  co_return std::nullopt;
}

std::string RedisNode::trouble_of_tls() const {
  if (site_->tls == nullptr || !wire_->ended_by_peer()) return "";
  std::string sentence = "; it ended the connection inside TLS";
  // With TLS 1.3 a server says what it misses of a client when that believes to be through.
  if (!wire_->ended_by_peer()->empty()) sentence += ": " + *wire_->ended_by_peer();
  if (site_->options.tls_certificate.empty()) {
    sentence += "; if it demands a certificate of its clients, write `tls: {certificate, key}`";
  }
  return sentence;
}

Task<std::optional<Fault>> RedisNode::admit(RedisFacts facts, Clock::time_point until) {
  if (!site_->hooks.admit) co_return std::nullopt;
  std::vector<std::size_t> lanes =
      fixed_ ? site_->topology.lanes_of(*fixed_) : std::vector<std::size_t>{0};
  const std::string name = facts.node;
  const std::string shortage = redis_shortage(facts, site_->options.wait_replicas);
  const auto door =
      std::make_shared<FreshRedisDoor>(wire_, std::move(facts), std::move(lanes), until);
  const Result<void> admitted = co_await site_->hooks.admit(door);
  if (admitted) co_return std::nullopt;
  std::string why = name + " was not let through: " + std::string(semel::name(admitted.error()));
  if (!shortage.empty()) why += "; " + shortage;
  site_->note_failure(std::move(why));
  co_return admitted.error();
}

Task<> RedisNode::stay() {
  while (!is_wire_over_) {
    co_await sleep_until(Clock::now() + site_->hooks.look_every);
    if (!is_wire_over_ && wire_->is_open()) co_await look_again();
  }
}

Task<> RedisNode::look_again() {
  const Clock::time_point until = Clock::now() + site_->options.deadline;
  RedisGreeting greeting = co_await ask_redis_facts(site_, wire_, peer_, until);
  if (fixed_) site_->topology.learn(greeting.slots);
  if (greeting.refusal.empty() && greeting.facts.evicted == evicted_) {
    site_->note_facts(greeting.facts);
  } else if (greeting.refusal.empty()) {
    // What is missing is written down where it is met again.
    site_->note_failure(greeting.facts.node + " drops keys to make room");
    renew();
  } else {
    // It was reconfigured, or it is somebody's replica now.
    site_->note_failure(greeting.refusal);
    renew();
  }
}

Task<> RedisNode::end_wire() {
  wire_->end();
  while (!is_wire_over_) co_await sleep_until(Clock::time_point::max());
}

Task<> RedisNode::wait_to_try_again() {
  const auto spread = static_cast<std::int64_t>(random_.number() % 512) - 256;
  retry_at_ = Clock::now() + backoff_ + backoff_ * spread / 1024;
  backoff_ = std::min(backoff_ * 2, kBackoffMax);
  co_await sleep_until(retry_at_);
}

Task<> RedisNode::sleep_until(Clock::time_point at) {
  struct Awake {
    RedisNode& node;
    ~Awake() { node.sleeping_ = nullptr; }
  };
  Timer timer(watch_->executor(), at);
  const Awake awake{*this};
  sleeping_ = &timer;
  co_await timer.async_wait(kNoThrow);
}

void RedisNode::wake_up() {
  if (sleeping_ != nullptr) sleeping_->cancel();
}

void RedisNode::open_up() {
  const Clock::time_point now = Clock::now();
  site_->note_reached(known_as());
  state_ = State::Up;
  backoff_ = kBackoffMin;
  impatient_.disarm();
  for (RedisCall* call : std::exchange(waiting_, {})) submit(*call, now);
}

void RedisNode::go_down(Fault fault) {
  if (state_ == State::Closed) return;
  state_ = State::Down;
  fault_ = fault;
  down_since_ = Clock::now();
  retry_at_ = Clock::time_point::max();
  if (fixed_) site_->topology.lose(*fixed_);
  fail_waiting(fault);
}

void RedisNode::wait_in_line(RedisCall& call) {
  waiting_.push_back(&call);
  const auto first = std::ranges::min(waiting_, {}, &RedisCall::until)->until;
  watch_->arm(impatient_, first);
}

void RedisNode::fail_waiting(Fault fault) {
  impatient_.disarm();
  for (RedisCall* call : std::exchange(waiting_, {})) call->settle(fault);
}

void RedisNode::on_impatient(void* self) {
  const auto node = static_cast<RedisNode*>(self)->shared_from_this();
  node->drop_impatient();
}

void RedisNode::drop_impatient() {
  const Clock::time_point now = Clock::now();
  std::vector<RedisCall*> over;
  std::erase_if(waiting_, [&](RedisCall* call) {
    if (call->until > now) return false;
    over.push_back(call);
    return true;
  });
  if (!waiting_.empty()) {
    watch_->arm(impatient_, std::ranges::min(waiting_, {}, &RedisCall::until)->until);
  }
  for (RedisCall* call : over) call->settle(Fault::StoreUnreachable);
}

}  // namespace semel
