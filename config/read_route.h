#pragma once

#include <optional>
#include <vector>

#include "config/config.h"
#include "config/yaml_reader.h"

namespace semel::config {

/// A route together with the mapping that it was read from: checks name its places.
struct WrittenRoute {
  Mapping mapping;
  Route route;
};

/// What a route's reading depends on.
struct RouteSurroundings {
  const Config& config;             ///< Listener, store, limits and upstreams are complete.
  std::optional<Mapping> defaults;  ///< The `defaults` of the file.
};

/// The file's `defaults`, each of them readable whether or not a route asks for it.
/// @throws ConfigError
[[nodiscard]] Mapping read_defaults(const Value& value);

/// Reads one route and fills in every default.
/// @throws ConfigError
[[nodiscard]] WrittenRoute read_route(const Value& value, const RouteSurroundings& around);

/// `record: {...}`, with the default statuses where none are written; a status in both lists is an
/// error. @throws ConfigError
void read_record_rules(const Mapping& route_mapping, Route& route);

/// `retry: {...}`. @throws ConfigError
[[nodiscard]] RetryRules read_retry_rules(const Value& value);

/// `forward_key: {...}` or `off`. @throws ConfigError
[[nodiscard]] ForwardKey read_forward_key(const Value& value);

/// Refuses keys that a route of this policy has no use for. @throws ConfigError
void check_keys_of_policy(const Mapping& route_mapping, const Route& route);

}  // namespace semel::config
