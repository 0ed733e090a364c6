#pragma once

#include <string>

#include "config/config.h"

namespace semel::proxy {

/// The token of the admin listener for the process that serves: the configuration's own, or the one
/// in `state_dir/admin.token`, where 256 random bits are written if nothing is there (0600; a
/// folder that is missing is made, 0700).
/// @throws std::runtime_error when it cannot be written or read, or others than its owner may read
///         it.
[[nodiscard]] std::string take_admin_token(const config::Config& config);

/// The same for a command beside it, which makes nothing.
/// @throws std::runtime_error as above, and where there is none.
[[nodiscard]] std::string read_admin_token(const config::Config& config);

}  // namespace semel::proxy
