#include "stores/redis_topology.h"

#include <algorithm>

namespace semel {
namespace {

constexpr std::uint16_t kSlots = 16'384;

bool same(const Peer& one, const Peer& other) {
  return one.port == other.port && one.host == other.host;
}

std::uint16_t crc16(std::string_view bytes) {
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(byte) << 8));
    for (int bit = 0; bit < 8; ++bit) {
      const bool carries = (crc & 0x8000U) != 0;
      crc = static_cast<std::uint16_t>((crc << 1) ^ (carries ? 0x1021U : 0U));
    }
  }
  return crc;
}

/// Of every lane the first number whose slot lies in that lane's part, so that nodes that share the
/// slots evenly share the lanes evenly. Part of every key: these may never change.
std::vector<std::string> cluster_tags() {
  std::vector<std::string> tags(RedisTopology::kClusterLanes);
  std::size_t missing = tags.size();
  for (unsigned number = 0; missing > 0; ++number) {
    const std::string tag = "{semel:" + std::to_string(number) + '}';
    std::string& lane = tags[redis_slot_of(tag) / (kSlots / tags.size())];
    if (!lane.empty()) continue;
    lane = tag;
    --missing;
  }
  return tags;
}

std::optional<Peer> read_node(const RedisReply& node, const Peer& asked) {
  if (node.items.size() < 2) return std::nullopt;
  Peer peer;
  peer.host = node.items[0].text;
  if (peer.host.empty() || peer.host == "?") peer.host = asked.host;
  const std::int64_t port = node.items[1].integer;
  if (port < 1 || port > 65'535) return std::nullopt;
  peer.port = static_cast<std::uint16_t>(port);
  return peer;
}

}  // namespace

std::uint16_t redis_slot_of(std::string_view key) {
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return crc16(key) % kSlots;
}

std::vector<RedisSlots> read_redis_slots(const RedisReply& reply, const Peer& asked) {
  std::vector<RedisSlots> all;
  for (const RedisReply& row : reply.items) {
    if (row.items.size() < 3) continue;
    const std::int64_t first = row.items[0].integer;
    const std::int64_t last = row.items[1].integer;
    const auto primary = read_node(row.items[2], asked);
    if (!primary || first < 0 || last < first || last >= kSlots) continue;
    RedisSlots slots{
        static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last), *primary, {}};
    for (std::size_t i = 3; i < row.items.size(); ++i) {
      if (auto replica = read_node(row.items[i], asked)) slots.replicas.push_back(*replica);
    }
    all.push_back(std::move(slots));
  }
  return all;
}

RedisTopology::RedisTopology(Kind kind, Peer seed)
    : kind_(kind),
      tags_(kind == Kind::Cluster ? cluster_tags() : std::vector<std::string>{"{semel}"}),
      holders_(tags_.size(), seed),
      nodes_{seed} {}

Peer RedisTopology::holder(std::size_t lane) const {
  const std::lock_guard lock(mutex_);
  return holders_.at(lane);
}

std::vector<std::size_t> RedisTopology::lanes_of(const Peer& peer) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> lanes;
  for (std::size_t lane = 0; lane < holders_.size(); ++lane) {
    if (same(holders_[lane], peer)) lanes.push_back(lane);
  }
  return lanes;
}

void RedisTopology::place(std::size_t lane, const Peer& peer) {
  if (same(holders_.at(lane), peer)) return;
  holders_[lane] = peer;
  version_.fetch_add(1, std::memory_order_release);
}

void RedisTopology::move(std::size_t lane, const Peer& peer) {
  const std::lock_guard lock(mutex_);
  const bool is_known = std::ranges::any_of(nodes_, [&](auto& node) { return same(node, peer); });
  if (!is_known) nodes_.push_back(peer);
  place(lane, peer);
}

void RedisTopology::learn(const std::vector<RedisSlots>& slots) {
  if (slots.empty()) return;
  const std::lock_guard lock(mutex_);
  nodes_.clear();
  for (const RedisSlots& part : slots) {
    nodes_.push_back(part.primary);
    nodes_.insert(nodes_.end(), part.replicas.begin(), part.replicas.end());
  }
  for (std::size_t lane = 0; lane < tags_.size(); ++lane) {
    const std::uint16_t slot = redis_slot_of(tags_[lane]);
    for (const RedisSlots& part : slots) {
      if (part.first <= slot && slot <= part.last) place(lane, part.primary);
    }
  }
}

void RedisTopology::lose(const Peer& peer) {
  if (kind_ != Kind::Cluster) return;
  const std::lock_guard lock(mutex_);
  std::vector<Peer> others;
  for (const Peer& node : nodes_) {
    if (!same(node, peer)) others.push_back(node);
  }
  if (others.empty()) return;
  const Peer& other = others[next_++ % others.size()];
  for (std::size_t lane = 0; lane < holders_.size(); ++lane) {
    if (same(holders_[lane], peer)) place(lane, other);
  }
}

}  // namespace semel
