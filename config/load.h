#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/config.h"

namespace semel::config {

/// A bad start: what() is `file:line:column: sentence` with the cure, and the nearest valid key for
/// a misspelling. Caught once, in main: exit code 2.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How `${VAR}` is looked up.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();

/// Reads, checks and completes one configuration.
/// @throws ConfigError for the first thing that is wrong.
[[nodiscard]] Config load_file(const std::string& path, const Environment& environment);
/// The same from text; `file` is the name that errors quote.
[[nodiscard]] Config load_text(std::string_view text, const std::string& file,
                               const Environment& environment);

/// The JSON Schema (draft 2020-12) of the grammar, as published by `semel schema`.
[[nodiscard]] std::string_view json_schema();

}  // namespace semel::config
