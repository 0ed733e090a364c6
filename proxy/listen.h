#pragma once

#include "config/config.h"

namespace semel::proxy {

/// Opens a listening socket that shares its address with the other workers' (SO_REUSEPORT).
/// @return The descriptor, non-blocking; a unix socket replaces a stale file of its name.
/// @throws std::runtime_error that names the address and the cause.
[[nodiscard]] int open_listener(const config::Address& address);

}  // namespace semel::proxy
