#include "proxy/site.h"

namespace semel::proxy {

Site::Site(const config::Config& config, std::unique_ptr<Store> opened, std::size_t workers,
           int access_log)
    : store(std::move(opened)),
      flights(config.limits.followers_per_key),
      metrics(config.routes, workers),
      buffered(config.limits.buffered_bytes),
      connections(config.limits.connections, config.limits.connections_per_address),
      access_log_fd(access_log) {}

void Site::allow(const config::Limits& limits) {
  flights.allow(limits.followers_per_key);
  buffered.allow(limits.buffered_bytes);
  connections.allow(limits.connections, limits.connections_per_address);
}

}  // namespace semel::proxy
