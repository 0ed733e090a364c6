#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "io/task.h"
#include "stores/pg_connection.h"

namespace semel {

/// A connection and the watch over its socket, which Asio only borrows: libpq opens and closes it.
/// @thread One worker's; close() also any other, once the worker stands still.
/// @owns   Waiters hold it, so that it outlives them.
class PgSocket : public std::enable_shared_from_this<PgSocket> {
 public:
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  using Wait = Descriptor::wait_type;

  PgSocket(Executor executor, const PgWords& words);

  /// @owns Until close().
  [[nodiscard]] PgConnection& connection() { return *connection_; }
  /// Goes through the steps of connecting. @return false: it failed, or was closed meanwhile.
  [[nodiscard]] static Task<bool> connect(std::shared_ptr<PgSocket> self);
  /// @return false: closed.
  [[nodiscard]] static Task<bool> readable(std::shared_ptr<PgSocket> self);
  /// Lets those go on that wait until it is readable: what there was, somebody else has read.
  void wake() { descriptor_->cancel(); }
  /// Calls `then` once the socket takes more, unless it is closed before.
  void on_writable(std::function<void()> then);

  /// Nobody is waiting for it any more: those that do are told so.
  void close();
  [[nodiscard]] bool is_open() const { return connection_ != nullptr; }

 private:
  void watch();
  void unwatch();

  const Executor executor_;
  std::unique_ptr<PgConnection> connection_;
  std::optional<Descriptor> descriptor_;
};

}  // namespace semel
