#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "config/config.h"
#include "stores/store.h"

namespace semel::proxy {

/// What a process begins with.
struct Beginning {
  config::Config config;
  std::unique_ptr<Store> store;
  std::vector<std::string> acknowledged;  ///< Routes whose keys the operator lets go.
  /// Reads the same file again, for a reload. @throws std::exception as at the start.
  std::function<config::Config()> load;
};

/// Runs the proxy until SIGTERM or SIGINT, then drains it; SIGHUP reloads it (spec 10).
/// @param log  Where start, reload and stop are told, a line each.
/// @return The exit code: 0 after a drain.
/// @throws std::runtime_error when an address cannot be listened on, or when routes promise less
///         than the store remembers and nobody acknowledged it. Nothing listens before that is
///         known.
[[nodiscard]] int serve(Beginning beginning, std::ostream& log);

}  // namespace semel::proxy
