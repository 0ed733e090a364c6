#include "proxy/site.h"

namespace semel::proxy {

Site::Site(config::Config said, std::unique_ptr<Store> opened, std::size_t workers, int access_log)
    : config(std::move(said)),
      table(config.routes),
      gate_rules{config.listen.authorities, table.headers_read()},
      store(std::move(opened)),
      flights(config.limits.followers_per_key),
      metrics(table.routes(), workers),
      buffered(config.limits.buffered_bytes),
      connections(config.limits.connections, config.limits.connections_per_address),
      access_log_fd(access_log) {}

}  // namespace semel::proxy
