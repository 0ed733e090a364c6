#pragma once

#include "config/config.h"
#include "config/yaml_reader.h"

namespace semel::config {

/// `{ca, certificate, key}` of a side that connects: each may be missing, a certificate and its key
/// only together.
/// @throws ConfigError
[[nodiscard]] TlsFiles read_client_tls(const Mapping& mapping);

}  // namespace semel::config
