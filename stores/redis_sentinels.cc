#include "stores/redis_sentinels.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>

#include "stores/redis_dial.h"
#include "stores/redis_url.h"

namespace semel {
namespace {

using Clock = Deadlines::Clock;

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<Peer> peer_of(const std::string& host, std::string_view port) {
  const std::uint64_t number = number_of(port);
  if (host.empty() || number < 1 || number > 65'535) return std::nullopt;
  Peer peer;
  peer.host = host;
  peer.port = static_cast<std::uint16_t>(number);
  return peer;
}

/// Of a flat list of names and values.
std::string field(const RedisReply& pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2) {
    if (pairs.items[i].text == name) return pairs.items[i + 1].text;
  }
  return {};
}

}  // namespace

std::optional<SentinelWord> read_sentinel_word(const RedisReply& address,
                                               const RedisReply& master) {
  if (address.items.size() != 2) return std::nullopt;
  const auto peer = peer_of(address.items[0].text, address.items[1].text);
  if (!peer) return std::nullopt;
  SentinelWord word;
  word.peer = *peer;
  word.epoch = number_of(field(master, "config-epoch"));
  // Both name the same server, but while this very sentinel is handing over from one to the other.
  const std::string configured = field(master, "port");
  word.is_ahead = !configured.empty() && (field(master, "ip") != address.items[0].text ||
                                          configured != address.items[1].text);
  return word;
}

bool is_later(const SentinelWord& word, const SentinelWord& other) {
  return std::tuple(word.epoch, word.is_ahead) > std::tuple(other.epoch, other.is_ahead);
}

RedisSentinels::RedisSentinels(std::shared_ptr<LinkWatch> watch, std::shared_ptr<RedisSite> site)
    : watch_(std::move(watch)), site_(std::move(site)) {
  for (const Peer& peer : site_->sentinels) sentinels_.push_back({peer, nullptr});
}

void RedisSentinels::close() {
  for (Sentinel& sentinel : sentinels_) {
    if (sentinel.wire != nullptr) sentinel.wire->end();
  }
}

Task<RedisPrimary> RedisSentinels::find(Clock::time_point until) {
  RedisPrimary primary;
  if (site_->topology.kind() != RedisTopology::Kind::Sentinel) {
    primary.peer = site_->topology.holder(0);
    co_return primary;
  }
  std::optional<SentinelWord> latest;
  for (std::size_t which = 0; which < sentinels_.size(); ++which) {
    const auto soon = std::min(until, Clock::now() + kPatience);
    const auto word = co_await ask(which, soon);
    if (word && (!latest || is_later(*word, *latest))) latest = word;
  }
  if (latest) co_return follow(*latest);
  primary.failure = "no sentinel names a primary '" + *site_->options.sentinel_master + "'";
  co_return primary;
}

RedisPrimary RedisSentinels::follow(const SentinelWord& word) {
  RedisPrimary primary;
  const auto go = [&] { site_->topology.move(0, word.peer); };
  if (site_->epoch->follow(word.epoch, go)) {
    primary.peer = word.peer;
    return primary;
  }
  primary.failure = "the sentinels that answer name " + name_of(word.peer) + " as the primary '" +
                    *site_->options.sentinel_master + "' of configuration epoch " +
                    std::to_string(word.epoch) + ", and epoch " +
                    std::to_string(site_->epoch->latest()) +
                    " is known: an older fail-over is not followed back; if the sentinels were "
                    "made anew and count from nothing, `semel store acknowledge CONFIG`";
  return primary;
}

Task<std::optional<SentinelWord>> RedisSentinels::ask(std::size_t which, Clock::time_point until) {
  Sentinel& sentinel = sentinels_[which];
  if (sentinel.wire == nullptr || !sentinel.wire->is_open() || sentinel.wire->is_gone(until)) {
    if (sentinel.wire != nullptr) sentinel.wire->end();
    RedisDialled dialled = co_await dial_redis(watch_, site_->tls, sentinel.peer, until);
    if (dialled.stream == nullptr) co_return std::nullopt;
    const RedisPipeline::Replication none{0, std::chrono::milliseconds(0)};
    sentinel.wire = std::make_shared<RedisWire>(watch_, none, nullptr);
    sentinel.wire->start(std::move(dialled.stream));
  }
  const auto wire = sentinel.wire;
  const std::string name = *site_->options.sentinel_master;
  std::vector<std::string> whom{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name};
  std::vector<std::string> what{"SENTINEL", "MASTER", name};
  const Result<RedisReply> address = co_await wire->ask(std::move(whom), until);
  const Result<RedisReply> master = co_await wire->ask(std::move(what), until);
  if (!address || !master) co_return std::nullopt;
  co_return read_sentinel_word(*address, *master);
}

}  // namespace semel
