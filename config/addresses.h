#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "config/config.h"

namespace semel::config {

/// Reads `host:port` or `[v6]:port`. @return absent for anything else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

/// Reads `http://host[:port]`, `https://host[:port]` or `unix:/path`.
/// @return the endpoint, or a sentence that says what is wrong and what to write.
[[nodiscard]] std::variant<Endpoint, std::string> parse_endpoint(std::string_view text);

}  // namespace semel::config
