#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stores/redis_link.h"
#include "stores/redis_site.h"
#include "stores/redis_wire.h"

namespace semel {

/// The connection that was just greeted, as the store's hook sees it.
class FreshRedisDoor final : public RedisDoor {
 public:
  FreshRedisDoor(std::shared_ptr<RedisWire> wire, RedisFacts facts, std::vector<std::size_t> lanes,
                 RedisCall::Clock::time_point until)
      : wire_(std::move(wire)), facts_(std::move(facts)), lanes_(std::move(lanes)), until_(until) {}

  [[nodiscard]] const RedisFacts& facts() const override { return facts_; }
  [[nodiscard]] std::vector<std::size_t> lanes() const override { return lanes_; }
  [[nodiscard]] Task<Result<RedisReply>> run(const RedisScript& script, std::size_t lane,
                                             std::vector<std::string> keys,
                                             std::vector<std::string> args) override;

 private:
  const std::shared_ptr<RedisWire> wire_;
  const RedisFacts facts_;
  const std::vector<std::size_t> lanes_;
  const RedisCall::Clock::time_point until_;
};

/// How a script is asked for.
enum class ScriptForm : std::uint8_t {
  Digest,  ///< EVALSHA: a server that has it.
  Text,    ///< EVAL: one that said NOSCRIPT.
};
/// The words of a call that runs the script.
/// @owns Views into all that is passed, `count` too: the number of keys in decimal.
[[nodiscard]] std::vector<std::string_view> script_words(const RedisScript& script, ScriptForm form,
                                                         std::string_view count,
                                                         const std::vector<std::string>& keys,
                                                         const std::vector<std::string>& args);

}  // namespace semel
