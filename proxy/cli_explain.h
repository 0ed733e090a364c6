#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace semel::proxy {

/// `semel explain CONFIG [curl's options] URL`: the canonical form and the key of one request, or
/// why it has none. Nothing is sent and no store is asked.
///
/// With `--json` one object: `route`, `policy`, `tenant`, `run`, `operation`, `method`, `path`,
/// `arguments`, `canonical`, `key`; or `refusal` with `status`, `type` and `detail`. On a route
/// that claims nothing `key` is null.
/// @return The exit code: 0 with a key or where nothing is claimed, 3 with a refusal, 2 for a wrong
///         configuration or command line.
[[nodiscard]] int run_explain(std::span<const std::string> args, std::ostream& out,
                              std::ostream& err);

}  // namespace semel::proxy
