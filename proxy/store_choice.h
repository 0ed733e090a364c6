#pragma once

#include "config/config.h"
#include "proxy/agreement.h"
#include "stores/open.h"

namespace semel::proxy {

/// What the configuration says of its store, in the words of the room of the stores.
/// @throws std::runtime_error for a store that this version does not have.
[[nodiscard]] StoreOptions store_options(const config::Config& config);

/// Whether other replicas may have the store of this configuration, too.
[[nodiscard]] Agreement::Sharing sharing_of(const config::Config& config);

}  // namespace semel::proxy
