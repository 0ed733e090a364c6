// The driver: one dull loop over the dispatch table, and the acts that concern key, store and
// client. It decides nothing that the table could decide. Called by proxy/session.
#include "proxy/exchange.h"

#include <algorithm>
#include <cstdio>

#include "core/header_rules.h"

namespace semel::proxy {
namespace {

/// A suspect store waits for an operator: come back, but not soon.
constexpr int kSuspectRetrySeconds = 5;

constexpr char kNoSlot[] =
    "Every connection that the proxy may have to the tool is in use, so nothing was sent to it: "
    "repeat the call as soon as Retry-After says; if that does not help, an operator can raise "
    "`connections` of the upstream.";

constexpr char kRouteChanged[] =
    "Another replica of the proxy has changed this route, and this one still has the earlier "
    "configuration, or the store of both was made anew: nothing was sent. Repeat the call as soon "
    "as Retry-After says; an operator has to give all replicas one configuration, and to reload "
    "it.";

/// What took no waiting, in the form of what did.
Task<Event> ready(Event event) { co_return event; }

/// Time to the leader's timeout, as spec 8 bounds it.
int retry_after(std::chrono::nanoseconds left) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  return static_cast<int>(std::clamp<long>(seconds, 1, 30));
}

}  // namespace

Exchange::Exchange(Worker& worker, Asked asked, Reply& reply)
    : worker_(worker),
      asked_(asked),
      reply_(reply),
      metrics_(asked.outfit->counters(asked.match->route)),
      policy_(asked.policy) {
  for (const HeaderField& field : asked_.head->fields.all()) {
    if (!same_name(field.name, "traceparent") || !is_trace_parent(field.value)) continue;
    std::copy(field.value.begin(), field.value.end(), trace_parent_.digits.begin());
    return;
  }
  std::array<std::uint8_t, 24> ids{};
  worker_.random.fill(ids.data(), ids.size());
  ids[0] |= 1;  // Neither id may be all zero.
  ids[16] |= 1;
  constexpr std::string_view kFrame = "00-00000000000000000000000000000000-0000000000000000-01";
  std::copy(kFrame.begin(), kFrame.end(), trace_parent_.digits.begin());
  write_hex(ids.data(), 16, trace_parent_.digits.data() + 3);
  write_hex(ids.data() + 16, 8, trace_parent_.digits.data() + 36);
}

Task<> Exchange::run() {
  std::exception_ptr broken;
  try {
    Stage stage = Stage::Routed;
    Event event = begin();
    for (;;) {
      const std::optional<Step> step = next(policy_, stage, event);
      SEMEL_CHECK(step.has_value());
      stage = step->stage;
      if (step->act == Act::Finish) break;
      last_stage_ = stage;
      last_act_ = step->act;
      if (step->act == Act::AwaitLate) {
        co_await hand_over();
        break;
      }
      event = co_await perform(step->act);
      if (stage == Stage::Forwarding || stage == Stage::Streaming) event = judged(event);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "semel: an exchange on route %s failed: %s\n", route().name.c_str(),
                 failure.what());
    broken = std::current_exception();
  }
  if (broken) co_await own_failure();
  if (shadow_ != nullptr) shadow_->ended_without(*call_);
  if (call_) co_await call_->finish();
  account();
}

Event Exchange::begin() const {
  return asked_.outfit->is_changed(route()) ? Event::RouteChanged : Event::Start;
}

/// An `EFFECTFUL` claim is released where nothing can have come of it, and nowhere else.
GiveBack Exchange::give_back() const {
  return policy_ == Policy::Effectful ? GiveBack::UntilAnswered : GiveBack::UntilLeaseEnds;
}

/// Our own failure (memory, say). Before dispatch nothing happened, and a claim that may stand is
/// given back; after it the outcome is unknown.
Task<> Exchange::own_failure() {
  heed_stricter();
  dispatched_ = dispatched_ || (call_ && call_->may_have_sent());
  if (fence_.value != 0 && dispatched_ && policy_ == Policy::Effectful) {
    co_await settlement_->mark(IndeterminateReason::Internal, std::nullopt);
  } else if (settlement_) {
    settlement_->disown(give_back());
  }
  const bool unknown = dispatched_ && policy_ == Policy::Effectful;
  if (reply_.head_has_left()) {
    reply_.cut();
  } else {
    co_await refuse(unknown ? ProblemType::Indeterminate : ProblemType::Internal);
  }
}

