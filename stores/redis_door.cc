#include "stores/redis_door.h"

#include "stores/redis_refusal.h"

namespace semel {

std::vector<std::string_view> script_words(const RedisScript& script, ScriptForm form,
                                           std::string_view count,
                                           const std::vector<std::string>& keys,
                                           const std::vector<std::string>& args) {
  std::vector<std::string_view> words;
  words.reserve(3 + keys.size() + args.size());
  const bool by_digest = form == ScriptForm::Digest;
  words.emplace_back(by_digest ? "EVALSHA" : "EVAL");
  words.emplace_back(by_digest ? std::string_view(script.sha1()) : script.text());
  words.push_back(count);
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), args.begin(), args.end());
  return words;
}

Task<Result<RedisReply>> FreshRedisDoor::run(const RedisScript& script, std::size_t lane,
                                             std::vector<std::string> keys,
                                             std::vector<std::string> args) {
  static_cast<void>(lane);  // All keys are on this connection's server.
  const std::string count = std::to_string(keys.size());
  for (const ScriptForm form : {ScriptForm::Digest, ScriptForm::Text}) {
    RedisCall call;
    call.words = script_words(script, form, count, keys, args);
    call.until = until_;
    call.told = RedisCall::Told::Replicated;
    wire_->submit(call);
    co_await call.settled();
    if (!call.reply) co_return call.reply;
    const RedisRefusal refusal = refusal_of(*call.reply);
    if (refusal == RedisRefusal::None) co_return std::move(call.reply);
    if (refusal != RedisRefusal::UnknownText) co_return fault_of(refusal);
  }
  co_return Fault::StoreUnreachable;
}

}  // namespace semel
