#include "stores/redis_worker_link.h"

#include "stores/redis_door.h"
#include "stores/redis_sentinels.h"
#include "stores/redis_url.h"

namespace semel {

using Clock = RedisCall::Clock;

namespace {

/// Redirections that one call follows: a map that contradicts itself is not followed for ever.
constexpr int kHopsMax = 8;
/// Before a slot that is on its way is asked for again.
constexpr std::chrono::milliseconds kSlotPause{20};
constexpr std::chrono::seconds kFollowEvery{1};

}  // namespace

struct RedisLink::Route {
  std::size_t lane;
  RedisNode* node;
  ScriptForm form = ScriptForm::Digest;
  bool asking = false;
  int hops = 0;
};

RedisLink::RedisLink(Executor executor, std::shared_ptr<RedisSite> site)
    : watch_(std::make_shared<LinkWatch>(std::move(executor))), site_(std::move(site)) {}

RedisNode& RedisLink::node(const Peer& peer) {
  auto& node = nodes_[name_of(peer)];
  if (node == nullptr) node = std::make_shared<RedisNode>(watch_, site_, peer);
  return *node;
}

RedisNode& RedisLink::holder(std::size_t lane) {
  if (site_->topology.kind() != RedisTopology::Kind::Cluster) {
    auto& node = nodes_[""];
    if (node == nullptr) node = std::make_shared<RedisNode>(watch_, site_, std::nullopt);
    return *node;
  }
  const std::uint64_t version = site_->topology.version();
  if (version != holders_version_) {
    holders_.assign(site_->topology.lanes(), nullptr);
    holders_version_ = version;
  }
  RedisNode*& holder = holders_.at(lane);
  if (holder == nullptr) holder = &node(site_->topology.holder(lane));
  return *holder;
}

Task<Result<RedisReply>> RedisLink::run(Clock::time_point until, const RedisScript& script,
                                        std::size_t lane, std::vector<std::string> keys,
                                        std::vector<std::string> args, StoreTime not_after) {
  const std::weak_ptr<RedisLink> weak = weak_from_this();
  const std::shared_ptr<RedisSite> site = site_;
  const std::string count = std::to_string(keys.size());
  Route route{lane, &holder(lane)};
  for (;;) {
    RedisCall call;
    call.words = script_words(script, route.form, count, keys, args);
    call.until = until;
    call.told = RedisCall::Told::Replicated;
    call.asking = route.asking;
    route.node->submit(call, Clock::now());
    co_await call.settled();
    if (!call.reply) {
      const bool is_under_way = call.reply.error() == Fault::StoreTimeout && !call.is_answered;
      if (is_under_way && not_after > StoreTime{0}) site->ghosts.note(lane, not_after);
      co_return call.reply;
    }
    const RedisRefusal refusal = refusal_of(*call.reply);
    if (refusal == RedisRefusal::None) {
      site->note_answer();
      co_return std::move(call.reply);
    }
    // Whoever answered holds the link.
    const Next next = follow(refusal, *call.reply, route);
    if (next == Next::Done || Clock::now() >= until) co_return fault_of(refusal);
    if (next == Next::AskAgain) continue;
    Timer pause(watch_->executor(), kSlotPause);
    co_await pause.async_wait(kNoThrow);
    const std::shared_ptr<RedisLink> self = weak.lock();
    if (self == nullptr) co_return Fault::StoreUnreachable;
    route.node = &holder(lane);
  }
}

RedisLink::Next RedisLink::follow(RedisRefusal refusal, const RedisReply& reply, Route& route) {
  route.asking = false;
  const bool is_cluster = site_->topology.kind() == RedisTopology::Kind::Cluster;
  switch (refusal) {
    case RedisRefusal::None:
      return Next::Done;
    case RedisRefusal::UnknownText: {
      const bool is_known = route.form == ScriptForm::Text;
      route.form = ScriptForm::Text;
      return is_known ? Next::Done : Next::AskAgain;
    }
    case RedisRefusal::Moved:
    case RedisRefusal::Asked: {
      const auto peer = redirect_of(reply, route.node->peer());
      if (!is_cluster || !peer || ++route.hops > kHopsMax) return Next::Done;
      if (refusal == RedisRefusal::Moved) site_->topology.move(route.lane, *peer);
      route.asking = refusal == RedisRefusal::Asked;
      route.node = &node(*peer);
      return Next::AskAgain;
    }
    case RedisRefusal::TryAgain:
      return is_cluster ? Next::WaitAndAskAgain : Next::Done;
    case RedisRefusal::Demoted:
      route.node->renew();
      return Next::Done;
    case RedisRefusal::Full:
      return Next::Done;
    case RedisRefusal::Unable:
    case RedisRefusal::Forbidden:
      site_->note_refusal(name_of(route.node->peer()) + " says: " + reply.text);
      return Next::Done;
  }
  return Next::Done;
}

void RedisLink::follow_sentinels() {
  if (site_->topology.kind() != RedisTopology::Kind::Sentinel) return;
  spawn(watch_->executor(), keep_following(shared_from_this()));
}

Task<> RedisLink::keep_following(std::shared_ptr<RedisLink> self) {
  struct Gone {
    RedisLink& link;
    ~Gone() { link.following_ = nullptr; }
  };
  RedisSentinels sentinels(self->watch_, self->site_);
  Timer timer(self->executor());
  const Gone gone{*self};
  self->following_ = &timer;
  while (!self->site_->is_closed()) {
    timer.expires_after(kFollowEvery);
    co_await timer.async_wait(kNoThrow);
    if (self->site_->is_closed()) break;
    // The topology is told; who does not know the primary leaves everything as it is.
    static_cast<void>(co_await sentinels.find(Clock::now() + kFollowEvery));
  }
  sentinels.close();
}

void RedisLink::close() {
  if (following_ != nullptr) following_->cancel();
  for (const auto& [name, node] : nodes_) node->close();
}

}  // namespace semel
