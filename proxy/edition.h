#pragma once

#include "config/config.h"
#include "core/route_table.h"
#include "proxy/byte_gate.h"

namespace semel::proxy {

/// One reading of the configuration, as all workers share it. It never changes: a reload makes
/// another one, and this one lives as long as a request that began with it.
struct Edition {
  explicit Edition(config::Config said)
      : config(std::move(said)),
        table(config.routes),
        gate_rules{config.listen.authorities, table.headers_read()} {}
  const config::Config config;
  const RouteTable table;
  const GateRules gate_rules;
};

}  // namespace semel::proxy
