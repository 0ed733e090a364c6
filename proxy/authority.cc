#include "proxy/authority.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/header_rules.h"
#include "proxy/byte_classes.h"

namespace semel::proxy {
namespace {

bool is_ipv6_address(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size()) return false;
  std::ranges::copy(text, terminated.begin());
  in6_addr address;
  return ::inet_pton(AF_INET6, terminated.data(), &address) == 1;
}

bool is_port(std::string_view text) {
  if (text.size() > 5) return false;
  int port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + (c - '0');
  }
  return port <= 65535;
}

/// The host: everything before the colon of the port.
std::string_view host_of(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return text.substr(0, colon);
}

}  // namespace

bool is_authority(std::string_view text) {
  const std::string_view host = host_of(text);
  if (host.empty()) return false;
  if (host.size() < text.size() && !is_port(text.substr(host.size() + 1))) return false;
  if (host.front() == '[') {
    return host.size() > 2 && host.back() == ']' &&
           is_ipv6_address(host.substr(1, host.size() - 2));
  }
  return std::ranges::all_of(host, [](char c) { return is_any_of(c, kHostByte); });
}

bool is_listed_authority(std::string_view text, std::span<const std::string> ours) {
  const std::string_view host = host_of(text);
  return std::ranges::any_of(ours, [&](const std::string& authority) {
    return same_name(authority, text) || same_name(authority, host);
  });
}

}  // namespace semel::proxy