Task<Event> Exchange::perform(Act act) {
  switch (act) {
    case Act::DeriveKey:
      return ready(derive());
    case Act::JoinFlight:
      return ready(join_flight());
    case Act::Follow:
      return follow();
    case Act::Claim:
      return claim();
    case Act::AwaitHolder:
      return await_holder();
    case Act::Supersede:
      return supersede();
    case Act::MarkAbandoned:
      return mark_abandoned();
    case Act::Forward:
      return forward();
    case Act::Backoff:
      return backoff();
    case Act::RelayThrough:
      return relay_through();
    case Act::RelayLive:
      return relay_live();
    case Act::Record:
      return settlement_->record(answer());
    case Act::RecordBare:
      return settlement_->record_bare(bare_form(*answer()));
    case Act::Mark:
      return mark();
    case Act::Release:
      was_released_ = true;
      return settlement_->release(give_back());
    case Act::Relay:
      return relay(Outcome::Executed, false);
    case Act::RelayMarked:
      return relay(Outcome::Indeterminate, true);
    case Act::RelayUnrecorded:
      return relay(Outcome::Unrecorded, false);
    case Act::RelayOrRefuse:
      return relay_or_refuse();
    case Act::Cut:
      return cut();
    case Act::Share:
      return share();
    case Act::Replay:
      return replay();
    case Act::RefuseRouteChanged:
      refusal_detail_ = kRouteChanged;
      return refuse(ProblemType::StoreUnavailable);
    case Act::RefuseKey:
      return refuse(refusal_);
    case Act::RefuseInFlight:
      return refuse(ProblemType::InFlight);
    case Act::RefuseIndeterminate:
      return refuse(ProblemType::Indeterminate);
    case Act::RefuseNotKept:
      return refuse(ProblemType::ResultNotKept);
    case Act::RefuseCaller:
      return refuse(ProblemType::CallerMismatch);
    case Act::RefuseReused:
      return refuse(ProblemType::KeyReused);
    case Act::RefuseTooMany:
      return refuse(ProblemType::TooManyWaiters);
    case Act::RefuseQuota:
      return refuse(ProblemType::Quota);
    case Act::RefuseStoreDown:
      return refuse(store_refusal_);
    case Act::DisownAndRefuse:
      settlement_->disown(GiveBack::UntilAnswered);  // Nothing was sent.
      return refuse(ProblemType::StoreUnavailable);
    case Act::RefuseUnreachable:
      return refuse(ProblemType::UpstreamUnreachable);
    case Act::AwaitLate:
    case Act::Finish:
      break;
  }
  return ready(Event::Sent);
}

Task<Event> Exchange::share() {
  reference_ = landing_->reference;
  if (landing_->problem) {
    Problem shared = *landing_->problem;
    co_return co_await refuse(std::move(shared));
  }
  stored_ = landing_->response;
  if (stored_->kept == BodyKept::NotKept) co_return co_await refuse(ProblemType::ResultNotKept);
  outcome_ = landing_->marked ? Outcome::Indeterminate : Outcome::Collapsed;
  GuardWords said = words(outcome_, landing_->marked);
  co_await reply_.stored(*stored_, said);
  co_return Event::Sent;
}

Task<Event> Exchange::replay() {
  land(stored_, false);
  outcome_ = Outcome::Replayed;
  const GuardWords said = words(outcome_);
  co_await reply_.stored(*stored_, said);
  co_return Event::Sent;
}

GuardWords Exchange::words(Outcome outcome, bool veto) const {
  GuardWords said;
  said.guarded = is_guarded();
  said.outcome = outcome;
  said.reference = reference();
  said.client_key = key_.client_key;
  said.veto = veto;
  return said;
}

