#pragma once

#include <memory>
#include <ostream>

#include "config/config.h"
#include "stores/store.h"

namespace semel::proxy {

/// Runs the proxy until SIGTERM or SIGINT, then drains it (spec 10).
/// @param log  Where the start and the stop are told, a line each.
/// @return The exit code: 0 after a drain.
/// @throws std::runtime_error when an address cannot be listened on.
[[nodiscard]] int serve(config::Config config, std::unique_ptr<Store> store, std::ostream& log);

}  // namespace semel::proxy
