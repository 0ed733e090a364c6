// The acts of an exchange that concern the tool: ask it, take its answer, let it flow. What an end
// means is the dispatch table's business.
#include <algorithm>

#include "core/check.h"
#include "core/header_rules.h"
#include "io/clock.h"
#include "proxy/exchange.h"
#include "proxy/fail_point.h"
#include "proxy/late_call.h"
#include "stores/record.h"

namespace semel::proxy {
namespace {

using Clock = std::chrono::steady_clock;

/// An answer that may never end. One without a body is whole already.
bool is_event_stream(const ResponseHead& head) {
  if (head.framing == Framing::None) return false;
  if (head.framing == Framing::Length && head.content_length == 0) return false;
  for (const HeaderField& field : head.fields.all()) {
    constexpr std::string_view kType = "text/event-stream";
    if (same_name(field.name, "content-type")) {
      return same_name(field.value.substr(0, kType.size()), kType);
    }
  }
  return false;
}

}  // namespace

/// Before the first byte `dispatch_by` bounds everything; once one has left, `timeout` does.
UpstreamCall::Dispatch Exchange::terms_of_dispatch(const UpstreamSite& site) {
  const auto now = Clock::now();
  const auto boot = boot_time();
  UpstreamCall::Dispatch dispatch;
  const auto asked_at = claim_asked_.count() != 0 ? claim_asked_ : boot;
  std::chrono::nanoseconds window = asked_at + route().dispatch_by - boot;
  if (dispatched_) {
    // A process that stood still before its first byte has less left than its timeout says.
    window = std::min<std::chrono::nanoseconds>(first_sent_ + route().timeout - now,
                                                window + route().timeout);
  }
  dispatch.not_after = boot + window;
  dispatch.connect_until = now + window;
  dispatch.pooled_age_max = asked_.policy == Policy::Effectful
                                ? Clock::duration(site.config.keepalive_effectful)
                                : Clock::duration(UpstreamPool::kIdleMax);
  if (dispatched_) dispatch.last_word = {&Exchange::may_be_sent_again, this};
  dispatch.waiting = &metrics_.upstream_waiting;
  return dispatch;
}

Task<Event> Exchange::forward() {
  if (call_) {
    note_unknown();
    co_await call_->finish();
  }
  was_tried_before_ = dispatched_;
  upstream_end_.reset();
  upstream_failure_ = CallFailure::None;
  UpstreamSite& site = asked_.outfit->upstream(route());
  call_ = std::make_unique<UpstreamCall>(site, worker_.spawn);
  if (attempts_++ == 0) asked_.outfit->retry_budget(route()).earn();
  if (asked_.is_shadowed) begin_shadow();

  ForwardedRequest request;
  request.head = asked_.head;
  request.route = &route();
  request.path = asked_.path->text;
  request.client_address = asked_.client_address;
  request.trace_parent = trace_parent_.view();
  request.has_body = asked_.head->framing != Framing::None;
  if (asked_.stream == nullptr) {
    request.body_length = asked_.body.size();
  } else if (asked_.head->framing == Framing::Length) {
    request.body_length = asked_.head->content_length;
  }
  HexText<64> key_hex;
  if (has_key_) {
    key_hex = hex_of(key_.key);
    request.key_hex = key_hex.view();
  }
  request.client_key = key_.client_key;
  request.fence = fence_;

  const UpstreamCall::Dispatch dispatch = terms_of_dispatch(site);
  UpstreamEnd end = co_await call_->send(request, asked_.body, asked_.stream, dispatch);
  if (end == UpstreamEnd::Answered) {
    if (!dispatched_) first_sent_ = call_->sent_at();
    dispatched_ = true;
    end = co_await call_->read_head(first_sent_ + route().timeout);
  }
  if (end == UpstreamEnd::NeverSent) {
    upstream_end_ = end;
    upstream_failure_ = call_->failure();
    metrics_.upstream_ends[static_cast<std::size_t>(end)].add();
    co_return Event::NeverSent;
  }
  if (end == UpstreamEnd::Unanswered) co_return broken_off();
  if (is_guarded() && !bypassing_) co_return co_await collect();

  const bool failed =
      asked_.policy == Policy::ReadOnly && is_retried(call_->head().status, route());
  co_return failed ? Event::AnsweredFailure : Event::Flowing;
}

/// Across a reload an EFFECTFUL call may ask for the key of an IDEMPOTENT one that flies. The
/// stricter governs (spec 4): what is unknown is not sent again, not freed, and nobody is told that
/// it may be repeated.
void Exchange::heed_stricter() {
  if (policy_ == Policy::Idempotent && lead_.is_flying()) policy_ = lead_.strictest_policy();
}

/// Said after the waits of a retry, right before its first byte: somebody for whom a second effect
/// counts may have come meanwhile.
bool Exchange::may_be_sent_again(void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  exchange.heed_stricter();
  return exchange.policy_ != Policy::Effectful;
}

/// What an attempt before this one left unknown, this one's refusal does not make known.
Event Exchange::judged(Event event) {
  heed_stricter();
  if (policy_ != Policy::Effectful || !was_tried_before_) return event;
  if (event == Event::AnsweredRefusal) return Event::AnsweredFailure;
  return event == Event::NeverSent ? Event::Unanswered : event;
}

Task<Event> Exchange::backoff() {
  const bool again = co_await may_try_again();
  heed_stricter();
  if (policy_ == Policy::Effectful) {
    if (upstream_end_ == UpstreamEnd::Answered) co_return Event::AnsweredFailure;
    co_return dispatched_ ? Event::Unanswered : Event::NeverSent;
  }
  if (!again) co_return Event::RetriesSpent;
  metrics_.upstream_retries.add();
  draft_.body.clear();
  co_return Event::RetryReady;
}

/// @return true once the pause before another attempt is over.
Task<bool> Exchange::may_try_again() {
  const RetryRules& rules = route().retry;
  const bool allowed = upstream_end_ == UpstreamEnd::NeverSent ? rules.on_connect
                       : upstream_end_ == UpstreamEnd::Unanswered
                           ? rules.on_reset
                           : is_retried(call_->head().status, route());
  const bool replayable = asked_.stream == nullptr || !asked_.stream->was_started();
  const bool too_late = call_->failure() == CallFailure::TooLate ||
                        (dispatched_ && Clock::now() >= first_sent_ + route().timeout);
  if (!allowed || !replayable || too_late || attempts_ >= rules.attempts || reply_.is_gone() ||
      worker_.is_ending() || !asked_.outfit->retry_budget(route()).spend()) {
    co_return false;
  }
  // Exponential, with full jitter: clients that failed together do not come back together.
  const auto ceiling = rules.backoff * (1 << std::min(attempts_ - 1, 10));
  const auto pause = std::chrono::milliseconds(static_cast<std::int64_t>(
      worker_.random.number() % static_cast<std::uint64_t>(ceiling.count() + 1)));
  const auto latest = dispatched_ ? first_sent_ + route().timeout : began_ + route().dispatch_by;
  if (Clock::now() + pause >= latest) co_return false;
  Worker::Timer timer(worker_.executor());
  timer.expires_after(pause);
  co_await timer.async_wait(kNoThrow);
  co_return true;
}

Task<Event> Exchange::collect() {
  stream_until_ = Clock::now() + route().stream_timeout;
  if (is_event_stream(call_->head())) co_return Event::Flowing;
  for (;;) {
    const UpstreamCall::Piece piece = co_await call_->piece(stream_until_);
    draft_.body.append(piece.data);
    if (piece.end == UpstreamCall::Piece::End::Broken) co_return broken_off();
    if (piece.end == UpstreamCall::Piece::End::Last) co_return complete();
    if (draft_.body.size() > kWholeMax) co_return Event::Flowing;
  }
}

Event Exchange::broken_off() {
  upstream_end_ = UpstreamEnd::Unanswered;
  upstream_failure_ = call_->failure();
  if (call_->may_have_sent()) upstream_time_ = Clock::now() - call_->sent_at();
  metrics_.upstream_ends[static_cast<std::size_t>(UpstreamEnd::Unanswered)].add();
  const bool overdue =
      asked_.policy == Policy::Effectful && call_->failure() == CallFailure::Timeout;
  return overdue && !worker_.is_ending() ? Event::Overdue : Event::Unanswered;
}

Event Exchange::complete() {
  fail_point(FailPoint::AfterAnswer);
  upstream_end_ = UpstreamEnd::Answered;
  upstream_time_ = Clock::now() - call_->sent_at();
  metrics_.upstream_duration.observe(upstream_time_);
  return classify();
}

Task<Event> Exchange::relay_through() {
  close_if_unread();
  outcome_ = bypassing_ ? Outcome::Bypassed : Outcome::Passed;
  const GuardWords said = words(outcome_);
  reply_.begin(call_->head(), said);
  UpstreamCall::Piece piece = call_->piece_now();
  for (;;) {
    if (piece.end == UpstreamCall::Piece::End::Broken) {
      outcome_ = Outcome::Failed;
      co_return broken_off();
    }
    if (piece.end == UpstreamCall::Piece::End::Last) {
      complete();
      if (shadow_ != nullptr) shadow_->answered(*call_, piece.data);
      co_await reply_.end(piece.data);
      co_return Event::Sent;
    }
    if (shadow_ != nullptr) shadow_->hear(piece.data);
    co_await reply_.piece(piece.data, Reply::Hold::Nothing);
    if (reply_.is_gone()) co_return Event::Sent;
    // Nothing is claimed here, so an answer may flow for as long as it flows: the time counts
    // between two pieces, as a plain proxy counts it.
    piece = co_await call_->piece(Clock::now() + route().stream_timeout);
  }
}

Task<Event> Exchange::relay_live() {
  const bool failure = classify() == Event::AnsweredFailure && policy_ == Policy::Effectful;
  outcome_ = failure ? Outcome::Indeterminate : Outcome::Executed;
  const GuardWords said = words(outcome_, failure);
  reply_.begin(call_->head(), said);
  co_await hand_on(draft_.body);
  fail_point(FailPoint::MidReply);
  draft_.keep({}, route().record, worker_.site.buffered);
  for (;;) {
    const UpstreamCall::Piece piece = co_await call_->piece(stream_until_);
    if (piece.end == UpstreamCall::Piece::End::Broken) co_return broken_off();
    draft_.keep(piece.data, route().record, worker_.site.buffered);

    co_await hand_on(piece.data);
    if (piece.end == UpstreamCall::Piece::End::Last) co_return complete();
  }
}

/// A slow client is not the tool's fault: as far as `settle` has room its time is not counted. Then
/// it may have half of what the tool has left, so that the tool can still end in time: the lease
/// has no room for more.
Task<> Exchange::hand_on(std::string_view data) {
  const auto handed = Clock::now();
  const Clock::duration credit = route().settle - stalled_;
  reply_.be_patient_for(credit + (stream_until_ - handed) / 2);
  co_await reply_.piece(data, Reply::Hold::LastByte);
  const auto uncounted = std::min(credit, Clock::now() - handed);
  stalled_ += uncounted;
  stream_until_ += uncounted;
}

const StoredResponsePtr& Exchange::answer() {
  if (answer_ == nullptr) answer_ = stored_form(*call_, route(), draft_);
  return answer_;
}

Task<Event> Exchange::relay(Outcome outcome, bool veto) {
  const StoredResponsePtr shared = answer();
  land(shared, veto);
  outcome_ = outcome;
  if (reply_.has_begun()) {
    reply_.be_patient_for(Clock::duration::max());  // The claim is settled: no lease waits for it.
    co_await reply_.end();
    co_return Event::Sent;
  }
  const GuardWords said = words(outcome, veto);
  reply_.begin(call_->head(), said);
  co_await reply_.end(shared->kept == BodyKept::Kept ? shared->body : draft_.body);
  co_return Event::Sent;
}

Task<Event> Exchange::relay_or_refuse() {
  if (call_->has_head() && call_->failure() == CallFailure::None) {
    if (is_guarded() && !bypassing_) co_return co_await relay(Outcome::Executed, false);
    const Event end = co_await relay_through();
    if (end == Event::Unanswered) reply_.cut();
    co_return Event::Sent;
  }
  switch (call_->request_body_end()) {
    case RequestBody::End::Malformed:
      co_return co_await refuse(ProblemType::BadRequest);
    case RequestBody::End::TooSlow:
      co_return co_await refuse(ProblemType::RequestTimeout);
    case RequestBody::End::Gone:
      reply_.cut();
      co_return Event::Sent;
    case RequestBody::End::More:
    case RequestBody::End::Last:
      break;
  }
  switch (call_->failure()) {
    case CallFailure::Timeout:
      co_return co_await refuse(ProblemType::UpstreamTimeout);
    case CallFailure::None:
    case CallFailure::Unreachable:
    case CallFailure::NoSlot:
    case CallFailure::TooLate:
    case CallFailure::Withheld:
      if (dispatched_) break;  // An attempt before this one.
      co_return co_await refuse(ProblemType::UpstreamUnreachable);
    case CallFailure::Cut:
    case CallFailure::Malformed:
      break;
  }
  co_return co_await refuse(ProblemType::UpstreamFailed);
}

Task<Event> Exchange::cut() {
  if (lead_.is_flying()) {
    Landing landing;
    landing.problem = problem(policy_ == Policy::Effectful ? ProblemType::Indeterminate
                                                           : ProblemType::UpstreamFailed);
    landing.policy = policy_;
    landing.reference = reference_;
    lead_.land(std::move(landing));
  }
  outcome_ = policy_ == Policy::Effectful ? Outcome::Indeterminate : Outcome::Failed;
  reply_.cut();
  co_return Event::Sent;
}

/// A tool that may still be at work on one attempt is not done because it cut another.
void Exchange::note_unknown() {
  if (!call_->may_have_sent()) return;
  if (call_->has_head()) unknown_status_ = call_->head().status;
  if (unknown_reason_ && !reason_ends_attempt(*unknown_reason_)) return;
  unknown_reason_ = unknown_because(call_->failure());
}

Task<Event> Exchange::mark() {
  note_unknown();
  SEMEL_CHECK(unknown_reason_.has_value());
  co_return co_await settlement_->mark(*unknown_reason_, unknown_status_);
}

/// The key is derived and claimed beside the call, from a copy where the body streams.
void Exchange::begin_shadow() {
  shadow_ = std::make_shared<Shadow>(worker_, asked_.outfit->shared_from_this(), route(), metrics_);
  const KeyInputs inputs = key_inputs();
  if (asked_.stream == nullptr) {
    shadow_->ask(inputs);
    return;
  }
  asked_.stream->tap([shadow = shadow_, inputs](const RequestBody::Piece& piece) {
    shadow->overhear(piece, inputs);
  });
}

/// The client has been told; what the tool may still say is heard without it.
Task<> Exchange::hand_over() {
  // Of `settle` a client that stalled has had its part, and the lease must not be outlived.
  const auto room = std::min<Clock::duration>(
      route().settle - stalled_, settlement_->lease_ends() - boot_time() - route().lease_margin);
  const bool whole = co_await call_->outlive_request();
  if (!whole || room <= Clock::duration::zero()) co_return;
  const auto until = Clock::now() + room;
  auto late = std::make_unique<LateCall>(worker_, asked_.outfit->shared_from_this(), route(),
                                         std::move(call_), *settlement_, std::move(draft_));
  worker_.start(LateCall::run(std::move(late), until));
}

}  // namespace semel::proxy
