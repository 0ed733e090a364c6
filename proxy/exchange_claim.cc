// The acts of an exchange that concern its key: derive it, look who else is on it, ask the store
// for it.
#include <algorithm>

#include "io/clock.h"
#include "proxy/claim_request.h"
#include "proxy/exchange.h"
#include "proxy/fail_point.h"

namespace semel::proxy {
namespace {

/// How often a holder outside this process is looked after, at the least: also where no store says
/// that it has ended, and where this process is.
constexpr std::chrono::milliseconds kLongestPoll{250};

}  // namespace

KeyInputs Exchange::key_inputs() const {
  KeyInputs inputs;
  inputs.method = asked_.head->method;
  inputs.path = asked_.path;
  inputs.match = asked_.match;
  inputs.query = asked_.head->query;
  inputs.headers = asked_.head->fields.all();
  inputs.body = asked_.body;
  return inputs;
}

Event Exchange::derive() {
  const KeyInputs inputs = key_inputs();
  auto derived = derive_key(inputs);
  if (auto* refusal = std::get_if<KeyRefusal>(&derived)) {
    refusal_ = refusal->type;
    refusal_detail_ = std::move(refusal->detail);
    return Event::KeyRefused;
  }
  key_ = std::move(std::get<DerivedKey>(derived));
  has_key_ = true;
  metrics_.key_sources[static_cast<std::size_t>(key_.source)].add();
  earlier_ = earlier_of(inputs, route());
  return Event::KeyReady;
}

Event Exchange::join_flight() {
  const auto follow =
      route().on_duplicate == OnDuplicate::Wait ? Flights::Follow::Wait : Flights::Follow::Reject;
  auto joined = worker_.site.flights.join(key_.key, key_.bindings, asked_.policy, follow,
                                          Clock::now() + route().dispatch_by + route().timeout);
  if (auto* lead = std::get_if<Flights::Lead>(&joined)) {
    lead_ = std::move(*lead);
    return Event::Led;
  }
  if (auto* seat = std::get_if<Flights::Seat>(&joined)) {
    worker_.metrics.collisions.add();
    seat_ = std::move(*seat);
    return Event::Joined;
  }
  const auto& refusal = std::get<Flights::Refusal>(joined);
  sight(refusal.sight);
  switch (refusal.why) {
    case Flights::Refused::Duplicate:
      worker_.metrics.collisions.add();
      return Event::DuplicateRejected;
    case Flights::Refused::TooMany:
      return Event::TooManyFollowers;
    case Flights::Refused::CallerDiffers:
      return Event::CallerDiffers;
    case Flights::Refused::PayloadDiffers:
      return Event::PayloadDiffers;
  }
  return Event::TooManyFollowers;
}

void Exchange::sight(const Flights::Sight& seen) {
  reference_ = seen.reference;
  holder_left_ = std::chrono::duration_cast<std::chrono::milliseconds>(seen.ends - Clock::now());
}

Task<Event> Exchange::follow() {
  const auto from = Clock::now();
  auto landed =
      co_await worker_.site.flights.follow(worker_.executor(), seat_, began_ + route().wait);
  worker_.metrics.wait_duration.observe(Clock::now() - from);
  if (!landed) {
    sight(worker_.site.flights.sight(seat_));
    co_return Event::WaitOver;
  }
  seat_ = nullptr;
  landing_ = std::move(*landed);
  co_return landing_->holds_for(asked_.policy) ? Event::FlightLanded : Event::FlightFreed;
}

ClaimRequest Exchange::claim_request() const {
  ClaimRequest request = claim_request_of(key_, route(), token_, own_reference_);
  request.disowned = worker_.site.disowned.on(key_.key);
  request.earlier = earlier_;
  return request;
}

Task<Event> Exchange::claim() {
  const auto& limit = asked_.outfit->limits().new_keys_per_tenant;
  const auto began = Clock::now();
  return limit ? claim_within(*limit, began) : ask_for_claim(began);
}

/// A new key is counted before it is taken. One that stands already costs its tenant nothing, and a
/// tenant that has used up its quota is still told of it.
Task<Event> Exchange::claim_within(std::size_t new_keys_max, Clock::time_point began) {
  KeyQuota& quota = worker_.site.quota;
  const bool counted = quota.take(key_.tenant, new_keys_max, Clock::now());
  if (!counted) {
    const auto found = co_await worker_.site.store->find(key_.key);
    if (found.has_error()) {
      worker_.metrics.store_errors[static_cast<std::size_t>(StoreOperation::Claim)].add();
      co_return Event::StoreFailed;  // Nothing was asked for.
    }
    if (!*found) co_return Event::QuotaSpent;
  }
  const Event event = co_await ask_for_claim(began);
  if (counted && event != Event::Granted) quota.give_back(key_.tenant, Clock::now());
  co_return event;
}

Task<Event> Exchange::ask_for_claim(Clock::time_point began) {
  const auto asked = Clock::now();
  if (asked_.outfit->is_changed(route())) co_return Event::RouteChanged;
  if (!asked_.outfit->knows_of_changes(asked)) {
    co_return store_failed(Fault::StoreUnreachable, StoreOperation::Routes);
  }
  if (claim_asked_.count() == 0) {
    token_ = worker_.random.token();
    own_reference_ = worker_.random.reference();
  }
  claim_asked_ = boot_time();
  ClaimRequest request = claim_request();
  request.asked = began;
  settlement_.emplace(worker_, Attempt{key_.key, token_, Fence{}}, claim_asked_ + route().lease());
  fail_point(FailPoint::BeforeClaim);
  auto result = co_await worker_.site.store->claim(std::move(request));
  worker_.metrics.store_duration[static_cast<std::size_t>(StoreOperation::Claim)].observe(
      Clock::now() - asked);
  if (result.has_error()) co_return store_failed(result.error(), StoreOperation::Claim);
  co_return take_reply(std::move(*result));
}

Task<Event> Exchange::supersede() {
  ClaimRequest request = claim_request();
  const Attempt abandoned = abandoned_;
  auto result = co_await worker_.site.store->supersede(std::move(request), abandoned);
  if (result.has_error()) co_return store_failed(result.error(), StoreOperation::Supersede);
  co_return take_reply(std::move(*result));
}

Task<Event> Exchange::mark_abandoned() {
  const Attempt abandoned = abandoned_;
  const auto result = co_await worker_.site.store->mark_indeterminate(
      abandoned, IndeterminateReason::OwnerLost, std::nullopt);
  if (result.has_error()) {
    worker_.metrics.store_errors[static_cast<std::size_t>(StoreOperation::Mark)].add();
    co_return Event::StoreFailed;  // Nothing of ours was asked for.
  }
  if (*result == WriteReply::Stale) co_return Event::RetryReady;
  worker_.metrics.indeterminate[static_cast<std::size_t>(IndeterminateReason::OwnerLost)].add();
  co_return Event::Unknown;
}

Event Exchange::store_failed(Fault fault, StoreOperation operation) {
  worker_.metrics.store_errors[static_cast<std::size_t>(operation)].add();
  // Down is down; a claim that may have been taken, or a record that cannot be read, is neither
  // down nor permission.
  const bool down =
      fault != Fault::StoreTimeout && fault != Fault::RecordCorrupt && fault != Fault::StoreSuspect;
  if (down && route().on_store_down == OnStoreDown::Forward &&
      asked_.policy == Policy::Idempotent) {
    bypassing_ = true;
    return Event::StoreBypassed;
  }
  if (fault == Fault::StoreSuspect) store_refusal_ = ProblemType::StoreSuspect;
  refusal_detail_ = fault == Fault::RecordCorrupt
                        ? "The record of this key cannot be read; the call was not forwarded."
                        : std::string();
  return fault == Fault::StoreTimeout ? Event::ClaimUnknown : Event::StoreFailed;
}

Event Exchange::take_reply(ClaimReply reply) {
  if (const auto* granted = std::get_if<Granted>(&reply)) {
    fence_ = granted->fence;
    if (granted->expired_before) worker_.metrics.expired_reruns.add();
    reference_ = hex_of(own_reference_);
    lead_.announce(*reference_);
    settlement_.emplace(worker_, Attempt{key_.key, token_, fence_}, claim_asked_ + route().lease());
    fail_point(FailPoint::AfterClaim);
    return Event::Granted;
  }
  if (const auto* held = std::get_if<Held>(&reply)) {
    worker_.metrics.collisions.add();
    reference_ = hex_of(held->reference);
    holder_left_ = held->lease_left - route().settle - route().lease_margin;
    return Event::Held;
  }
  if (auto* completed = std::get_if<Completed>(&reply)) {
    reference_ = hex_of(completed->reference);
    stored_ = std::move(completed->response);
    return stored_->kept == BodyKept::Kept ? Event::Completed : Event::CompletedBare;
  }
  if (const auto* unknown = std::get_if<Indeterminate>(&reply)) {
    reference_ = hex_of(unknown->reference);
    unknown_status_ = unknown->upstream_status;
    return Event::Unknown;
  }
  if (const auto* abandoned = std::get_if<Abandoned>(&reply)) {
    reference_ = hex_of(abandoned->reference);
    abandoned_ = Attempt{key_.key, abandoned->token, abandoned->fence};
    // The stricter of the record's own policy and today's governs: an EFFECTFUL claim is not
    // superseded by a route that has become IDEMPOTENT.
    return abandoned->policy == Policy::Effectful ? Event::OwnerLost : Event::Abandoned;
  }
  if (std::holds_alternative<CallerDiffers>(reply)) {
    reference_.reset();
    return Event::CallerDiffers;
  }
  reference_ = hex_of(std::get<PayloadDiffers>(reply).reference);
  return Event::PayloadDiffers;
}

Task<Event> Exchange::await_holder() {
  const auto until = began_ + route().wait;
  const auto now = Clock::now();
  if (route().on_duplicate == OnDuplicate::Reject || now >= until) co_return Event::WaitOver;
  const auto look_again = std::min<Clock::time_point>(now + until_next_look(poll_), until);
  poll_ = std::min(poll_ * 2, kLongestPoll);
  co_await worker_.site.store->await_change(key_.key, look_again);
  worker_.metrics.wait_duration.observe(Clock::now() - now);
  co_return Clock::now() >= until || worker_.is_ending() ? Event::WaitOver : Event::RetryReady;
}

}  // namespace semel::proxy
