// The front of the links to Redis: finds the worker's own one. What a call goes through from there:
// redis_worker_link (which node), redis_node (is it up), redis_wire (bytes), redis_pipeline (whose
// answer).
#include "stores/redis_link.h"

#include <boost/asio/this_coro.hpp>

#include "stores/redis_listener.h"
#include "stores/redis_site.h"
#include "stores/redis_worker_link.h"

namespace semel {

RedisLinks::RedisLinks(const RedisOptions& options, RedisHooks hooks)
    : site_(std::make_shared<RedisSite>(options, std::move(hooks))) {}

RedisLinks::~RedisLinks() { close(); }

std::shared_ptr<RedisLink> RedisLinks::link_of(const Executor& executor) {
  const auto make = [this](const Executor& of, std::size_t index) {
    auto link = std::make_shared<RedisLink>(of, site_);
    // One of them asks for all.
    if (index == 0) link->follow_sentinels();
    return link;
  };
  return links_.of(executor, make);
}

Task<Result<RedisReply>> RedisLinks::run(const RedisScript& script, std::size_t lane,
                                         std::vector<std::string> keys,
                                         std::vector<std::string> args, StoreTime not_after) {
  const auto until = std::chrono::steady_clock::now() + site_->options.deadline;
  return run_until(until, script, lane, std::move(keys), std::move(args), not_after);
}

Task<Result<RedisReply>> RedisLinks::run_until(std::chrono::steady_clock::time_point until,
                                               const RedisScript& script, std::size_t lane,
                                               std::vector<std::string> keys,
                                               std::vector<std::string> args, StoreTime not_after) {
  const Executor executor = co_await asio::this_coro::executor;
  if (site_->is_closed() || std::chrono::steady_clock::now() >= until) {
    co_return Fault::StoreUnreachable;
  }
  RedisLink& link = *link_of(executor);
  co_return co_await link.run(until, script, lane, std::move(keys), std::move(args), not_after);
}

std::size_t RedisLinks::lanes() const { return site_->topology.lanes(); }
std::string RedisLinks::tag(std::size_t lane) const { return site_->topology.tag(lane); }
StoreTime RedisLinks::ghosts_until(std::size_t lane) const { return site_->ghosts.until(lane); }
std::vector<RedisFacts> RedisLinks::facts() const { return site_->facts(); }
std::string RedisLinks::remark() const { return site_->remark(); }

void RedisLinks::subscribe(Executor executor, std::vector<std::string> channels,
                           std::function<void(std::string_view, std::string_view)> on_message,
                           std::function<void()> on_gap) {
  auto listener = std::make_shared<RedisListener>(executor, site_, std::move(channels),
                                                  std::move(on_message), std::move(on_gap));
  {
    const std::lock_guard lock(mutex_);
    if (site_->is_closed()) return;
    listeners_.push_back(listener);
  }
  asio::post(executor, [listener] { listener->start(); });
}

void RedisLinks::close() {
  const std::lock_guard lock(mutex_);
  if (site_->is_closed()) return;
  site_->close();
  for (const auto& link : links_.all()) {
    asio::post(link->executor(), [link] { link->close(); });
  }
  for (const auto& listener : listeners_) {
    asio::post(listener->executor(), [listener] { listener->close(); });
  }
}

}  // namespace semel
