#include "stores/redis_site.h"

#include <algorithm>

namespace semel {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{700};

RedisTopology::Kind kind_of(const RedisOptions& options) {
  if (options.cluster && options.sentinel_master) {
    throw StoreError("redis: `cluster` and `sentinel` exclude each other");
  }
  if (options.sentinel_master && options.sentinels.empty()) {
    throw StoreError("redis: `sentinel` names no sentinel to ask");
  }
  if (options.cluster) return RedisTopology::Kind::Cluster;
  if (options.sentinel_master) return RedisTopology::Kind::Sentinel;
  return RedisTopology::Kind::Single;
}

std::shared_ptr<const TlsTerms> tls_of(const RedisOptions& options, const RedisUrl& url) {
  if (url.wire == RedisUrl::Wire::Plain) return nullptr;
  TlsTerms::Client client;
  client.ca_file = options.tls_ca;
  client.certificate_file = options.tls_certificate;
  client.key_file = options.tls_key;
  try {
    return std::make_shared<const TlsTerms>(client);
  } catch (const TlsError& error) {
    throw StoreError(std::string("redis: ") + error.what());
  }
}

std::vector<Peer> peers_of(const std::vector<std::string>& names) {
  std::vector<Peer> peers;
  for (const std::string& name : names) peers.push_back(parse_redis_peer(name, 26'379));
  return peers;
}

}  // namespace

RedisSite::RedisSite(RedisOptions given, RedisHooks said)
    : options(std::move(given)),
      url(parse_redis_url(options.url)),
      hooks(std::move(said)),
      tls(tls_of(options, url)),
      sentinels(peers_of(options.sentinels)),
      epoch(hooks.epoch ? hooks.epoch : std::make_shared<SentinelEpoch>()),
      topology(kind_of(options), url.peer),
      ghosts(topology.lanes()) {
  if (options.cluster && url.database != 0) {
    throw StoreError("redis: a cluster has database 0 alone; leave it out of the url");
  }
}

RedisPipeline::Replication RedisSite::replication() const {
  // Two flushes may wait one behind the other, and both within the deadline of their calls.
  return {options.wait_replicas, options.deadline * 2 / 5};
}

std::chrono::milliseconds RedisSite::connect_patience() const {
  return std::min(kConnectPatience, options.deadline);
}

void RedisSite::note_facts(const RedisFacts& facts) {
  const std::lock_guard lock(mutex_);
  facts_[facts.node] = facts;
  remark_.clear();
}

std::vector<RedisFacts> RedisSite::facts() const {
  const std::lock_guard lock(mutex_);
  std::vector<RedisFacts> all;
  std::set<std::string> holders;
  for (std::size_t lane = 0; lane < topology.lanes(); ++lane) {
    holders.insert(name_of(topology.holder(lane)));
  }
  // One that holds nothing any more may be anything by now.
  for (const auto& [name, facts] : facts_) {
    if (holders.contains(name)) all.push_back(facts);
  }
  return all;
}

void RedisSite::note_refusal(std::string sentence) {
  note_failure(std::move(sentence));
  is_refused_.store(true);
}

void RedisSite::note_answer() {
  if (!is_refused_.load(std::memory_order_relaxed) || !is_refused_.exchange(false)) return;
  const std::lock_guard lock(mutex_);
  remark_.clear();
}

void RedisSite::note_failure(std::string sentence) {
  const std::lock_guard lock(mutex_);
  remark_ = std::move(sentence);
}

std::string RedisSite::remark() const {
  const std::lock_guard lock(mutex_);
  return remark_;
}

void RedisSite::warn(const std::string& sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.insert(sentence).second) return;
  }
  if (hooks.warn) hooks.warn(sentence);
}

void RedisSite::note_reached(const std::string& node) {
  const std::lock_guard lock(mutex_);
  reached_[node] = Clock::now();
}

bool RedisSite::is_reached_since(const std::string& node, Clock::time_point since) const {
  const std::lock_guard lock(mutex_);
  const auto found = reached_.find(node);
  return found != reached_.end() && found->second > since;
}

}  // namespace semel
