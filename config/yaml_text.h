#pragma once

#include <string>
#include <string_view>

#include "config/yaml_tree.h"

namespace semel::config {

/// Refuses bytes that a YAML parser would guess about: invalid UTF-8, control characters, a tab in
/// an indentation, a text of more than `kTextBytesMax`.
/// @throws ConfigError
void check_yaml_text(std::string_view text, const std::string& file);

/// Replaces `${VAR}` and `${VAR:-default}` in a parsed scalar; `$${` stands for a literal `${`.
/// The default is taken where the variable is unset or empty, as in a shell.
/// @throws ConfigError for an unset variable without default and for a malformed reference.
[[nodiscard]] std::string expand_variables(std::string_view text, const std::string& file,
                                           Place place, const Environment& environment);

}  // namespace semel::config
