#pragma once

#include <vector>

#include "config/yaml_reader.h"
#include "core/route.h"

namespace semel::config {

/// What a source may refer to on this route.
struct SourceScope {
  const std::vector<PatternSegment>& segments;
  const std::vector<std::string>& methods;
  bool has_client_certificates = false;  ///< The listener asks for them.
};

/// Reads `{header: Name}` and its like, and checks that the route can ever have such a value.
/// @throws ConfigError
[[nodiscard]] ValueSource read_source(const Value& value, const SourceScope& scope);

/// Reads `fields` or `guards`: JSON Pointers and sources, none named twice.
/// @throws ConfigError
[[nodiscard]] std::vector<ValueSource> read_source_set(const Value& value,
                                                       const SourceScope& scope);

}  // namespace semel::config
