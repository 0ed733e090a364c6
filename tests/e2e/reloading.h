#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/e2e/gateway.h"

namespace semel::testing {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline double last_reload(const SemelProcess& semel) {
  return semel.metric("semel_config_last_reload_successful");
}

inline GatewayOptions with_routes(std::string routes) {
  GatewayOptions options{.store = StoreKind::Sqlite};
  options.routes = std::move(routes);
  return options;
}

inline constexpr char kBookPolicy[] = "policy: EFFECTFUL\n    timeout: 10s";

}  // namespace semel::testing
