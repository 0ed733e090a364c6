#include "stores/pg_socket.h"

#include <boost/asio/error.hpp>
#include <utility>

namespace semel {

PgSocket::PgSocket(Executor executor, const PgWords& words)
    : executor_(std::move(executor)), connection_(std::make_unique<PgConnection>(words)) {}

void PgSocket::watch() { descriptor_.emplace(executor_, connection_->socket()); }

void PgSocket::unwatch() {
  if (descriptor_ && descriptor_->is_open()) (void)descriptor_->release();
  descriptor_.reset();
}

void PgSocket::close() {
  unwatch();
  connection_.reset();
}

Task<bool> PgSocket::connect(std::shared_ptr<PgSocket> self) {
  // libpq may close its socket and open another one at any step, under the same number: what Asio
  // knows of it is forgotten before.
  auto want = PgConnection::Want::Writing;
  if (!self->connection_->is_connecting()) co_return false;
  while (want == PgConnection::Want::Reading || want == PgConnection::Want::Writing) {
    self->watch();
    const auto wait = want == PgConnection::Want::Reading ? Wait::wait_read : Wait::wait_write;
    (void)co_await self->descriptor_->async_wait(wait, kNoThrow);
    if (!self->is_open()) co_return false;
    self->unwatch();
    want = self->connection_->advance();
  }
  if (want == PgConnection::Want::Failed) co_return false;
  self->watch();
  co_return true;
}

Task<bool> PgSocket::readable(std::shared_ptr<PgSocket> self) {
  if (!self->is_open()) co_return false;
  (void)co_await self->descriptor_->async_wait(Wait::wait_read, kNoThrow);
  co_return self->is_open();
}

void PgSocket::on_writable(std::function<void()> then) {
  auto go_on = [self = shared_from_this(), then = std::move(then)](auto error) mutable {
    if (!self->is_open()) return;
    // Woken, and not because the socket takes more.
    if (error == asio::error::operation_aborted) return self->on_writable(std::move(then));
    then();
  };
  descriptor_->async_wait(Wait::wait_write, std::move(go_on));
}

}  // namespace semel
