#include "stores/pg_listener.h"

#include <boost/asio/co_spawn.hpp>

namespace semel {
namespace {

constexpr std::chrono::seconds kBetweenQuestions{1};
/// No call goes here, and no lane is its own.
constexpr std::size_t kNoLane = 0;

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

PgListener::PgListener(Executor executor, PgLinkTerms terms, PgListening listening)
    : executor_(executor),
      listening_(std::move(listening)),
      listen_(std::make_shared<PgStatement>(PgStatement{
          "semel_listen", "LISTEN " + quoted(listening_.channel), PgStatement::Kind::Read, {}})),
      link_(std::make_shared<PgLink>(std::move(executor), kNoLane,
                                     listening_terms(std::move(terms)))) {}

PgLinkTerms PgListener::listening_terms(PgLinkTerms terms) const {
  // One that is deaf says nothing of whether calls get through.
  terms.standing = std::make_shared<PgStanding>();
  terms.left_behind = std::make_shared<PgLeftBehind>();
  terms.admission = PgAdmission{};
  terms.admission.question = listen_.get();
  terms.admission.judge = [on_loss = listening_.on_loss](const PgFacts&, std::size_t,
                                                         const Result<PgRows>& answer) {
    if (!answer) return Result<void>(answer.error());
    on_loss();
    return Result<void>();
  };
  terms.on_notification = listening_.on_message;
  terms.on_loss = listening_.on_loss;
  return terms;
}

void PgListener::start() {
  link_->start();
  asio::co_spawn(executor_, keep_asking(shared_from_this()), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

void PgListener::close() {
  is_closed_ = true;
  pause_.reset();
  link_->close();
}

Task<> PgListener::keep_asking(std::shared_ptr<PgListener> self) {
  while (!self->is_closed_) {
    self->pause_.emplace(self->executor_, kBetweenQuestions);
    (void)co_await self->pause_->async_wait(kNoThrow);
    if (self->is_closed_) break;
    std::vector<PgValue> none;
    (void)co_await PgLink::call(self->link_, *self->listen_, std::move(none));
  }
}

}  // namespace semel
