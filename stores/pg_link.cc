// The dull half of a connection to PostgreSQL: waits for sockets and clocks, and does what the
// pipeline says. What an answer means is decided there.

#include "stores/pg_link.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "core/check.h"

namespace semel {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPauseMin{50};
constexpr milliseconds kPauseMax{500};
/// Between two looks at a backend that was left behind.
constexpr milliseconds kBetweenLooks{150};
/// A connection that lived this long was a good one: the next attempt begins soon.
constexpr std::chrono::seconds kSettled{1};
/// An attempt that ends this long after its time was let down by the worker, not by the server.
constexpr milliseconds kLate{200};
/// More calls than this without an answer: the server cannot follow, refuse instead of growing.
constexpr std::size_t kCallsMax = 16'384;

}  // namespace

PgLink::PgLink(Executor executor, std::size_t lane, PgLinkTerms terms)
    : executor_(executor),
      lane_(lane),
      terms_(std::move(terms)),
      dialer_(std::move(executor), terms_.target) {}

void PgLink::start() {
  asio::co_spawn(executor_, live(shared_from_this()), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

void PgLink::close() {
  if (state_ == State::Closed) return;
  attempt_until_ = Clock::time_point::max();
  break_off(Fault::StoreUnreachable, "closed");
  state_ = State::Closed;
  dialer_.close();
  pause_.reset();
}

Task<Result<PgRows>> PgLink::call(std::shared_ptr<PgLink> self, const PgStatement& statement,
                                  std::vector<PgValue> params) {
  if (self->state_ == State::Down && !self->terms_.left_behind->has(self->lane_) &&
      self->terms_.standing->is_reached_since(self->down_since_)) {
    self->begin_anew();
  }
  if (self->state_ != State::Up && self->state_ != State::Starting) co_return self->fault_;
  const std::size_t unanswered = self->pipeline_ ? self->pipeline_->size() : 0;
  if (unanswered + self->waiting_.size() >= kCallsMax) co_return Fault::StoreUnreachable;
  auto call =
      std::make_shared<PgCall>(statement, std::move(params), Clock::now() + self->terms_.deadline);
  if (self->state_ == State::Starting) {
    self->waiting_.push_back(call);
  } else {
    self->pipeline_->ask(call);
    self->flush_later();
  }
  co_await call->waits.wait();
  co_return *std::move(call->reply);
}

void PgLink::tell(const PgStatement& statement, std::vector<PgValue> params) {
  if (state_ != State::Up || pipeline_->size() >= kCallsMax) return;
  pipeline_->ask(
      std::make_shared<PgCall>(statement, std::move(params), Clock::now() + terms_.deadline));
  flush_later();
}

Task<> PgLink::live(std::shared_ptr<PgLink> self) {
  milliseconds pause = kPauseMin;
  while (self->state_ != State::Closed) {
    if (!self->terms_.left_behind->may_dial(self->lane_)) {
      co_await self->rest(kBetweenLooks);
      continue;
    }
    const auto began = Clock::now();
    if (co_await self->connect()) co_await self->carry();
    if (self->state_ == State::Closed) break;
    if (Clock::now() - began > self->terms_.patience + kSettled) pause = kPauseMin;
    co_await self->rest(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
}

Task<> PgLink::rest(milliseconds pause) {
  if (state_ == State::Starting) co_return;
  // Not all at once: many links lost the same server at the same time.
  const auto jitter = random_.number() % static_cast<std::uint64_t>(pause.count() / 2);
  pause_.emplace(executor_, pause + milliseconds(jitter));
  (void)co_await pause_->async_wait(kNoThrow);
}

/// The server is there for another connection: calls wait for this one, which is tried at once.
void PgLink::begin_anew() {
  state_ = State::Starting;
  if (pause_) pause_->cancel();
}

Task<bool> PgLink::connect() {
  // Calls wait for the first attempt, and can do so for as long as for an answer.
  const bool is_first = state_ == State::Starting;
  auto until = Clock::now() + (is_first ? terms_.deadline * 19 / 20 : terms_.patience);
  attempt_until_ = until;
  socket_ = co_await dialer_.dial(until);
  if (!socket_) {
    break_off(Fault::StoreUnreachable, dialer_.trouble());
    co_return false;
  }
  if (!socket_->connection().begin_pipeline()) {
    break_off(Fault::StoreUnreachable, socket_->connection().error());
    co_return false;
  }
  pipeline_.emplace(socket_->connection());
  if (!co_await ask_facts(until)) co_return false;
  if (terms_.left_behind->has(lane_)) {
    if (!co_await outwait_left_behind()) co_return false;
    until = Clock::now() + terms_.patience;  // It may have taken hours.
    attempt_until_ = until;
  }
  if (!co_await ask_admission(until)) co_return false;
  let_through();
  co_return true;
}

Task<bool> PgLink::ask_facts(Clock::time_point until) {
  std::vector<PgValue> none;
  const auto facts = co_await ask_alone(pg_facts_statement(), none, until);
  if (!pipeline_) co_return false;
  auto found = facts ? pg_facts_of(*facts) : std::nullopt;
  if (found && found->has_origin) {
    const auto origin = co_await ask_alone(pg_origin_statement(), none, until);
    if (!pipeline_) co_return false;
    if (!origin || !add_origin(*found, *origin)) found.reset();
  }
  if (!found) {
    break_off(Fault::StoreUnreachable, terms_.standing->trouble());
    co_return false;
  }
  facts_ = *found;
  backend_ = facts_.backend;
  const std::string refusal = refusal_of(facts_);
  if (!refusal.empty()) break_off(Fault::StoreUnreachable, refusal);
  co_return refusal.empty();
}

/// Keeps the connection, and asks nothing else of the server, until the backend that this lane left
/// behind is done. @return false: it has broken off.
Task<bool> PgLink::outwait_left_behind() {
  PgLeftBehind& left = *terms_.left_behind;
  while (left.has(lane_)) {
    const auto until = Clock::now() + terms_.patience;
    const auto asked = left.all();
    auto params = PgLeftBehind::params(asked);
    const auto answer = co_await ask_alone(PgLeftBehind::question(), std::move(params), until);
    if (!pipeline_) co_return false;
    if (answer) left.note(asked, *answer);
    if (!left.has(lane_)) break;
    const std::string trouble = left.trouble(lane_);
    if (!trouble.empty()) terms_.standing->complain(trouble);
    co_await rest(kBetweenLooks);
    if (!pipeline_) co_return false;
  }
  left.stop_watching(lane_);
  co_return true;
}

Task<bool> PgLink::ask_admission(Clock::time_point until) {
  const PgAdmission& admission = terms_.admission;
  Result<PgRows> answer = PgRows{};
  if (admission.question != nullptr) {
    std::vector<PgValue> params;
    if (admission.params) params = admission.params(lane_);
    answer = co_await ask_alone(*admission.question, std::move(params), until);
    if (!pipeline_) co_return false;
  }
  Result<void> verdict;
  if (admission.judge) {
    verdict = admission.judge(facts_, lane_, answer);
  } else if (!answer) {
    verdict = answer.error();
  }
  if (!verdict) {
    const std::string trouble = terms_.standing->trouble();
    break_off(verdict.error(), answer ? "what the server says of the store is refused" : trouble);
  }
  co_return verdict.has_value();
}

/// While no call is let through. @return StoreTimeout, and no pipeline, if the connection broke.
Task<Result<PgRows>> PgLink::ask_alone(const PgStatement& statement, std::vector<PgValue> params,
                                       Clock::time_point until) {
  auto call = std::make_shared<PgCall>(statement, std::move(params), until);
  pipeline_->ask(call);
  if (!send_calls()) co_return Fault::StoreTimeout;
  while (!call->reply) {
    auto socket = socket_;
    if (!co_await PgSocket::readable(std::move(socket))) co_return Fault::StoreTimeout;
    if (!take_answers()) co_return Fault::StoreTimeout;
  }
  co_return *std::move(call->reply);
}

void PgLink::let_through() {
  state_ = State::Up;
  terms_.standing->up(lane_, facts_);
  for (auto& call : waiting_) pipeline_->ask(std::move(call));
  waiting_.clear();
  flush_later();
}

Task<> PgLink::carry() {
  while (pipeline_) {
    auto socket = socket_;
    if (!co_await PgSocket::readable(std::move(socket))) co_return;
    if (!take_answers()) co_return;
  }
}

/// Whatever else this turn of the worker asks leaves together with it.
void PgLink::flush_later() {
  if (std::exchange(flush_is_posted_, true)) return;
  asio::post(executor_, [self = shared_from_this()] {
    self->flush_is_posted_ = false;
    if (!self->pipeline_) return;
    // A connection that has ended while nobody looked is not written to.
    if (self->pipeline_->is_silent() && !self->take_answers()) return;
    (void)self->send_calls();
  });
}

/// @return false: it has broken off.
bool PgLink::take_answers() {
  PgCalls settled;
  const auto state = pipeline_->receive(settled);
  resume_later(executor_, settled);
  while (const auto payload = socket_->connection().notification()) {
    if (terms_.on_notification) terms_.on_notification(*payload);
  }
  const std::string trouble = pipeline_->take_trouble();
  if (state == PgPipeline::State::Broken) {
    break_off(Fault::StoreUnreachable, trouble);
    return false;
  }
  if (!trouble.empty()) terms_.standing->complain(trouble);
  if (state == PgPipeline::State::Worn && state_ == State::Up) state_ = State::Worn;
  return true;
}

/// The same by another than who waits for the socket, for which there may be nothing more to read:
/// carry() waits for whatever comes next, ask_alone() for what may have been taken here.
/// @return false: it has broken off.
bool PgLink::take_answers_aside() {
  if (!take_answers()) return false;
  if (state_ != State::Up && state_ != State::Worn) socket_->wake();
  return true;
}

/// @return false: it has broken off.
bool PgLink::send_calls() {
  if (is_stuffed_) return true;
  const auto state = pipeline_->send();
  if (state == PgPipeline::State::Broken) {
    break_off(Fault::StoreUnreachable, pipeline_->take_trouble());
    return false;
  }
  keep_deadline();
  if (state != PgPipeline::State::Stuffed) return true;
  is_stuffed_ = true;
  socket_->on_writable([self = shared_from_this()] {
    self->is_stuffed_ = false;
    (void)self->send_calls();
  });
  // libpq reads where it cannot write: the socket may have nothing more to tell.
  return take_answers_aside();
}

void PgLink::keep_deadline() {
  if (deadline_ || !pipeline_) return;
  const auto first = pipeline_->deadline();
  if (!first) return;
  deadline_.emplace(executor_, *first);
  deadline_->async_wait([self = shared_from_this()](auto error) {
    if (!error) self->on_deadline();
  });
}

void PgLink::on_deadline() {
  deadline_.reset();
  // An answer that is here already counts: it may be the worker that was late.
  if (!pipeline_ || !take_answers_aside()) return;
  const auto first = pipeline_->deadline();
  if (first && *first <= Clock::now()) {
    break_off(Fault::StoreUnreachable, "no answer within the deadline");
  } else {
    keep_deadline();
  }
}

/// @param fault  Of calls that are asked while it is down.
void PgLink::break_off(Fault fault, const std::string& trouble) {
  const bool was_up = state_ == State::Up || state_ == State::Worn;
  fault_ = fault;
  PgCalls settled;
  // A worker that stood still meanwhile tries once more before it sends its first calls away.
  const auto now = Clock::now();
  PgLeftBehind& left = *terms_.left_behind;
  if (pipeline_ && backend_ && !pipeline_->is_silent()) left.leave(lane_, *backend_);
  left.stop_watching(lane_);
  backend_.reset();
  const bool again = state_ == State::Starting && now - kLate > attempt_until_ && !left.has(lane_);
  std::erase_if(waiting_, [&](const auto& call) {
    if (again && call->deadline > now) return false;
    call->reply = fault;
    settled.push_back(call);
    return true;
  });
  if (pipeline_) {
    const auto until = pipeline_->abandon(settled);
    if (was_up) terms_.standing->haunt(until);
  }
  pipeline_.reset();
  if (socket_) socket_->close();
  socket_.reset();
  deadline_.reset();
  is_stuffed_ = false;
  if (!again && state_ != State::Closed) {
    state_ = State::Down;
    down_since_ = now;
  }
  terms_.standing->down(lane_, trouble);
  resume_later(executor_, settled);
  if (was_up && terms_.on_loss) terms_.on_loss();
}

}  // namespace semel
