#pragma once

#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/redis_link.h"
#include "tests/stores/running_worker.h"
#include "tests/support/deadline.h"

namespace semel::testing {

inline const RedisScript kAppend{
    "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('LLEN', KEYS[1])"};
inline const RedisScript kEcho{"return ARGV[1]"};
inline const RedisScript kCount{"return redis.call('LLEN', KEYS[1])"};

/// One store's links, called from one worker that runs all the time.
class Links {
 public:
  explicit Links(RedisOptions options, RedisHooks hooks = {})
      : links(std::in_place, options, std::move(hooks)) {}
  ~Links() {
    links->close();
    worker.stop();
    links.reset();
  }
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  std::future<Result<RedisReply>> start(const RedisScript& script, std::size_t lane,
                                        std::vector<std::string> keys,
                                        std::vector<std::string> args,
                                        StoreTime not_after = StoreTime{0}) {
    return worker.start(links->run(script, lane, std::move(keys), std::move(args), not_after));
  }
  Result<RedisReply> run(const RedisScript& script, std::vector<std::string> keys,
                         std::vector<std::string> args) {
    return RunningWorker::wait_for(start(script, 0, std::move(keys), std::move(args)));
  }
  Result<RedisReply> append() { return run(kAppend, {list()}, {"x"}); }
  Result<RedisReply> echo(const std::string& word) { return run(kEcho, {list()}, {word}); }
  bool answers() {
    const auto reply = echo("?");
    return reply && reply->text == "?";
  }
  /// A call that ends with a fault, and not because nobody has tried yet.
  Fault fault() {
    const auto reply = echo("?");
    if (reply) throw std::runtime_error("it answers");
    return reply.error();
  }
  std::string list(std::size_t lane = 0) const { return links->tag(lane) + ":list"; }

  RunningWorker worker;
  std::optional<RedisLinks> links;
};

inline RedisOptions redis_options(const std::string& url) {
  RedisOptions options;
  options.url = url;
  return options;
}

}  // namespace semel::testing
