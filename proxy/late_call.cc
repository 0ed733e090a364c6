// What a tool says after its time was over. Nobody waits for it; the record does. Started by
// proxy/exchange.
#include "proxy/late_call.h"

#include "proxy/fail_point.h"

namespace semel::proxy {

Task<> LateCall::run(std::unique_ptr<LateCall> late, Deadlines::Clock::time_point until) {
  Stage stage = Stage::Listening;
  Event event = co_await late->hear(until);
  for (;;) {
    const std::optional<Step> step = next(Policy::Effectful, stage, event);
    SEMEL_CHECK(step.has_value());
    if (step->act == Act::Finish) break;
    stage = step->stage;
    event = co_await late->perform(step->act);
  }
  co_await late->call_->finish();
}

Task<Event> LateCall::hear(Deadlines::Clock::time_point until) {
  if (!call_->has_head()) {
    const UpstreamEnd end = co_await call_->read_head(until);
    if (end == UpstreamEnd::Unanswered) co_return broken_off();
  }
  for (;;) {
    const UpstreamCall::Piece piece = co_await call_->piece(until);
    if (piece.end == UpstreamCall::Piece::End::Broken) co_return broken_off();
    draft_.keep(piece.data, route_.record, worker_.site.buffered);
    if (piece.end == UpstreamCall::Piece::End::Last) break;
  }
  fail_point(FailPoint::LateAnswer);
  worker_.metrics.late_answers.add();
  co_return verdict(call_->head().status, route_);
}

Event LateCall::broken_off() const {
  // Only a tool that ended the connection has ended the attempt.
  return call_->failure() == CallFailure::Cut ? Event::Unanswered : Event::WaitOver;
}

Task<Event> LateCall::perform(Act act) {
  switch (act) {
    case Act::Record:
      answer_ = stored_form(*call_, route_, draft_);
      return settlement_.record(answer_);
    case Act::RecordBare:
      return settlement_.record_bare(bare_form(*answer_));
    case Act::Release:
      return settlement_.release(GiveBack::UntilAnswered);  // The tool says that it did nothing.
    default:
      SEMEL_CHECK(act == Act::Mark);
      // Nothing more can come of this attempt: an operator need not wait for its lease.
      return settlement_.end_attempt();
  }
}

}  // namespace semel::proxy