Problem Exchange::problem(ProblemType type) const {
  Problem problem;
  problem.type = type;
  problem.policy = std::max(route().policy, policy_);
  problem.route = route().name;
  problem.dispatched = dispatched_;
  if (reference_ && type != ProblemType::CallerMismatch) problem.reference.emplace(reference());
  switch (type) {
    case ProblemType::InFlight:
    case ProblemType::TooManyWaiters:
      problem.dispatched.reset();
      problem.retry_after_seconds = retry_after(holder_left_);
      break;
    case ProblemType::Indeterminate:
      problem.dispatched = true;
      problem.upstream_status = unknown_status_;
      break;
    case ProblemType::ResultNotKept:
      problem.dispatched = true;
      if (stored_ != nullptr && stored_->status != 0) problem.original_status = stored_->status;
      break;
    case ProblemType::Quota:
      problem.retry_after_seconds = static_cast<int>(KeyQuota::until_next(Clock::now()).count());
      break;
    case ProblemType::StoreSuspect:
      problem.retry_after_seconds = kSuspectRetrySeconds;
      break;
    case ProblemType::StoreUnavailable:
      problem.retry_after_seconds = 1;
      problem.detail = refusal_detail_;
      break;
    case ProblemType::UpstreamUnreachable:
      problem.retry_after_seconds = 1;
      if (upstream_failure_ == CallFailure::NoSlot) problem.detail = kNoSlot;
      break;
    case ProblemType::CallerMismatch:
    case ProblemType::KeyReused:
      problem.dispatched.reset();
      break;
    default:
      problem.detail = refusal_detail_;
      break;
  }
  return problem;
}

Task<Event> Exchange::refuse(ProblemType type) {
  Problem made = problem(type);
  if (type == ProblemType::InFlight) {
    lead_.free();  // Followers have a wait of their own.
  } else if (lead_.is_flying()) {
    Landing landing;
    landing.problem = made;
    landing.policy = policy_;
    landing.reference = reference_;
    lead_.land(std::move(landing));
  }
  co_return co_await refuse(std::move(made));
}

/// An answer that comes before the whole body was read ends the connection, and says so.
void Exchange::close_if_unread() {
  if (asked_.stream != nullptr && asked_.stream->end() != RequestBody::End::Last) {
    reply_.close_after();
  }
}

Task<Event> Exchange::refuse(Problem made) {
  close_if_unread();
  switch (made.type) {
    case ProblemType::InFlight:
      outcome_ = Outcome::InFlight;
      break;
    case ProblemType::Indeterminate:
      outcome_ = Outcome::Indeterminate;
      break;
    default:
      outcome_ = is_guarded() || !dispatched_ ? Outcome::Refused : Outcome::Failed;
      break;
  }
  const GuardWords said = words(outcome_);
  co_await reply_.problem(made, said);
  co_return Event::Sent;
}

/// Followers get what a later call would get. Without a kept answer only a recorded call may be
/// told that it is over: a released one runs again, a marked one is unknown.
void Exchange::land(StoredResponsePtr response, bool marked) {
  if (!lead_.is_flying()) return;
  const bool bare = response->kept == BodyKept::NotKept;
  if (bare && was_released_) {
    lead_.free();
    return;
  }
  Landing landing;
  if (bare && marked) landing.problem = problem(ProblemType::Indeterminate);
  landing.response = std::move(response);
  landing.marked = marked;
  landing.policy = policy_;
  landing.reference = reference_;
  lead_.land(std::move(landing));
}

void Exchange::account() {
  const auto duration = Clock::now() - began_;
  metrics_.requests[static_cast<std::size_t>(outcome_)].add();
  if (is_guarded() && !dispatched_ && outcome_ != Outcome::Refused) {
    worker_.metrics.suppressed[static_cast<std::size_t>(outcome_)].add();
  }
  metrics_.request_duration.observe(duration);
  if (!worker_.access_log.is_on()) return;
  AccessEntry entry;
  entry.method = asked_.head->method;
  entry.route = route().name;
  entry.policy = std::max(route().policy, policy_);
  entry.outcome = outcome_;
  entry.problem = reply_.problem_slug();
  entry.key = has_key_ ? &key_.key : nullptr;
  entry.reference = reference();
  entry.upstream_end = upstream_end_;
  entry.upstream_failure = name(upstream_failure_);
  entry.status = reply_.status();
  entry.last_stage = last_stage_;
  entry.last_act = last_act_;
  entry.duration = duration;
  entry.upstream_duration = upstream_time_;
  entry.bytes_sent = reply_.bytes_sent();
  entry.trace_id = trace_parent_.view().substr(3, 32);
  entry.client_gone = reply_.is_gone();
  worker_.access_log.write(entry);
}

}  // namespace semel::proxy
