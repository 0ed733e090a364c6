#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace semel::proxy {

/// `semel serve CONFIG [--acknowledge ROUTE]...`: runs the proxy until SIGTERM. Never creates a
/// store.
/// @param err  Where the start, the drain and a bad start are told.
/// @return 0 after a drain; 2 with one sentence on `err` for a bad start.
[[nodiscard]] int run_serve(std::span<const std::string> args, std::ostream& err);

/// `semel store init CONFIG [--dry-run]`: creates the configured store, visibly, or shows what it
/// would do. `semel store acknowledge CONFIG`: gives the operator's word.
/// @return 0, or 2 with one sentence on `err`.
[[nodiscard]] int run_store(std::span<const std::string> args, std::ostream& out,
                            std::ostream& err);

}  // namespace semel::proxy
