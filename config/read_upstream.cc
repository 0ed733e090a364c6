#include <algorithm>

#include "config/addresses.h"
#include "config/read_server.h"
#include "config/read_tls.h"

namespace semel::config {
namespace {

using std::chrono::milliseconds;

TlsFiles read_tls(const Mapping& mapping) {
  TlsFiles tls = read_client_tls(mapping);
  if (const auto value = mapping.find("server_name")) tls.server_name = value->nonempty_text();
  return tls;
}

/// The endpoint as an error may show it: before an `@` and behind a `?` there may be a secret.
std::string shown(std::string text) {
  if (const auto query = text.find('?'); query != text.npos)
    text.replace(query + 1, text.npos, "...");
  if (const auto at = text.rfind('@'); at != text.npos) {
    const auto scheme = text.find("//");
    const auto user = scheme == text.npos || scheme > at ? 0 : scheme + 2;
    text.replace(user, at - user, "...");
  }
  return text;
}

Upstream read_upstream(const Value& value) {
  Upstream upstream;
  upstream.name = value.name();
  check_name(value, upstream.name);
  const Mapping mapping = value.mapping(kUpstreamGrammar);
  for (const Value& item : mapping.require("endpoints").items()) {
    const std::string text = item.nonempty_text();
    auto endpoint = parse_endpoint(text);
    if (const auto* sentence = std::get_if<std::string>(&endpoint)) {
      item.fail("\"" + shown(text) + "\": " + *sentence);
    }
    upstream.endpoints.push_back(std::get<Endpoint>(std::move(endpoint)));
  }
  if (upstream.endpoints.empty()) {
    mapping.require("endpoints").fail("is empty; write at least one, such as http://host:port");
  }
  if (const auto tls = mapping.find("tls")) {
    upstream.tls = read_tls(tls->mapping(kUpstreamTlsGrammar));
    const bool uses_tls = std::any_of(upstream.endpoints.begin(), upstream.endpoints.end(),
                                      [](const Endpoint& endpoint) { return endpoint.tls; });
    if (!uses_tls) tls->fail("no endpoint is https://; write https:// or remove tls");
  }
  const Range<milliseconds> any{milliseconds(0), kDurationAtMost};
  if (const auto timeout = mapping.find("connect_timeout")) {
    upstream.connect_timeout = timeout->duration({milliseconds(1), kDurationAtMost});
  }
  if (const auto keepalive = mapping.find("keepalive_effectful")) {
    upstream.keepalive_effectful = keepalive->duration(any);
  }
  if (const auto connections = mapping.find("connections")) {
    upstream.connections_max = static_cast<std::size_t>(connections->integer({1, 1'000'000}));
  }
  return upstream;
}

}  // namespace

std::vector<Upstream> read_upstreams(const Value& value) {
  std::vector<Upstream> upstreams;
  for (const Value& named : value.named_values()) upstreams.push_back(read_upstream(named));
  if (upstreams.empty()) value.fail("names no upstream; write name: {endpoints: [...]}");
  return upstreams;
}

}  // namespace semel::config
