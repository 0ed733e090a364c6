#include "proxy/unbuilt.h"

namespace semel::proxy {

std::vector<std::string> unbuilt(const config::Config& config) {
  std::vector<std::string> found;
  if (config.listen.tls) found.emplace_back("listen.tls");
  if (config.listen.proxy_protocol) found.emplace_back("listen.proxy_protocol");
  for (const config::Upstream& upstream : config.upstreams) {
    for (const config::Endpoint& endpoint : upstream.endpoints) {
      if (!endpoint.tls) continue;
      found.push_back("https:// of upstream " + upstream.name);
      break;
    }
  }
  for (const Route& route : config.routes) {
    if (route.upgrade) found.push_back("upgrade of route " + route.name);
  }
  return found;
}

}  // namespace semel::proxy
