#include "stores/redis_pipeline.h"

#include <array>
#include <utility>

#include "core/check.h"
#include "stores/redis_refusal.h"

namespace semel {
namespace {

constexpr std::array<std::string_view, 1> kAsking{"ASKING"};

}  // namespace

void RedisPipeline::abandon() {
  // Letting go of a coroutine destroys the call that it waits in.
  for (RedisCall* call : std::exchange(answered_, {})) call->waits.abandon();
  for (const Expected& expected : std::exchange(expected_, {})) {
    if (expected.call != nullptr) expected.call->waits.abandon();
  }
  for (RedisCall* call : std::exchange(unsent_, {})) call->waits.abandon();
}

const std::string& RedisPipeline::take() {
  out_.clear();
  if (is_held_back()) return out_;
  bool waits = false;
  while (!unsent_.empty()) {
    RedisCall& call = *unsent_.front();
    unsent_.pop_front();
    call.begins_at = taken_ + out_.size();
    if (call.asking) {
      append_command(out_, kAsking);
      expected_.push_back({Expected::Kind::Asking, nullptr});
    }
    append_command(out_, call.words);
    expected_.push_back({Expected::Kind::Call, &call});
    waits = waits || call.told == RedisCall::Told::Replicated;
  }
  if (waits && replication_.replicas > 0) {
    const std::string replicas = std::to_string(replication_.replicas);
    const std::string patience = std::to_string(replication_.patience.count());
    const std::array<std::string_view, 3> wait{"WAIT", replicas, patience};
    append_command(out_, wait);
    expected_.push_back({Expected::Kind::Wait, nullptr});
    ++flushes_under_way_;
  }
  taken_ += out_.size();
  return out_;
}

bool RedisPipeline::feed(std::string_view bytes) {
  reader_.feed(bytes);
  while (auto reply = reader_.next()) {
    if (expected_.empty()) return false;
    const Expected expected = expected_.front();
    expected_.pop_front();
    accept(expected, *std::move(reply));
  }
  return !reader_.is_broken();
}

void RedisPipeline::accept(const Expected& expected, RedisReply reply) {
  if (expected.kind == Expected::Kind::Asking)
    return;  // The call's own answer says what came of it.
  if (expected.kind == Expected::Kind::Wait) return tell_flush(reply);
  RedisCall& call = *expected.call;
  const bool reports =
      call.told == RedisCall::Told::Replicated && refusal_of(reply) == RedisRefusal::None;
  call.reply = std::move(reply);
  call.is_answered = true;
  ++answers_;
  if (reports && replication_.replicas > 0) {
    answered_.push_back(&call);
  } else {
    call.settle();
  }
}

void RedisPipeline::tell_flush(const RedisReply& acknowledged) {
  --flushes_under_way_;
  const bool enough = acknowledged.kind == RedisReply::Kind::Integer &&
                      acknowledged.integer >= replication_.replicas;
  for (RedisCall* call : std::exchange(answered_, {})) {
    if (!enough) call->reply = Fault::StoreTimeout;
    call->settle();
  }
}

void RedisPipeline::expire_unsent(RedisCall::Clock::time_point now) {
  std::vector<RedisCall*> over;
  std::erase_if(unsent_, [&](RedisCall* call) {
    if (call->until > now) return false;
    over.push_back(call);
    return true;
  });
  for (RedisCall* call : over) call->settle(Fault::StoreUnreachable);
}

void RedisPipeline::fail() {
  const auto answered = std::exchange(answered_, {});
  const auto expected = std::exchange(expected_, {});
  const auto unsent = std::exchange(unsent_, {});
  flushes_under_way_ = 0;
  for (RedisCall* call : answered) call->settle(Fault::StoreTimeout);
  for (const Expected& each : expected) {
    if (each.call == nullptr) continue;
    const bool may_have_left = each.call->begins_at < written_;
    each.call->settle(may_have_left ? Fault::StoreTimeout : Fault::StoreUnreachable);
  }
  for (RedisCall* call : unsent) call->settle(Fault::StoreUnreachable);
}

std::optional<RedisCall::Clock::time_point> RedisPipeline::first_end() const {
  auto first = first_end_under_way();
  for (const RedisCall* call : unsent_) {
    if (!first || call->until < *first) first = call->until;
  }
  return first;
}

std::optional<RedisCall::Clock::time_point> RedisPipeline::first_end_under_way() const {
  std::optional<RedisCall::Clock::time_point> first;
  const auto consider = [&first](const RedisCall* call) {
    if (call != nullptr && (!first || call->until < *first)) first = call->until;
  };
  for (const RedisCall* call : answered_) consider(call);
  for (const Expected& expected : expected_) consider(expected.call);
  return first;
}

}  // namespace semel
