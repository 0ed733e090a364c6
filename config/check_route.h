#pragma once

#include <string>
#include <vector>

#include "config/read_route.h"

namespace semel::config {

/// What the parts of one route must be to each other and to the server's own part (spec 4, "Checks
/// at load"). @throws ConfigError that names line and cure
void check_route(const WrittenRoute& written, const Config& config);

/// What routes must be to each other: names, reachability, shared upstreams.
/// @throws ConfigError
void check_routes(const std::vector<WrittenRoute>& routes);

/// Answers that are allowed and that an operator should have given knowingly.
[[nodiscard]] std::vector<std::string> warnings_of(const WrittenRoute& written);

}  // namespace semel::config
