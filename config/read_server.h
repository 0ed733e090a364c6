#pragma once

#include <string_view>

#include "config/config.h"
#include "config/yaml_reader.h"

namespace semel::config {

/// Reads everything but upstreams and routes: listeners, limits, access log, state folder, workers.
/// @throws ConfigError
void read_server(const Mapping& top, Config& config);

/// Exactly one of memory, sqlite, redis and postgres.
/// @throws ConfigError
[[nodiscard]] StoreChoice read_store(const Value& value);

/// `off`, or how much is kept of the transition log.
/// @throws ConfigError
[[nodiscard]] std::optional<EventLog> read_events(const Value& value);

/// The upstreams in the file's order.
/// @throws ConfigError
[[nodiscard]] std::vector<Upstream> read_upstreams(const Value& value);

/// `host:port` or `[v6]:port`. @throws ConfigError
[[nodiscard]] Address read_address(const Value& value);

/// Letters, digits, `_`, `-` and `.`, at most 64, the first a letter or digit: the names of routes
/// and upstreams stand in metrics and URLs. @throws ConfigError
void check_name(const Value& value, std::string_view name);

inline constexpr std::chrono::milliseconds kDurationAtMost{365ll * 86'400'000};

}  // namespace semel::config
