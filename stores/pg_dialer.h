#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/task.h"
#include "stores/pg_socket.h"
#include "stores/pg_target.h"

namespace semel {

/// Makes connections to a target, one at a time, without ever blocking the worker: names are looked
/// up beside it, and every step has an end.
/// @thread One worker's; close() also any other, once the worker stands still.
class PgDialer {
 public:
  using Clock = std::chrono::steady_clock;
  using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

  PgDialer(Executor executor, std::shared_ptr<const PgTarget> target);
  ~PgDialer();
  PgDialer(const PgDialer&) = delete;
  PgDialer& operator=(const PgDialer&) = delete;

  /// Tries the target's hosts in turn, each within its share of the time that is left.
  /// @return Null: none let us in by `until`; trouble() says why.
  /// @owns   The dialer outlives it.
  [[nodiscard]] Task<std::shared_ptr<PgSocket>> dial(Clock::time_point until);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Ends a dial() that is under way, which then returns null.
  void close();

 private:
  struct Lookup;

  Task<std::shared_ptr<PgSocket>> dial_host(PgTarget::Host host, Clock::time_point until);
  Task<std::vector<std::string>> look_up(std::string name, Clock::time_point until);
  Task<bool> connect(std::shared_ptr<PgSocket> socket, Clock::time_point until);
  void complain(const PgTarget::Host& host, std::string_view why);

  const Executor executor_;
  const std::shared_ptr<const PgTarget> target_;
  std::optional<Timer> deadline_;
  std::shared_ptr<PgSocket> socket_;  ///< That is being connected.
  std::shared_ptr<Lookup> lookup_;    ///< That is being waited for.
  std::string trouble_;
  bool is_closed_ = false;
};

}  // namespace semel
