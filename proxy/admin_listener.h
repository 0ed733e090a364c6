#pragma once

#include <optional>

#include "config/config.h"
#include "proxy/admin.h"
#include "proxy/admin_gate.h"

namespace semel::proxy {

/// The admin listener of one process: its gate, its pages, its server.
class AdminListener {
 public:
  /// @param admin  Its address is the configuration's; `token` is what take_admin_token() said.
  /// @throws std::runtime_error when the address cannot be listened on.
  AdminListener(asio::io_context& io, const config::Admin& admin, Admin pages);
  AdminListener(const AdminListener&) = delete;
  AdminListener& operator=(const AdminListener&) = delete;

  [[nodiscard]] config::Address address() const { return server_->address(); }
  void close() { server_->close(); }
  /// Ends the streams of events, and waits for that a moment.
  Task<> end_streams() { return pages_.end_streams(); }

 private:
  Admin pages_;
  std::optional<AdminGate> gate_;  ///< Made once the address is known, port and all.
  std::optional<PageServer> server_;
};

}  // namespace semel::proxy
