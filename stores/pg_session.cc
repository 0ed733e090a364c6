#include "stores/pg_session.h"

#include <poll.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <optional>
#include <vector>

#include "stores/pg_dialer.h"
#include "stores/pg_fault.h"

namespace semel {
namespace {

using Clock = std::chrono::steady_clock;

/// A person waits for it, or a start does.
constexpr std::chrono::seconds kConnectPatience{5};
constexpr PgTarget::Patience kServerPatience{std::chrono::seconds(60), std::chrono::seconds(10)};
/// A server that has not given up by itself by then says nothing any more.
constexpr std::chrono::seconds kAnswerPatience{70};

const PgStatement kScript{"script", "", PgStatement::Kind::Write, {}};

}  // namespace

struct PgSession::Impl {
  explicit Impl(const PostgresOptions& options) {
    auto target = std::make_shared<PgTarget>(options.url, kServerPatience);
    PgDialer dialer(io.get_executor(), std::move(target));
    asio::co_spawn(io, dialer.dial(Clock::now() + kConnectPatience),
                   [this](std::exception_ptr failure, std::shared_ptr<PgSocket> made) {
                     if (failure) std::rethrow_exception(failure);
                     socket = std::move(made);
                   });
    io.run();
    if (!socket) throw PgError("store.postgres: " + dialer.trouble(), "");
  }
  ~Impl() {
    if (socket) socket->close();
  }

  /// Until the server has said all. @return The rows of the last statement. @throws PgError
  PgRows take_answers(const PgStatement& statement) {
    PgRows rows;
    std::optional<PgAnswer> error;
    PgConnection& connection = socket->connection();
    for (;;) {
      wait_for_answer();
      PgAnswer answer = connection.next();
      if (answer.kind == PgAnswer::Kind::Gap) break;
      if (answer.kind == PgAnswer::Kind::Rows) rows = std::move(answer.rows);
      if (answer.kind == PgAnswer::Kind::Error && !error) error = std::move(answer);
    }
    if (error) throw PgError("store.postgres: " + sentence_of(statement, *error), error->sqlstate);
    return rows;
  }

  void wait_for_answer() {
    PgConnection& connection = socket->connection();
    const auto until = Clock::now() + kAnswerPatience;
    while (connection.is_busy()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd ready{connection.socket(), POLLIN, 0};
      if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) {
        throw PgError("store.postgres: the server does not answer", "");
      }
      if (!connection.consume()) throw PgError("store.postgres: " + connection.error(), "");
    }
  }

  asio::io_context io{1};
  std::shared_ptr<PgSocket> socket;
  PgFacts facts;
};

PgSession::PgSession(const PostgresOptions& options) : impl_(std::make_unique<Impl>(options)) {
  auto facts = pg_facts_of(ask(pg_facts_statement(), {}));
  if (facts && facts->has_origin && !add_origin(*facts, ask(pg_origin_statement(), {}))) {
    facts.reset();
  }
  if (!facts) throw PgError("store.postgres: what the server says of itself makes no sense", "");
  const std::string refusal = refusal_of(*facts);
  constexpr const char* kReadOnly = "25006";
  if (!refusal.empty()) throw PgError("store.postgres: " + refusal, kReadOnly);
  impl_->facts = *facts;
}

PgSession::~PgSession() = default;

const PgFacts& PgSession::facts() const { return impl_->facts; }

void PgSession::run(const std::string& script) {
  PgConnection& connection = impl_->socket->connection();
  if (!connection.run(script)) throw PgError("store.postgres: " + connection.error(), "");
  (void)impl_->take_answers(kScript);
}

PgRows PgSession::ask(const PgStatement& statement, std::span<const PgValue> params) {
  PgConnection& connection = impl_->socket->connection();
  const std::vector<PgValue> values(params.begin(), params.end());
  if (!connection.ask(statement, values)) {
    throw PgError("store.postgres: " + connection.error(), "");
  }
  return impl_->take_answers(statement);
}

}  // namespace semel
