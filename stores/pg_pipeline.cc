#include "stores/pg_pipeline.h"

#include <algorithm>
#include <string_view>

namespace semel {
namespace {

/// libpq says "nothing" once between two answers; more in a row is a protocol that we have lost.
constexpr int kGapsMax = 8;
constexpr std::string_view kNotPrepared = "26000";

}  // namespace

PgPipeline::State PgPipeline::send() {
  if (is_worn_) return State::Worn;
  if (!connection_.is_alive()) return broken();
  if (asked_.empty()) {
    const auto flushed = connection_.flush();
    if (flushed == PgConnection::Flushed::Broken) return broken();
    return flushed == PgConnection::Flushed::All ? State::Fine : State::Stuffed;
  }
  const bool many = asked_.size() > 1;
  if (many) connection_.hold_back(true);
  State state = State::Fine;
  while (state == State::Fine && !asked_.empty()) {
    sent_.push_back({std::move(asked_.front()), false, {}, {}});
    asked_.pop_front();
    // From here on it counts as sent, whatever becomes of it.
    if (!send(sent_.back())) {
      state = broken();
    } else if (const auto flushed = connection_.flush(); flushed != PgConnection::Flushed::All) {
      state = flushed == PgConnection::Flushed::Some ? State::Stuffed : broken();
    }
  }
  if (many) connection_.hold_back(false);
  return state;
}

bool PgPipeline::send(Sent& sent) {
  const PgStatement& statement = sent.call->statement;
  sent.prepares = prepared_.insert(&statement).second;
  if (sent.prepares && !connection_.prepare(statement)) return false;
  const auto params = std::move(sent.call->params);
  return connection_.execute(statement, params) && connection_.sync();
}

PgPipeline::State PgPipeline::receive(PgCalls& settled) {
  const bool goes_on = connection_.consume();
  // What the server said before it went away counts.
  const State state = collect(settled);
  if (state == State::Broken) return state;
  if (!goes_on) return broken();
  if (is_worn_) return sent_.empty() ? State::Broken : State::Worn;
  return State::Fine;
}

PgPipeline::State PgPipeline::collect(PgCalls& settled) {
  int gaps = 0;
  while (!sent_.empty() && !connection_.is_busy()) {
    PgAnswer answer = connection_.next();
    if (answer.kind == PgAnswer::Kind::Gap) {
      if (++gaps > kGapsMax) return broken();
      continue;
    }
    gaps = 0;
    Sent& first = sent_.front();
    if (answer.kind == PgAnswer::Kind::Sync) {
      settle(settled);
    } else if (answer.kind == PgAnswer::Kind::Rows) {
      // That it is prepared stays true, whatever becomes of the transaction.
      if (!std::exchange(first.prepares, false)) first.rows = std::move(answer.rows);
    } else if (answer.is_fatal) {
      trouble_ = answer.message;
      return State::Broken;
    } else if (!first.error) {
      first.error = std::move(answer);
    }
  }
  return State::Fine;
}

void PgPipeline::settle(PgCalls& settled) {
  Sent first = std::move(sent_.front());
  sent_.pop_front();
  const bool warned = connection_.take_warning();
  PgCall& call = *first.call;
  if (first.error) {
    const PgVerdict verdict = verdict_on(*first.error);
    trouble_ = sentence_of(call.statement, *first.error);
    call.reply = verdict.fault;
    is_worn_ = is_worn_ || verdict.renew;
    if (first.prepares || first.error->sqlstate == kNotPrepared) prepared_.erase(&call.statement);
  } else if (warned && call.statement.kind == PgStatement::Kind::Write) {
    // "canceling wait for synchronous replication": committed here, and perhaps nowhere else.
    trouble_ = call.statement.name + ": committed, but not as durable as asked";
    call.reply = Fault::StoreTimeout;
  } else {
    call.reply = std::move(first.rows);
  }
  settled.push_back(std::move(first.call));
}

PgCall::Clock::time_point PgPipeline::abandon(PgCalls& settled) {
  auto until = PgCall::Clock::time_point::min();
  for (Sent& sent : sent_) {
    sent.call->reply = Fault::StoreTimeout;
    until = std::max(until, sent.call->deadline);
    settled.push_back(std::move(sent.call));
  }
  for (auto& call : asked_) {
    call->reply = Fault::StoreUnreachable;
    settled.push_back(std::move(call));
  }
  sent_.clear();
  asked_.clear();
  return until;
}

std::optional<PgCall::Clock::time_point> PgPipeline::deadline() const {
  if (!sent_.empty()) return sent_.front().call->deadline;
  if (!asked_.empty()) return asked_.front()->deadline;
  return std::nullopt;
}

PgPipeline::State PgPipeline::broken() {
  trouble_ = connection_.error();
  return State::Broken;
}

}  // namespace semel
