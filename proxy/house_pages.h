#pragma once

#include <functional>
#include <string>

#include "io/task.h"
#include "proxy/page_server.h"

namespace semel::proxy {

/// Where the metrics listener's pages come from (spec 4, `metrics`).
struct HouseSources {
  std::function<Task<std::string>()> metrics;    ///< Exposition text.
  std::function<Task<std::string>()> not_ready;  ///< Empty: ready. Else why not.
};

/// `/metrics`, `/healthz` and `/readyz`, for everybody who reaches them.
[[nodiscard]] Pages house_pages(HouseSources sources);

}  // namespace semel::proxy
