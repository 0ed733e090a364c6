// Watches a call that is forwarded without a claim, and keeps true records of it. Started by
// proxy/exchange, which never waits for it.
#include "proxy/shadow.h"

#include <new>

#include "io/clock.h"
#include "proxy/claim_request.h"

namespace semel::proxy {
namespace {

/// How the call would have ended for its client, had the route been enforced.
Outcome would_be(const ClaimReply& reply) {
  if (std::holds_alternative<Held>(reply)) return Outcome::InFlight;
  if (std::holds_alternative<Indeterminate>(reply) || std::holds_alternative<Abandoned>(reply)) {
    return Outcome::Indeterminate;
  }
  const auto* completed = std::get_if<Completed>(&reply);
  return completed != nullptr && completed->response->kept == BodyKept::Kept ? Outcome::Replayed
                                                                             : Outcome::Refused;
}

}  // namespace

Shadow::Shadow(Worker& worker, std::shared_ptr<const Outfit> outfit, const Route& route,
               RouteMetrics& metrics)
    : worker_(worker),
      outfit_(std::move(outfit)),
      route_(route),
      metrics_(metrics),
      told_(worker.executor(), Worker::Timer::time_point::max()) {}

void Shadow::ask(const KeyInputs& inputs) {
  auto derived = derive_key(inputs);
  auto* key = std::get_if<DerivedKey>(&derived);
  if (key == nullptr) return;
  key_ = std::move(*key);
  earlier_ = earlier_of(inputs, route_);
  metrics_.key_sources[static_cast<std::size_t>(key_->source)].add();
  worker_.start(run(shared_from_this()));
}

void Shadow::overhear(const RequestBody::Piece& piece, KeyInputs inputs) {
  if (is_too_long_) return;
  try {
    copy(piece.data);
    if (!is_too_long_ && piece.end == RequestBody::End::Last) {
      inputs.body = request_body_;
      ask(inputs);
    }
  } catch (const std::bad_alloc&) {
    is_too_long_ = true;  // What cannot be watched passes all the same.
  }
  if (is_too_long_ || piece.end == RequestBody::End::Last) request_body_ = std::string();
}

void Shadow::copy(std::string_view data) {
  request_body_.append(data);
  if (request_body_.size() > Buffer::kBlock && !request_share_.is_granted()) {
    request_share_ = worker_.site.buffered.take(route_.request_body_bytes_max);
  }
  const bool has_room = request_body_.size() <= Buffer::kBlock || request_share_.is_granted();
  is_too_long_ = !has_room || request_body_.size() > route_.request_body_bytes_max;
}

void Shadow::hear(std::string_view piece) {
  draft_.keep(piece, route_.record, worker_.site.buffered);
}

void Shadow::answered(const UpstreamCall& call, std::string_view last_piece) {
  hear(last_piece);
  answer_ = stored_form(call, route_, draft_);
  const Event meaning = verdict(answer_->status, route_);
  if (meaning == Event::AnsweredFailure) reason_ = IndeterminateReason::UpstreamStatus;
  tell(meaning);
}

void Shadow::ended_without(const UpstreamCall& call) {
  if (news_) return;
  // A call that was given up because its client left is cut as well, as far as anybody can know.
  if (call.failure() != CallFailure::None) reason_ = unknown_because(call.failure());
  tell(call.may_have_sent() ? Event::Unanswered : Event::NeverSent);
}

void Shadow::give_up() noexcept {
  if (!news_) tell(Event::Unanswered);
}

void Shadow::tell(Event news) {
  news_ = news;
  if (!key_) metrics_.shadow_unkeyed.add();
  told_.cancel();
}

Task<> Shadow::run(std::shared_ptr<Shadow> self) {
  if (!co_await self->claim()) co_return;
  if (!self->news_) co_await self->told_.async_wait(kNoThrow);
  if (self->news_) co_await self->settle();
}

/// @return true: the key is this call's, and its end is to be written down.
Task<bool> Shadow::claim() {
  const ClaimToken token = worker_.random.token();
  ClaimRequest request = claim_request_of(*key_, route_, token, worker_.random.reference());
  request.disowned = worker_.site.disowned.on(key_->key);
  request.earlier = std::move(earlier_);
  const auto lease_ends = boot_time() + route_.lease();
  settlement_.emplace(worker_, Attempt{key_->key, token, Fence{}}, lease_ends);
  const ClaimRequest again = request;
  auto reply = co_await worker_.site.store->claim(std::move(request));
  const auto* abandoned = reply ? std::get_if<Abandoned>(&*reply) : nullptr;
  if (abandoned != nullptr && abandoned->policy == Policy::Idempotent) {
    const Attempt before{key_->key, abandoned->token, abandoned->fence};
    reply = co_await worker_.site.store->supersede(again, before);
  }
  if (!reply) {
    worker_.metrics.store_errors[static_cast<std::size_t>(StoreOperation::Claim)].add();
    if (reply.error() == Fault::StoreTimeout)
      settlement_->disown(GiveBack::UntilLeaseEnds);  // It was sent.
    co_return false;
  }
  if (const auto* granted = std::get_if<Granted>(&*reply)) {
    settlement_.emplace(worker_, Attempt{key_->key, token, granted->fence}, lease_ends);
    co_return true;
  }
  metrics_.shadow_duplicates[static_cast<std::size_t>(would_be(*reply))].add();
  co_return false;
}

/// The same rows that an enforced call obeys, from the end of its forward on; nobody is answered.
Task<> Shadow::settle() {
  Stage stage = Stage::Forwarding;
  Event event = *news_;
  for (;;) {
    const std::optional<Step> step = next(route_.policy, stage, event);
    SEMEL_CHECK(step.has_value());
    stage = step->stage;
    switch (step->act) {
      case Act::Backoff:
        event = Event::RetriesSpent;
        break;
      case Act::Record:
        event = co_await settlement_->record(answer_);
        break;
      case Act::RecordBare:
        event = co_await settlement_->record_bare(bare_form(*answer_));
        break;
      case Act::Release:
        event = co_await settlement_->release(GiveBack::UntilLeaseEnds);
        break;
      case Act::Mark:
        event = co_await settlement_->mark(
            reason_, answer_ != nullptr ? std::optional(answer_->status) : std::nullopt);
        break;
      default:
        co_return;
    }
  }
}

}  // namespace semel::proxy
