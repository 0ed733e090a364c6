#include "config/addresses.h"

#include <algorithm>

#include "config/units.h"

namespace semel::config {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A host name or an IPv4 address: whether it resolves is found out when it is used.
bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 && host.front() != '-' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
         });
}

bool is_ipv6(std::string_view host) {
  return host.find(':') != std::string_view::npos &&
         host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

/// Splits off the port. `default_port` 0: it must be written.
std::optional<Address> parse_host_and_port(std::string_view text, std::uint16_t default_port) {
  Address address;
  std::string_view rest;
  if (!text.empty() && text[0] == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !is_ipv6(text.substr(1, close - 1))) return std::nullopt;
    address.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    if (!is_host(text.substr(0, colon))) return std::nullopt;
    address.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (rest.empty()) {
    address.port = default_port;
    return default_port == 0 ? std::nullopt : std::optional(address);
  }
  const auto port = rest[0] == ':' ? parse_integer(rest.substr(1)) : std::nullopt;
  if (!port || *port > 65'535) return std::nullopt;
  address.port = static_cast<std::uint16_t>(*port);
  return address;
}

}  // namespace

std::string Address::text() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Address> parse_address(std::string_view text) { return parse_host_and_port(text, 0); }

std::variant<Endpoint, std::string> parse_endpoint(std::string_view text) {
  constexpr std::string_view kHttp = "http://";
  constexpr std::string_view kHttps = "https://";
  constexpr std::string_view kUnix = "unix:";
  constexpr std::size_t kUnixPathMax = 107;  // sun_path, less the terminating zero.
  Endpoint endpoint;
  if (text.starts_with(kUnix)) {
    endpoint.address.unix_path = text.substr(kUnix.size());
    endpoint.authority = "localhost";
    const std::string& path = endpoint.address.unix_path;
    if (!path.starts_with('/')) return "a unix endpoint is an absolute path; write unix:/path";
    if (path.size() > kUnixPathMax) return "the path of a unix socket has at most 107 bytes";
    return endpoint;
  }
  endpoint.tls = text.starts_with(kHttps);
  if (!endpoint.tls && !text.starts_with(kHttp)) {
    return "is no endpoint; write http://host:port, https://host:port or unix:/path";
  }
  std::string_view authority = text.substr(endpoint.tls ? kHttps.size() : kHttp.size());
  const std::size_t path = authority.find_first_of("/?#");
  if (path != std::string_view::npos) {
    if (authority.substr(path) != "/") {
      return "an endpoint has no path or query; the request's own path is forwarded";
    }
    authority = authority.substr(0, path);
  }
  if (authority.find('@') != std::string_view::npos) {
    return "an endpoint has no user name or password; remove them";
  }
  const auto address = parse_host_and_port(authority, endpoint.tls ? 443 : 80);
  if (!address || address->port == 0) {
    return "has no valid host and port; write http://host:port or https://host:port";
  }
  endpoint.address = *address;
  endpoint.authority = authority;
  return endpoint;
}

}  // namespace semel::config
