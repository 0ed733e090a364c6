#pragma once

#include "config/config.h"
#include "core/route_table.h"
#include "proxy/agreement.h"
#include "proxy/byte_gate.h"
#include "proxy/store_choice.h"

namespace semel::proxy {

/// One reading of the configuration, as all workers share it. It never changes: a reload makes
/// another one, and this one lives as long as a request that began with it. What other replicas
/// make of its routes meanwhile, its agreement tells.
struct Edition {
  explicit Edition(config::Config said)
      : config(std::move(said)),
        table(config.routes),
        gate_rules{config.listen.authorities, table.headers_read()},
        agreement(table.routes().size(), sharing_of(config)) {}
  const config::Config config;
  const RouteTable table;
  const GateRules gate_rules;
  mutable Agreement agreement;
};

}  // namespace semel::proxy
