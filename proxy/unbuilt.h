#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace semel::proxy {

/// What the configuration asks for and this version does not carry out, one phrase each
/// (`listen.tls`). To ignore it would be to promise it: `serve` refuses, `check` warns.
[[nodiscard]] std::vector<std::string> unbuilt(const config::Config& config);

}  // namespace semel::proxy
