#include "stores/redis_greeting.h"

#include <deque>

#include "stores/redis_refusal.h"

namespace semel {
namespace {

using Words = std::vector<std::string>;

/// One command of the greeting and what its refusal means.
struct Step {
  enum class Duty : std::uint8_t {
    Needed,
    Login,  ///< Needed, and its words are secret.
    Wished,
  };
  Words words;
  Duty duty = Duty::Needed;
  std::string failure;  ///< Unless Wished: what an operator reads, before the server's own words.
};

const Words kInfo{"INFO"};
const Words kFsync{"CONFIG", "GET", "appendfsync"};
const Words kSlots{"CLUSTER", "SLOTS"};

std::vector<Step> first_words(const RedisSite& site) {
  std::vector<Step> steps;
  const Words login = redis_login(site.url);
  if (!login.empty()) steps.push_back({login, Step::Duty::Login, "does not let us in"});
  steps.push_back({{"CLIENT", "SETNAME", "semel"}, Step::Duty::Wished, ""});
  if (site.url.database != 0) {
    steps.push_back({{"SELECT", std::to_string(site.url.database)},
                     Step::Duty::Needed,
                     "has no such database"});
  }
  for (const RedisScript* script : site.hooks.scripts) {
    steps.push_back({{"SCRIPT", "LOAD", std::string(script->text())},
                     Step::Duty::Needed,
                     "does not take our scripts"});
  }
  return steps;
}

std::vector<Step> questions(const RedisSite& site) {
  std::vector<Step> steps{{kInfo, Step::Duty::Needed, "does not say what it is"},
                          {kFsync, Step::Duty::Wished, ""}};
  if (site.options.cluster) {
    steps.push_back({kSlots, Step::Duty::Needed, "does not say who holds which slots"});
  }
  return steps;
}

/// All in one write. @return Their replies, in order; a failure of the connection ends the list.
Task<std::vector<RedisReply>> ask_all(std::shared_ptr<RedisWire> wire, std::vector<Step> steps,
                                      RedisCall::Clock::time_point until) {
  std::deque<RedisCall> calls(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    calls[i].words.assign(steps[i].words.begin(), steps[i].words.end());
    calls[i].until = until;
    wire->submit(calls[i]);
  }
  std::vector<RedisReply> replies;
  bool is_whole = true;
  for (RedisCall& call : calls) {
    co_await call.settled();
    is_whole = is_whole && call.reply.has_value();
    if (is_whole) replies.push_back(*std::move(call.reply));
  }
  co_return replies;
}

/// @return Why the greeting failed; empty: it did not.
std::string first_failure(const std::vector<Step>& steps, const std::vector<RedisReply>& replies) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i >= replies.size()) return "does not answer";
    if (steps[i].duty == Step::Duty::Wished || !replies[i].is_error()) continue;
    // A long command it refuses in other words, before it has read it.
    if (replies[i].text.starts_with("NOAUTH") ||
        replies[i].text.find("unauthenticated") != std::string::npos) {
      return "asks for a password: write it into the URL, `redis://:PASSWORD@...`";
    }
    const bool is_secret = steps[i].duty == Step::Duty::Login;
    return steps[i].failure + ": " + (is_secret ? login_refusal(replies[i]) : replies[i].text);
  }
  return "";
}

/// @return Why it is not to be used; empty: it is.
std::string objection(const RedisFacts& facts, const RedisOptions& options) {
  if (facts.role == RedisFacts::Role::Replica) return "is a replica and no primary";
  if (facts.role == RedisFacts::Role::Sentinel) return "is a sentinel and no primary";
  if (facts.role != RedisFacts::Role::Primary) return "does not say that it is a primary";
  if (facts.is_cluster && !options.cluster) return "is a node of a cluster; say `cluster: true`";
  if (!facts.is_cluster && options.cluster) return "is no node of a cluster";
  if (facts.eviction != "noeviction") {
    return "may evict claims (maxmemory-policy is " +
           (facts.eviction.empty() ? "unknown" : facts.eviction) +
           "); set `maxmemory-policy noeviction`";
  }
  return "";
}

RedisGreeting judge(const RedisSite& site, const Peer& peer, const RedisReply& info,
                    const RedisReply& fsync, const RedisReply* slots) {
  RedisGreeting greeting;
  greeting.facts = read_redis_facts(info.text);
  greeting.facts.node = name_of(peer);
  if (fsync.items.size() == 2) greeting.facts.fsync = fsync.items[1].text;
  if (slots != nullptr) greeting.slots = read_redis_slots(*slots, peer);
  const std::string refused = objection(greeting.facts, site.options);
  if (!refused.empty()) greeting.refusal = name_of(peer) + ' ' + refused;
  return greeting;
}

Task<RedisGreeting> carry_out(std::shared_ptr<RedisSite> site, std::shared_ptr<RedisWire> wire,
                              Peer peer, std::vector<Step> steps,
                              RedisCall::Clock::time_point until) {
  const std::size_t before = steps.size();
  for (Step& step : questions(*site)) steps.push_back(std::move(step));
  const std::vector<RedisReply> replies = co_await ask_all(std::move(wire), steps, until);
  RedisGreeting greeting;
  const std::string failure = first_failure(steps, replies);
  if (!failure.empty()) {
    greeting.refusal = name_of(peer) + ' ' + failure;
    co_return greeting;
  }
  const RedisReply* slots = site->options.cluster ? &replies[before + 2] : nullptr;
  co_return judge(*site, peer, replies[before], replies[before + 1], slots);
}

}  // namespace

std::vector<std::string> redis_login(const RedisUrl& url) {
  if (url.password.empty()) return {};
  if (url.user.empty()) return {"AUTH", url.password};
  return {"AUTH", url.user, url.password};
}

Task<RedisGreeting> greet_redis(std::shared_ptr<RedisSite> site, std::shared_ptr<RedisWire> wire,
                                Peer peer, RedisCall::Clock::time_point until) {
  auto steps = first_words(*site);
  RedisGreeting greeting = co_await carry_out(site, std::move(wire), peer, std::move(steps), until);
  if (greeting.refusal.empty() && !greeting.facts.version.starts_with("7.0.")) {
    site->warn("redis: " + greeting.facts.node + " is version " + greeting.facts.version +
               "; Semel is tested with 7.0");
  }
  co_return greeting;
}

Task<RedisGreeting> ask_redis_facts(std::shared_ptr<RedisSite> site,
                                    std::shared_ptr<RedisWire> wire, Peer peer,
                                    RedisCall::Clock::time_point until) {
  std::vector<Step> none;
  co_return co_await carry_out(std::move(site), std::move(wire), std::move(peer), std::move(none),
                               until);
}

}  // namespace semel
