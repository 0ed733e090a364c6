#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "proxy/page_server.h"

namespace semel::proxy {

/// Who may ask the admin listener: whoever has the token, and no web page (spec 11).
///
/// A page of a browser that stands near the listener may send requests here: with a foreign Origin,
/// or, once its name has been made to resolve to this address, with a foreign Host.
class AdminGate {
 public:
  /// @param listener  Where it really listens, its host an IP address.
  AdminGate(const config::Address& listener, std::string token);

  /// @return 421, 403, 401 or 415 as problem+json; absent: go on.
  [[nodiscard]] std::optional<PageReply> refusal(const PageRequest& head) const;

 private:
  [[nodiscard]] bool is_ours(std::string_view host) const;
  [[nodiscard]] bool has_token(const PageRequest& head) const;

  asio::ip::address address_;
  std::uint16_t port_;
  std::string token_;
};

/// Compares in a time that says nothing of where two texts differ.
[[nodiscard]] bool same_secret(std::string_view a, std::string_view b);

}  // namespace semel::proxy
