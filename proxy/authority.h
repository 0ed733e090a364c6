#pragma once

#include <span>
#include <string>
#include <string_view>

namespace semel::proxy {

/// True if `text` is a host with an optional port, as the Host header carries it: a name of
/// letters, digits, `-`, `.`, `_`, `~`, an IPv4 address or an IPv6 address in brackets; a port of
/// digits up to 65535, or none behind the colon. RFC 3986's sub-delims and escapes in names are
/// refused: no real host has them, and a comma would read as two.
/// @source RFC 9110 7.2, RFC 3986 3.2.
[[nodiscard]] bool is_authority(std::string_view text);

/// True if `ours` lists the authority, any case: with its port, or without one for every port.
[[nodiscard]] bool is_listed_authority(std::string_view text, std::span<const std::string> ours);

}  // namespace semel::proxy
