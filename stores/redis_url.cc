#include "stores/redis_url.h"

#include <charconv>

#include "core/form.h"
#include "stores/open.h"

namespace semel {
namespace {

template <class Number>
Number number_of(std::string_view text, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw StoreError(std::string("redis url: no ") + what + " stands where one is to be");
  }
  return number;
}

std::string decoded(std::string_view text, const char* what) {
  std::string bytes;
  if (!append_percent_decoded(text, bytes)) {
    throw StoreError(std::string("redis url: the ") + what +
                     " has an incomplete escape; write % as %25");
  }
  return bytes;
}

/// What stands before `mark`, taken off the front; everything where there is none.
std::string_view take_until(std::string_view& rest, char mark) {
  const auto at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at);
  return part;
}

void read_user(std::string_view who, RedisUrl& url) {
  const std::string_view user = take_until(who, ':');
  url.user = decoded(user, "user");
  if (!who.empty()) url.password = decoded(who.substr(1), "password");
  if (!url.user.empty() && url.password.empty()) {
    throw StoreError("redis url: user '" + url.user +
                     "' has no password; the default user's is written redis://:password@host");
  }
}

}  // namespace

Peer parse_redis_peer(std::string_view text, std::uint16_t default_port) {
  Peer peer;
  peer.port = default_port;
  std::string_view rest = text;
  if (rest.starts_with('[')) {
    rest.remove_prefix(1);
    peer.host = take_until(rest, ']');
    if (rest.empty()) throw StoreError("redis url: its address lacks a ]");
    rest.remove_prefix(1);
  } else {
    peer.host = take_until(rest, ':');
  }
  if (peer.host.empty())
    throw StoreError(
        "redis url: it names no host; escape what is special in its password (%2F for /)");
  if (rest.empty()) return peer;
  if (!rest.starts_with(':')) {
    throw StoreError("redis url: its address is no host:port");
  }
  peer.port = number_of<std::uint16_t>(rest.substr(1), "port");
  if (peer.port == 0) throw StoreError("redis url: port 0 is none");
  return peer;
}

std::string name_of(const Peer& peer) {
  const bool is_ipv6 = peer.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? '[' + peer.host + ']' : peer.host;
  return host + ':' + std::to_string(peer.port);
}

RedisUrl parse_redis_url(std::string_view text) {
  RedisUrl url;
  std::string_view rest = text;
  if (rest.starts_with("rediss://")) {
    url.wire = RedisUrl::Wire::Tls;
    rest.remove_prefix(9);
  } else if (rest.starts_with("redis://")) {
    rest.remove_prefix(8);
  } else {
    throw StoreError("redis url: it begins with redis:// or, for TLS, rediss://");
  }
  std::string_view authority = take_until(rest, '/');
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    read_user(authority.substr(0, at), url);
    authority.remove_prefix(at + 1);
  }
  url.peer = parse_redis_peer(authority, 6379);
  if (rest.size() > 1) url.database = number_of<unsigned>(rest.substr(1), "database number");
  return url;
}

}  // namespace semel
