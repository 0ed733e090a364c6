#pragma once

#include <iosfwd>

#include "config/config.h"

namespace semel::proxy {

/// `semel store acknowledge` beside a process that has the store open: asks its admin listener.
/// @return 0; 1 where the listener refused, with its sentence on `err`.
/// @throws std::runtime_error where it cannot be reached.
[[nodiscard]] int acknowledge_running(const config::Config& config, std::ostream& out,
                                      std::ostream& err);

}  // namespace semel::proxy
