#pragma once

#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/route.h"

namespace semel::config {

/// The statuses from `first` to `last`, as one item of a list names them.
struct StatusSpan {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

/// `408`, or a class: `5xx`. Final statuses only. @throws ConfigError
[[nodiscard]] StatusSpan read_status(const Value& value);

/// A list of them. @throws ConfigError
[[nodiscard]] StatusSet read_statuses(const Value& value);

/// `400, 401, 500-599`: for people.
[[nodiscard]] std::string to_text(const StatusSet& statuses);

}  // namespace semel::config
