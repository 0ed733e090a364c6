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
  const bool is_bracketed = text.starts_with('[');
  return text.substr(0, text.find(':', is_bracketed ? text.find(']') : 0));
}

}  // namespace

bool is_authority(std::string_view text) {
  std::size_t end = 0;  // of the host
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || !is_ipv6_address(text.substr(1, end - 1))) return false;
    ++end;
  } else {
    while (end < text.size() && is_any_of(text[end], kHostByte)) ++end;
  }
  if (end == text.size()) return end > 0;
  return end > 0 && text[end] == ':' && is_port(text.substr(end + 1));
}

bool is_listed_authority(std::string_view text, std::span<const std::string> ours) {
  const std::string_view host = host_of(text);
  return std::ranges::any_of(ours, [&](const std::string& authority) {
    return same_name(authority, text) || same_name(authority, host);
  });
}

}  // namespace semel::proxy
