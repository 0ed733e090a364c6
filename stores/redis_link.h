#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "io/task.h"
#include "stores/link_set.h"
#include "stores/open.h"
#include "stores/record.h"
#include "stores/redis_epoch.h"
#include "stores/redis_facts.h"
#include "stores/redis_reply.h"
#include "stores/redis_script.h"

namespace semel {

class RedisLink;
class RedisListener;
class RedisSite;

/// A fresh connection to one server, before any call is let through on it.
/// @thread The worker whose connection it is.
class RedisDoor {
 public:
  virtual ~RedisDoor() = default;
  [[nodiscard]] virtual const RedisFacts& facts() const = 0;
  /// The lanes whose keys this server holds.
  [[nodiscard]] virtual std::vector<std::size_t> lanes() const = 0;
  /// As RedisLinks::run, on this connection, within what is left of its deadline.
  [[nodiscard]] virtual Task<Result<RedisReply>> run(const RedisScript& script, std::size_t lane,
                                                     std::vector<std::string> keys,
                                                     std::vector<std::string> args) = 0;
};

/// What a store has to say about its connections. They may be called, and their coroutines may go
/// on, as long as a worker's context runs, also after close(): they hold what they need.
struct RedisHooks {
  /// Asked on each fresh connection. A fault: it is closed, calls get that fault, and it is tried
  /// again. Empty: every connection is let through.
  std::function<Task<Result<void>>(std::shared_ptr<RedisDoor>)> admit;
  /// Something that an operator should read; each sentence is said once. From any worker.
  std::function<void(std::string sentence)> warn;
  /// Known to each server before the first call, so that no first call is in vain.
  std::vector<const RedisScript*> scripts;
  /// How often a server is asked again what it is. One that may evict by now, or is no primary any
  /// more, is left.
  std::chrono::milliseconds look_every{1'000};
  /// A subscription on which nothing is heard for so long asks whether the server is still there,
  /// and takes it for gone after as long again.
  std::chrono::milliseconds silence{5'000};
  /// What is known of the sentinels' fail-overs. Null: nothing yet, and it is the links' own.
  std::shared_ptr<SentinelEpoch> epoch;
};

/// The links of one store to its servers: for each worker that calls one pipelined connection, in a
/// cluster one to each node, made when it calls first. What is asked in one turn of a worker leaves
/// in one write.
///
/// @thread Any worker may call; each coroutine resumes on the executor it was called from.
/// @owns   Every io_context that calls has to live until close() has returned.
class RedisLinks {
 public:
  /// @throws StoreError if the options contradict each other or name no server.
  RedisLinks(const RedisOptions& options, RedisHooks hooks);
  ~RedisLinks();
  RedisLinks(const RedisLinks&) = delete;
  RedisLinks& operator=(const RedisLinks&) = delete;

  /// Runs the script where the keys of `lane` are, whether the server knows it already or not.
  ///
  /// @param keys       All that it touches, each with tag(lane) in its name.
  /// @param not_after  A server's time later than which the script takes nothing; zero: it is no
  ///                   claim. Counts for ghosts_until().
  /// @return Once `wait_replicas` replicas have what the reply reports. An Error whose code is not
  ///         known here is handed on: the script's own word, or its failure half-way.
  /// @faults StoreUnreachable: it was not carried out. StoreTimeout: it MAY have been, or fewer
  ///         replicas have it. StoreFull: the server is out of memory, nothing was changed.
  [[nodiscard]] Task<Result<RedisReply>> run(const RedisScript& script, std::size_t lane,
                                             std::vector<std::string> keys,
                                             std::vector<std::string> args,
                                             StoreTime not_after = StoreTime{0});
  /// The same for one of several questions that have one deadline together.
  /// @param until  No answer is waited for longer.
  [[nodiscard]] Task<Result<RedisReply>> run_until(std::chrono::steady_clock::time_point until,
                                                   const RedisScript& script, std::size_t lane,
                                                   std::vector<std::string> keys,
                                                   std::vector<std::string> args,
                                                   StoreTime not_after);

  /// 1, or in a cluster 16: parts of the store whose keys live together.
  [[nodiscard]] std::size_t lanes() const;
  /// What every key of the lane contains: `{semel}`, or `{semel:17}`.
  [[nodiscard]] std::string tag(std::size_t lane) const;

  /// A claim that was under way on a connection that broke may still be carried out up to this
  /// time of the server's: until then no release is the last word. Zero: there is none.
  [[nodiscard]] StoreTime ghosts_until(std::size_t lane) const;

  /// What each server that holds a lane said last, by its name.
  [[nodiscard]] std::vector<RedisFacts> facts() const;
  /// Why the last connection failed or the last call was refused; empty while none was since one
  /// went well.
  [[nodiscard]] std::string remark() const;

  /// Hears what is published in the channels, on one connection of this executor's, made again
  /// where it is lost.
  /// @param on_message  The channel and what was said.
  /// @param on_gap      Messages may have been missed: the connection was lost, or is back.
  void subscribe(Executor executor, std::vector<std::string> channels,
                 std::function<void(std::string_view, std::string_view)> on_message,
                 std::function<void()> on_gap);

  /// Calls under way end with a fault. From any thread, also while no context runs.
  void close();

 private:
  [[nodiscard]] std::shared_ptr<RedisLink> link_of(const Executor& executor);

  const std::shared_ptr<RedisSite> site_;
  LinkSet<RedisLink> links_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<RedisListener>> listeners_;
};

}  // namespace semel
